/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* The program of xsk-forward: all that comes goes to the queue's socket. */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/* Key 0: the socket of the device's only queue.  Written by the tool. */
struct {
    __uint(type, BPF_MAP_TYPE_XSKMAP);
    __type(key, __u32);
    __type(value, __u32);
    __uint(max_entries, 1);
} sockets SEC(".maps");

SEC("xdp")
int
to_socket(struct xdp_md *ctx)
{
    return bpf_redirect_map(&sockets, ctx->rx_queue_index, XDP_DROP);
}

char _license[] SEC("license") = "Dual BSD/GPL";
