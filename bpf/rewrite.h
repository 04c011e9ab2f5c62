/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* What a router's next hop needs: changes of the frame on its way out. */

#ifndef REWRITE_H
#define REWRITE_H 1

#include "lookup.h"
#include "parse.h"
#include "table-maps.h"
#include "verdict.h"

#define VLAN_LEN ((int) sizeof(struct vlan_hdr))
#define TWO_MACS (2 * ETH_ALEN)

/* Changes of VLAN tags. */
#define REWRITE_VLAN (TABLE_POP_VLAN | TABLE_PUSH_VLAN | TABLE_SET_VLAN)

/* Returns entry 'found' of the table, NULL only in the eyes of the
 * verifier. */
static __always_inline const struct table_entry *
entry_at(const struct found *found)
{
    __u32 slot = found->active & TABLE_ACTIVE_SLOT, zero = 0;
    void *table = bpf_map_lookup_elem(&tables, &slot);
    const struct table_header *h;

    h = table ? bpf_map_lookup_elem(table, &zero) : NULL;
    return h ? (void *) line_at(table, h->entries + found->entry) : NULL;
}

/* Returns the address of the TTL or hop limit. */
static __always_inline __u8 *
ttl_of(const struct packet *pkt)
{
    return pkt->ip + (pkt->l3.ipv6 ? 7 : 8);
}

/* Returns PARSED_IP if what 'e' asks for can be done, or the reason why
 * not. */
static __always_inline __u32
check_rewrite(const struct packet *pkt, const struct table_entry *e)
{
    if (e->rewrite & TABLE_DEC_TTL && *ttl_of(pkt) <= 1) {
        return XDP_C_UP_TTL;
    }
    if (e->rewrite & (TABLE_POP_VLAN | TABLE_SET_VLAN) && !pkt->tagged) {
        return XDP_C_UP_REWRITE;
    }
    return PARSED_IP;
}

/* Decrements the TTL and mends the header's checksum (RFC 1624). */
static __always_inline void
decrement_ttl(const struct packet *pkt)
{
    struct iphdr *ip = pkt->ip;
    __u32 check;

    --*ttl_of(pkt);
    if (!pkt->l3.ipv6) {
        check = ip->check + bpf_htons(0x0100);
        ip->check = check + (check >= 0xffff);
    }
}

/* Makes the pointers in 'pkt' good again after the frame's ends have moved by
 * 'growth' bytes.  'ip' is NULL only in the eyes of the verifier. */
static __always_inline void
refresh(struct xdp_md *ctx, struct packet *pkt, int growth)
{
    pkt->data = (void *) (long) ctx->data;
    pkt->data_end = (void *) (long) ctx->data_end;
    pkt->len += growth;
    pkt->l3.ofs += growth;
    pkt->ip = bytes_at(pkt, pkt->l3.ofs,
                       (pkt->l3.ipv6 ? sizeof(struct ipv6hdr)
                        : sizeof(struct iphdr)), pkt->len);
}

/* Makes room for a tag, which it leaves unset.  Returns false if there is
 * none. */
static __always_inline bool
push_room(struct xdp_md *ctx, struct packet *pkt)
{
    __u8 macs[TWO_MACS];
    __u8 *p;
    bool ok = !bpf_xdp_adjust_head(ctx, -VLAN_LEN);

    refresh(ctx, pkt, ok ? VLAN_LEN : 0);
    if (!ok) {
        return false;
    }
    p = bytes_at(pkt, 0, sizeof(struct ethhdr) + VLAN_LEN, pkt->len);
    if (p) {
        __builtin_memcpy(macs, p + VLAN_LEN, TWO_MACS);
        __builtin_memcpy(p, macs, TWO_MACS);
    }
    return true;
}

/* Takes the outer tag away. */
static __always_inline void
pop_tag(struct xdp_md *ctx, struct packet *pkt)
{
    __u8 macs[TWO_MACS];
    __u8 *p = bytes_at(pkt, 0, sizeof(struct ethhdr) + VLAN_LEN, pkt->len);

    if (p) {
        __builtin_memcpy(macs, p, TWO_MACS);
        __builtin_memcpy(p + VLAN_LEN, macs, TWO_MACS);
        bpf_xdp_adjust_head(ctx, VLAN_LEN);
        refresh(ctx, pkt, -VLAN_LEN);
    }
}

/* Writes the outer tag: all of it, or, where the tag stays, its id only. */
static __always_inline void
write_tag(const struct packet *pkt, const struct table_entry *e, bool new)
{
    struct ethhdr *eth = bytes_at(pkt, 0, sizeof *eth + VLAN_LEN, pkt->len);
    __be16 *tci = (void *) (eth + 1);

    if (!eth) {
        return;
    }
    if (new) {
        eth->h_proto = bpf_htons(e->set_tpid);
        *tci = bpf_htons(e->set_vlan);
    } else {
        *tci = (*tci & bpf_htons(~VLAN_VID_MASK)) | bpf_htons(e->set_vlan);
    }
}

/* Does what 'e' asks for with the VLAN tags.  Returns false, and has changed
 * nothing, if the driver has no room. */
static __always_inline bool
rewrite_vlan(struct xdp_md *ctx, struct packet *pkt,
             const struct table_entry *e)
{
    bool pop = e->rewrite & TABLE_POP_VLAN;
    bool push = e->rewrite & TABLE_PUSH_VLAN;

    if (push && !pop && !push_room(ctx, pkt)) {
        return false;
    }
    if (pop && !push) {
        pop_tag(ctx, pkt);
    }
    if (push) {
        write_tag(pkt, e, true);
    } else if (e->rewrite & TABLE_SET_VLAN) {
        write_tag(pkt, e, false);
    }
    return true;
}

/* Changes the frame as 'e' says, after check_rewrite().  Returns PARSED_IP, or
 * the reason why it has changed nothing. */
static __always_inline __u32
rewrite(struct xdp_md *ctx, struct packet *pkt, const struct table_entry *e)
{
    struct ethhdr *eth;

    if (e->rewrite & REWRITE_VLAN && !rewrite_vlan(ctx, pkt, e)) {
        return XDP_C_UP_REWRITE;
    }
    if (e->rewrite & TABLE_DEC_TTL && pkt->ip) {
        decrement_ttl(pkt);
    }
    eth = bytes_at(pkt, 0, sizeof *eth, pkt->len);
    if (eth && e->rewrite & TABLE_SET_SRC_MAC) {
        __builtin_memcpy(eth->h_source, e->set_src, ETH_ALEN);
    }
    if (eth && e->rewrite & TABLE_SET_DST_MAC) {
        __builtin_memcpy(eth->h_dest, e->set_dst, ETH_ALEN);
    }
    return PARSED_IP;
}

#endif /* rewrite.h */
