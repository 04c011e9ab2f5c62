/* SPDX-License-Identifier: Apache-2.0 */

#ifndef XDP_TARGETS_H
#define XDP_TARGETS_H 1

/* Targets of redirects
 * ====================
 *
 * One table for the daemon: a name of a port has a stable index, from the
 * first entry that names it on, whether the port is there or not.  Behind the
 * index are a slot of the devmaps and a struct table_target, which all
 * programs share.  Frames for a target that is not ready go up.
 *
 * A target is ready if its device is there, up, and takes redirected frames
 * (xdp-features NETDEV_XDP_ACT_NDO_XMIT, where the kernel tells).  The guard,
 * a program on the raw tracepoints xdp_redirect_err and xdp_devmap_xmit,
 * clears 'ready' at the first frame that is lost, and counts each; a target
 * that looks as if it were ready all the time, as it does where the kernel
 * does not tell the features, is tried again after 1, 2, 4, ... at most 60 s.
 * Frames that a full ring loses are counted, and leave it ready.
 *
 * Thread rule: main thread, all of it. */

#include <stdbool.h>
#include <stdint.h>

#include "xdp-table-layout.h"

struct ds;

/* File descriptors of the maps that programs share: made at the first call.
 * Returns 0, or a positive errno and why in '*errp', which the caller
 * frees. */
struct xdp_shared_maps {
    int targets;                    /* ARRAY of struct table_target. */
    int devmap;                     /* DEVMAP, by target: for programs */
    int devmap_frags;               /* without, and for those with frags. */
    int cache4, cache6;             /* PERCPU_ARRAY of cache4_page, ... */
    int learned;                    /* PERCPU_ARRAY of one learn_page. */
};
int xdp_targets_get_maps(struct xdp_shared_maps *, char **errp);

/* Returns the index of the port 'name', taking one for it; each call needs an
 * xdp_target_unref().  Returns false if all TABLE_N_TARGETS are taken. */
bool xdp_target_ref(const char *name, uint32_t *index);
void xdp_target_unref(uint32_t index);

/* An afxdp-fast port is there now, or is going away, or may have changed. */
void xdp_target_port_up(const char *name, int ifindex);
void xdp_target_port_down(const char *name);

/* Once a round of the main loop: takes what netlink and the guard have to
 * say, makes targets ready or not, registers what to wait for.  Costs little
 * while no name is taken.  xdp_targets_seq() changes whenever a target's
 * readiness or reason has. */
void xdp_targets_run(void);
void xdp_targets_wait(void);
uint64_t xdp_targets_seq(void);

/* What is known of target 'index'. */
struct xdp_target_info {
    const char *name;
    struct table_target target;     /* As the program sees it. */
    const char *reason;             /* Why not ready, with the command that
                                     * mends it where one is known; NULL if
                                     * ready. */
    uint64_t lost;                  /* Frames redirected to it and lost. */
    uint64_t failures;              /* Times that it stopped taking them. */
};
bool xdp_target_get_info(uint32_t index, struct xdp_target_info *);

/* NULL, or why the guard does not run (no BTF, say), for 'status'. */
const char *xdp_targets_guard_lack(void);

#endif /* xdp-targets.h */
