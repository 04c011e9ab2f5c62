/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* What runs in front of the program under test, and a program to compare it
 * with. */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "xdp-layout.h"

/* Key: 0.  Value: the program under test.  Userspace writes it. */
struct {
    __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
    __type(key, __u32);
    __type(value, __u32);
    __uint(max_entries, 1);
} next SEC(".maps");

/* Key: 0.  Value: an AF_XDP socket.  Userspace writes it. */
struct {
    __uint(type, BPF_MAP_TYPE_XSKMAP);
    __type(key, __u32);
    __type(value, __u32);
    __uint(max_entries, 1);
} sockets SEC(".maps");

/* A test run that repeats leaves the metadata of one round to the next, which
 * would soon be without room: takes it away, then runs the program. */
SEC("xdp")
int
again(struct xdp_md *ctx)
{
    bpf_xdp_adjust_meta(ctx, ctx->data - ctx->data_meta);
    bpf_tail_call(ctx, &next, 0);
    return XDP_ABORTED;
}

/* Leaves garbage where the hints will be, then runs the program. */
SEC("xdp")
int
dirty(struct xdp_md *ctx)
{
    struct xdp_hints *hints;

    if (bpf_xdp_adjust_meta(ctx, -(int) sizeof *hints)) {
        return XDP_ABORTED;
    }
    hints = (void *) (long) ctx->data_meta;
    if ((void *) (hints + 1) > (void *) (long) ctx->data) {
        return XDP_ABORTED;
    }
    __builtin_memset(hints, 0xff, sizeof *hints);
    if (bpf_xdp_adjust_meta(ctx, sizeof *hints)) {
        return XDP_ABORTED;
    }
    bpf_tail_call(ctx, &next, 0);
    return XDP_ABORTED;
}

/* The least that brings a frame to userspace. */
SEC("xdp")
int
bare(struct xdp_md *ctx)
{
    return bpf_redirect_map(&sockets, ctx->rx_queue_index, XDP_DROP);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
