/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* The front program: puts a VLAN tag that the driver has taken out of the
 * frame back into it, and hands over to the port's program.
 *
 * Only a program that is bound to its device may ask the driver for the tag
 * (Linux 6.8), and such a program can be neither test-run nor attached in
 * generic mode; so it is as small as this, and what it calls is a plain one.
 * That works from Linux 6.15 on.  Behind it everybody, the prefix table and
 * OVS, sees the frame as it was on the wire. */

#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "maps.h"

/* Key: 0.  Value: the port's program.  Userspace writes it. */
struct {
    __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
    __type(key, __u32);
    __type(value, __u32);
    __uint(max_entries, 1);
} next SEC(".maps");

struct tag {
    __be16 type;
    __be16 tci;
};

#define TAG_LEN ((int) sizeof(struct tag))
#define TWO_MACS (2 * ETH_ALEN)

extern int bpf_xdp_metadata_rx_vlan_tag(const struct xdp_md *ctx,
                                        __be16 *vlan_proto,
                                        __u16 *vlan_tci) __ksym;

/* Puts the tag between the addresses and the type of the frame.  Returns false
 * if there is no room, and then has changed nothing. */
static __always_inline bool
put_tag(struct xdp_md *ctx, const struct tag *tag)
{
    __u8 macs[TWO_MACS];
    __u8 *p;

    if (bpf_xdp_adjust_head(ctx, -TAG_LEN)) {
        return false;
    }
    p = (void *) (long) ctx->data;
    if (p + TWO_MACS + TAG_LEN > (__u8 *) (long) ctx->data_end) {
        return false;           /* For the verifier. */
    }
    __builtin_memcpy(macs, p + TAG_LEN, TWO_MACS);
    __builtin_memcpy(p, macs, TWO_MACS);
    __builtin_memcpy(p + TWO_MACS, tag, TAG_LEN);
    return true;
}

SEC("xdp")
int
afxdp_fast_tags(struct xdp_md *ctx)
{
    __u32 zero = 0;
    struct xdp_front_note *note = bpf_map_lookup_elem(&front_note, &zero);
    struct xdp_counters *stats;
    struct tag tag;
    __u16 tci;

    if (!note) {
        return XDP_DROP;
    }
    note->tag_put_back = false;
    if (!bpf_xdp_metadata_rx_vlan_tag(ctx, &tag.type, &tci)) {
        tag.tci = bpf_htons(tci);
        if (!put_tag(ctx, &tag)) {
            /* Without its tag it would be in another network. */
            stats = bpf_map_lookup_elem(&counters, &zero);
            if (stats) {
                stats->n[XDP_C_DROP_TAG]++;
            }
            return XDP_DROP;
        }
        note->tag_put_back = true;
    }
    bpf_tail_call(ctx, &next, 0);
    return XDP_DROP;            /* There always is a program. */
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
