/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

#ifndef HINTS_H
#define HINTS_H 1

#include "parse.h"
#include "settings.h"

/* Puts what is known of 'pkt' in front of its frame, also if that is nothing:
 * the frame's memory may hold hints that this same program wrote for an
 * earlier frame which never reached a socket.
 *
 * Moves the start of the metadata, and so invalidates the pointers in 'pkt'.
 * -EACCES and -ENOTSUPP say that the driver has no room, or no metadata at
 * all (tap before kernel 6.15); the frame goes up without hints. */
static __always_inline void
write_hints(struct xdp_md *ctx, struct xdp_counters *stats,
            const struct packet *pkt)
{
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
    hints->hash = pkt->hash;
    hints->mark = 0;
    hints->flags = pkt->flags;
    hints->l3_ofs = pkt->l3_ofs;
    hints->l4_ofs = pkt->l4_ofs;
    hints->reserved = 0;
    count(stats, XDP_C_HINTS_WRITTEN);
}

#endif /* hints.h */
