/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* For the egress hook of a device: moves the outer VLAN tag of each frame out
 * of the frame into what the kernel knows beside it, where VLAN devices and
 * bridges have it. */

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

struct tagged {
    struct ethhdr eth;
    __be16 tci;
};

SEC("tc")
int
tag_aside(struct __sk_buff *skb)
{
    const struct tagged *frame = (void *) (long) skb->data;
    __be16 type;
    __u16 tci;

    if ((void *) (frame + 1) > (void *) (long) skb->data_end) {
        return TC_ACT_OK;
    }
    type = frame->eth.h_proto;
    tci = bpf_ntohs(frame->tci);
    if ((type == bpf_htons(ETH_P_8021Q) || type == bpf_htons(ETH_P_8021AD))
        && (bpf_skb_vlan_pop(skb) || bpf_skb_vlan_push(skb, type, tci))) {
        return TC_ACT_SHOT;
    }
    return TC_ACT_OK;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
