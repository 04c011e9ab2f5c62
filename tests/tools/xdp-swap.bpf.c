/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* A program that stands in for the one of an afxdp-fast port: it sends frames
 * to the same sockets, and in front of each it puts something that is not the
 * hints that the daemon expects. */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/* Wider than the port's own, so that what stands where the daemon looks is
 * another member. */
struct foreign_hints {
    __u64 cookie;
    __u32 words[6];
};

/* The cookie of the program that is replaced. */
const volatile __u64 cookie;

/* The port's own map: rx queue -> socket. */
struct {
    __uint(type, BPF_MAP_TYPE_XSKMAP);
    __type(key, __u32);
    __type(value, __u32);
    __uint(max_entries, 1);
} xsks SEC(".maps");

SEC("xdp")
int
foreign(struct xdp_md *ctx)
{
    struct foreign_hints *hints;

    if (!bpf_xdp_adjust_meta(ctx, -(int) sizeof *hints)) {
        hints = (void *) (long) ctx->data_meta;
        if ((void *) (hints + 1) <= (void *) (long) ctx->data) {
            hints->cookie = cookie;
            for (int i = 0; i < 6; i++) {
                hints->words[i] = bpf_get_prandom_u32();
            }
        }
    }
    return bpf_redirect_map(&xsks, ctx->rx_queue_index, XDP_DROP);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
