/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Counting, and the verdicts.  Every way out of the program ends here. */

#ifndef VERDICT_H
#define VERDICT_H 1

#include "maps.h"
#include "settings.h"

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

/* Ends the frame with 'verdict', counted as 'which'. */
static __always_inline int
end(struct xdp_counters *stats, enum xdp_counter which, int verdict)
{
    count(stats, which);
    return verdict;
}

/* Sends the frame to the socket of the queue it came from.
 *
 * The last argument of bpf_redirect_map() is what it returns for an empty or
 * an absent slot.  Dropping there, rather than passing, keeps frames that
 * belong to OVS out of the host's stack while sockets come and go. */
static __always_inline int
to_userspace(struct xdp_md *ctx, struct xdp_counters *stats)
{
    int verdict;

    /* The kernel would drop it behind a redirect that looks good. */
    if (frags_on && bpf_xdp_get_buff_len(ctx) > max_frame) {
        return end(stats, XDP_C_DROP_TOO_LONG, XDP_DROP);
    }
    verdict = bpf_redirect_map(&xsks, ctx->rx_queue_index, XDP_DROP);
    return end(stats, verdict == XDP_REDIRECT
                      ? XDP_C_TO_USERSPACE : XDP_C_DROP_NO_SOCKET, verdict);
}

#endif /* verdict.h */
