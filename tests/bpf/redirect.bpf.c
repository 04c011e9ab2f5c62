/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* What is left of the XDP program for the tests of targets: redirects each
 * frame to one target if it is ready, as the program of a port does, and
 * counts. */

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "xdp-table-layout.h"

#define ETH_HLEN 14

#pragma clang attribute push(__attribute__((preserve_access_index)), \
                             apply_to = record)
struct ns_common {
    unsigned int inum;
};

struct net {
    struct ns_common ns;
};

typedef struct {
    struct net *net;
} possible_net_t;

struct net_device {
    int ifindex;
    possible_net_t nd_net;
};
#pragma clang attribute pop

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __type(key, __u32);
    __type(value, struct table_target);
    __uint(max_entries, TABLE_N_TARGETS);
    __uint(map_flags, BPF_F_MMAPABLE);
} targets SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP);
    __type(key, __u32);
    __type(value, __u32);
    __uint(max_entries, TABLE_N_TARGETS);
} devmap SEC(".maps");

/* The target, and the device that frames come from in its network namespace:
 * other tests may run in theirs at the same time. */
__u32 target_index;
__u32 from_ifindex;
__u32 from_netns;

/* Frames: that went up, that the target's device took, and that it did not.
 * Frames come from one thread. */
__u64 n_up, n_taken, n_refused;

SEC("xdp.frags")
int
redirect(struct xdp_md *ctx)
{
    __u32 index = target_index;
    struct table_target *target = bpf_map_lookup_elem(&targets, &index);

    if (target && target->ready
        && bpf_xdp_get_buff_len(ctx) - ETH_HLEN <= target->mtu
        && bpf_redirect_map(&devmap, index, XDP_PASS) == XDP_REDIRECT) {
        return XDP_REDIRECT;
    }
    __sync_fetch_and_add(&n_up, 1);
    return XDP_DROP;
}

/* Arguments: device from, device to, frames taken, frames not taken, error. */
SEC("raw_tracepoint/xdp_devmap_xmit")
int
count_taken(struct bpf_raw_tracepoint_args *ctx)
{
    const struct net_device *from = (const struct net_device *) ctx->args[0];

    if (BPF_CORE_READ(from, ifindex) == from_ifindex
        && BPF_CORE_READ(from, nd_net.net, ns.inum) == from_netns) {
        __sync_fetch_and_add(&n_taken, (__u32) ctx->args[2]);
        __sync_fetch_and_add(&n_refused, (__u32) ctx->args[3]);
    }
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
