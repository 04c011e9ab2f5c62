/* SPDX-License-Identifier: Apache-2.0 */

#ifndef HOST_LINKS_H
#define HOST_LINKS_H 1

/* The devices of this network namespace, and which of them are on top of
 * which: a frame that comes in by one, and passes XDP, may be for any of
 * those.  Any thread. */

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "openvswitch/types.h"
#include "xdp-layout.h"

struct ds;
struct ofpbuf;

struct host_link {
    int ifindex;
    char name[IFNAMSIZ];
    struct eth_addr mac;        /* All zeros: none. */
    bool loopback;
    int master;                 /* Bridge, bond or VRF that has it, or 0. */
    int lower;                  /* What it is on top of, or 0, */
    uint16_t vlan;              /* and in which VLAN of that, or 0. */
};

/* All zeros: none. */
struct host_links {
    struct host_link *list;
    size_t n, allocated;
};

/* Adds what the RTM_NEWLINK message is about. */
void host_links_add(struct host_links *, const struct ofpbuf *);
void host_links_uninit(struct host_links *);
bool host_links_equal(const struct host_links *, const struct host_links *);
bool host_links_is_loopback(const struct host_links *, int ifindex);

/* Returns the name of the device, good until the links change. */
const char *host_links_name(const struct host_links *, int ifindex);

/* Appends the name of 'ifindex', and, if it is another one, that of 'below',
 * which it is on top of. */
void host_links_format_path(const struct host_links *, int ifindex, int below,
                            struct ds *);

/* A device and those on top of it, each with the tags that frames for it have
 * on the device itself. */
struct host_member {
    int ifindex;
    uint16_t vlan, inner_vlan;
};

struct host_members {
    struct host_member *list;
    size_t n, allocated;
};

void host_links_get_members(const struct host_links *, int ifindex,
                            struct host_members *);
void host_members_uninit(struct host_members *);
bool host_members_contain(const struct host_members *, int ifindex);

/* Stores where on the link of the first member the host is in '*places', which
 * the caller frees: its MAC addresses in their VLANs, and the groups. */
void host_members_get_places(const struct host_members *,
                             const struct host_links *,
                             struct xdp_host_place **places, size_t *n);

#endif /* host-links.h */
