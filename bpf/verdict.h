/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Counting, and the verdicts.  Every way out of the program ends here. */

#ifndef VERDICT_H
#define VERDICT_H 1

#include "maps.h"

/* Returns this CPU's counters: one look-up a frame, then plain additions.
 * NULL only in the eyes of the verifier, since the map has an entry 0. */
static __always_inline struct xdp_counters *
this_cpu_counters(void)
{
    __u32 zero = 0;

    return bpf_map_lookup_elem(&counters, &zero);
}

static __always_inline void
count(struct xdp_counters *stats, enum xdp_counter which)
{
    stats->n[which]++;
}

/* Sends the frame to the socket of the queue it came from.
 *
 * The last argument of bpf_redirect_map() is what it returns for an empty or
 * an absent slot.  Dropping there, rather than passing, keeps frames that
 * belong to OVS out of the host's stack while sockets come and go. */
static __always_inline int
to_userspace(struct xdp_md *ctx, struct xdp_counters *stats)
{
    int verdict = bpf_redirect_map(&xsks, ctx->rx_queue_index, XDP_DROP);

    count(stats, verdict == XDP_REDIRECT
                 ? XDP_C_TO_USERSPACE : XDP_C_DROP_NO_SOCKET);
    return verdict;
}

#endif /* verdict.h */
