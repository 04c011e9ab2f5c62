/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

#ifndef HINTS_H
#define HINTS_H 1

#include "parse.h"
#include "settings.h"
#include "verdict.h"

/* Puts what is known of 'pkt' in front of its frame, also if that is nothing:
 * the frame's memory may hold hints that this same program wrote for an
 * earlier frame which never reached a socket.
 *
 * Moves the start of the metadata, and so invalidates the pointers in 'pkt'.
 * -EACCES and -ENOTSUPP say that the driver has no room, or no metadata at
 * all (tap before kernel 6.15); the frame goes up without hints. */
static __always_inline void
write_hints(struct xdp_md *ctx, struct xdp_counters *stats,
            const struct packet *pkt, __u32 parsed)
{
    __u32 hash = is_ip(parsed) ? flow_hash(pkt) : 0;
    struct xdp_hints *hints;

    if (bpf_xdp_adjust_meta(ctx, -(int) sizeof *hints)) {
        count(stats, XDP_C_HINTS_NO_ROOM);
        return;
    }
    hints = (void *) (long) ctx->data_meta;
    if ((void *) (hints + 1) > (void *) (long) ctx->data) {
        /* For the verifier: the helper has just made this room. */
        count(stats, XDP_C_HINTS_NO_ROOM);
        return;
    }

    hints->cookie = hints_cookie;
    hints->hash = hash;
    hints->mark = 0;
    hints->flags = 0;
    hints->l3_ofs = 0;
    hints->l4_ofs = 0;
    hints->reserved = 0;
    if (is_ip(parsed)) {
        hints->flags = XDP_HINT_L3 | XDP_HINT_HASH;
        hints->l3_ofs = pkt->l3.ofs;
        if (pkt->has_l4) {
            hints->flags |= XDP_HINT_L4;
            hints->l4_ofs = pkt->l3.l4_ofs;
        }
    }
    count(stats, XDP_C_HINTS_WRITTEN);
}

#endif /* hints.h */
