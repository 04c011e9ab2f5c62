/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* The program of xdp-redirect: all that comes goes to one other device. */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/* Key 0: index of the other device.  Written by the tool. */
struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP);
    __type(key, __u32);
    __type(value, __u32);
    __uint(max_entries, 1);
} target SEC(".maps");

SEC("xdp")
int
redirect(struct xdp_md *ctx)
{
    return bpf_redirect_map(&target, 0, XDP_DROP);
}

char _license[] SEC("license") = "Dual BSD/GPL";
