/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */

/* What the guard program (bpf/guard.bpf.c) and lib/xdp-guard.c must agree on
 * besides xdp-table-layout.h.  Both are of one build and no map of the guard
 * outlives the daemon, so XDP_LAYOUT_VERSION does not number it. */

#ifndef XDP_GUARD_LAYOUT_H
#define XDP_GUARD_LAYOUT_H 1

#include <linux/types.h>

/* In the guard's map 'ports', by ifindex: the index of the port's target, or
 * this for a port that frames come from only. */
#define GUARD_NO_TARGET (~0U)

/* 'ready' of 'target' was cleared, because of 'error', a negative errno. */
struct guard_event {
    __u32 target;
    __s32 error;
};

/* Of the ring buffer with events.  A target has one at most until the daemon
 * makes it ready again, so some 1000 of 16 bytes each are there at most; a
 * multiple of all page sizes. */
#define GUARD_EVENTS_SIZE 65536

#endif /* xdp-guard-layout.h */
