/* SPDX-License-Identifier: Apache-2.0 */

#ifndef HOST_ADDRESSES_H
#define HOST_ADDRESSES_H 1

/* What the host has on its devices in this network namespace: links,
 * addresses, default routes, as rtnetlink tells.  Main thread. */

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xdp-layout.h"

struct ds;

/* What the host is on one device, and on the devices on top of it: VLAN
 * devices, macvlan and ipvlan, a bridge, bond or VRF that has it as a port. */
struct host_view {
    struct xdp_host_place *places;
    size_t n_places;
    struct xdp_host_address *addresses; /* Those of the loopback device, of
                                         * global scope, among them. */
    size_t n_addresses;
    bool lifetime_ipv4;         /* Has an IPv4 address, or a global IPv6 */
    bool lifetime_ipv6;         /* address, an end unless it is renewed? */
};

/* From the first call on, changes of links and addresses are followed.
 * host_addresses_run() brings what is known up to date, host_addresses_seq()
 * changes when that is not what it was. */
void host_addresses_start(void);
void host_addresses_run(void);
void host_addresses_wait(void);
uint64_t host_addresses_seq(void);

/* Asks the kernel now.  Returns 0, or a positive errno if it does not tell;
 * then what was known before counts. */
int host_addresses_refresh(void);

void host_addresses_view(int ifindex, struct host_view *);
void host_view_uninit(struct host_view *);

/* Return what makes device 'ifindex' one that the host needs, such as
 * "192.0.2.1/24 is on eth0", and in '*removep' the command that removes it;
 * NULL if nothing does.  The caller frees both.  The second one asks the
 * kernel for all routes each time. */
char *host_addresses_claim(int ifindex, char **removep);
char *host_addresses_default_route(int ifindex, char **removep);

void host_address_format(const struct xdp_host_address *, struct ds *);

#endif /* host-addresses.h */
