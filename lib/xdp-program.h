/* SPDX-License-Identifier: Apache-2.0 */

#ifndef XDP_PROGRAM_H
#define XDP_PROGRAM_H 1

#include <stdbool.h>
#include <stdint.h>

#include "xdp-layout.h"
#include "xdp-table-maps.h"

struct host_maps;

/* XDP program of a port
 * =====================
 *
 * One 'struct xdp_program' is the program of one device: loaded, attached
 * through a bpf_link (which the kernel takes away when the daemon dies in
 * whatever manner), with its own socket map and its own counters.
 *
 *
 * Thread-safety
 * =============
 *
 * Main thread only, all of it: libbpf's print callback is one a process, and
 * attaching waits for the kernel.  PMD threads are told the cookie. */

struct xdp_program;

/* BPF_F_XDP_DEV_BOUND_ONLY (kernel 6.3), which older headers lack. */
#define XDP_DEV_BOUND_ONLY (1U << 6)

enum xdp_attach_mode {
    XDP_ATTACH_NATIVE,          /* In the driver. */
    XDP_ATTACH_GENERIC,         /* In the stack, on any device. */
};

enum xdp_link_state {
    XDP_LINK_OURS,              /* The device runs our program. */
    XDP_LINK_FOREIGN,           /* Somebody has put another one in its place,
                                 * in our own link. */
    XDP_LINK_GONE,              /* The link holds on to no device any more. */
};

/* What a program is to do: see bpf/settings.h.  A change replaces the program,
 * without a gap. */
struct xdp_settings {
    bool hints;                 /* Write hints in front of frames? */
    bool table;                 /* Look up frames in the prefix table? */
    bool malformed_drop;        /* Drop malformed frames? */
    bool tags_hidden;           /* May a VLAN tag be beside the frame, unless
                                 * the front program sees it? */
    const struct host_maps *host;       /* Of the host's own traffic, which is
                                         * handed to it, or NULL. */
};

struct xdp_program_opts {
    const char *ifname;         /* For messages. */
    int ifindex;                /* The device. */
    enum xdp_attach_mode mode;
    uint32_t n_queues;          /* Size of the socket map, at least 1.  Frames
                                 * of other queues are dropped, counted. */
    bool frags;                 /* Take frames in several pieces?  Linux 5.18
                                 * or later. */
    struct xdp_settings settings;
};

int xdp_program_attach(const struct xdp_program_opts *,
                       struct xdp_program **, char **errp);
void xdp_program_detach(struct xdp_program *);
enum xdp_link_state xdp_program_link_state(const struct xdp_program *);
int xdp_program_reattach(struct xdp_program *, char **errp);
int xdp_program_renew(struct xdp_program *, char **errp);
int xdp_program_replace(struct xdp_program *, const struct xdp_settings *,
                        char **errp);

int xdp_program_set_socket(struct xdp_program *, uint32_t queue, int xsk_fd);
int xdp_program_clear_socket(struct xdp_program *, uint32_t queue);

void xdp_program_read_counters(const struct xdp_program *,
                               uint64_t counters[XDP_N_COUNTERS]);
const char *xdp_counter_name(enum xdp_counter);
const char *xdp_counter_description(enum xdp_counter);

uint64_t xdp_program_cookie(const struct xdp_program *);
uint32_t xdp_program_id(const struct xdp_program *);
uint32_t xdp_program_port_id(const struct xdp_program *);
const struct xdp_settings *xdp_program_settings(const struct xdp_program *);
bool xdp_program_has_front(const struct xdp_program *);
bool xdp_program_has_frags(const struct xdp_program *);
const struct xdp_table_fds *xdp_program_table_fds(
    const struct xdp_program *);
const char *xdp_program_variant(const struct xdp_program *);
enum xdp_attach_mode xdp_program_mode(const struct xdp_program *);

#endif /* xdp-program.h */
