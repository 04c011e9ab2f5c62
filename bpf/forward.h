/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* The prefix table's verdict on a frame, and the fast path: what the program
 * can forward correctly it redirects to another port, all else goes up,
 * counted by reason. */

#ifndef FORWARD_H
#define FORWARD_H 1

#include "checksum.h"
#include "host.h"
#include "lookup.h"
#include "parse.h"
#include "rewrite.h"
#include "settings.h"
#include "table-maps.h"
#include "verdict.h"

/* No verdict of XDP: the frame goes to userspace. */
#define GO_UP (-1)

/* Returns GO_UP, counted. */
static __always_inline int
go_up(struct xdp_counters *stats, enum xdp_counter reason)
{
    count(stats, reason);
    return GO_UP;
}

/* Counts a frame for the entry that has decided on it. */
static __always_inline void
count_hit(const struct found *found, const struct table_live *l,
          const struct packet *pkt)
{
    __u32 slot = found->active & TABLE_ACTIVE_SLOT;
    void *map = bpf_map_lookup_elem(&hits, &slot);
    __u32 index = bpf_get_smp_processor_id() * l->counters_stride[slot]
                  + found->entry;
    struct table_counter *c = map ? bpf_map_lookup_elem(map, &index) : NULL;

    if (c) {
        c->packets++;
        c->bytes += pkt->len;
        c->last = l->now;
    }
}

/* 224.0.0.0/4, multicast; 169.254.0.0/16, link-local; and broadcast. */
static __always_inline bool
ipv4_stays(__be32 a)
{
    return (a & bpf_htonl(0xf0000000)) == bpf_htonl(0xe0000000)
           || (a & bpf_htonl(0xffff0000)) == bpf_htonl(0xa9fe0000)
           || a == bpf_htonl(0xffffffff);
}

static __always_inline bool
ipv6_stays(const __u8 *a)
{
    return a[0] == 0xff || (a[0] == 0xfe && (a[1] & 0xc0) == 0x80);
}

/* Is the frame for many, or for neighbors on the link only?  Routers do not
 * forward such, and OVS has to see them. */
static __always_inline bool
is_group(const struct packet *pkt)
{
    const struct ethhdr *eth = pkt->data;
    const struct iphdr *ip = pkt->ip;

    if (eth->h_dest[0] & 1) {
        return true;
    }
    return (pkt->l3.ipv6
            ? ipv6_stays(pkt->ip + 8) || ipv6_stays(pkt->ip + 24)
            : ipv4_stays(ip->saddr) || ipv4_stays(ip->daddr));
}

/* Is it router solicitation to redirect (RFC 4861)? */
static __always_inline bool
is_nd(const struct packet *pkt)
{
    const __u8 *type = icmpv6_at(pkt, 1);

    return type && *type >= ND_FIRST && *type <= ND_LAST;
}

/* Is the flow outside the share that takes the fast path? */
static __always_inline bool
is_outside_share(const struct packet *pkt, const struct table_live *l)
{
    return l->share < 1 << 16 && flow_hash(pkt) >> 16 >= l->share;
}

/* Is 'pkt', with 'growth' bytes more when it is sent, too large for 't'?  The
 * kernel itself looks at the frame, for which it allows one tag. */
static __always_inline bool
is_too_large(const struct packet *pkt, const struct table_target *t,
             int growth)
{
    return pkt->len - pkt->l3.ofs > t->mtu
           || pkt->len + growth > t->mtu + sizeof(struct ethhdr) + VLAN_LEN;
}

/* Has OVS not yet seen the source MAC in this epoch?  It counts as seen from
 * now on.  The port is in the hash since a MAC that moves must be seen on its
 * new port. */
static __always_inline bool
learn_is_due(const struct packet *pkt, const struct table_live *l)
{
    const struct ethhdr *eth = pkt->data;
    __u32 epoch = (l->now >> LEARN_EPOCH_SHIFT) + 1;
    __u32 zero = 0;
    struct learn_page *page = bpf_map_lookup_elem(&learned, &zero);
    __u32 *slot;
    __u64 h;

    if (!page) {
        return false;
    }
    /* The epoch in all bits: in the lowest ones alone it would leave the
     * difference of two MACs, and so whether they collide, as it was. */
    h = *(const __u32 *) (eth->h_source + 2)
        | (__u64) *(const __u16 *) eth->h_source << 32
        | (__u64) pkt->vlan << TABLE_VLAN_SHIFT;
    h = (h ^ epoch * HASH_MUL2 ^ port_number * HASH_MUL3) * HASH_MUL1;
    slot = &page->epoch[h >> 52 & (LEARN_SLOTS - 1)];
    if (*slot == epoch) {
        return false;
    }
    *slot = epoch;
    return true;
}

/* Returns PARSED_IP if nothing about the frame itself speaks against the fast
 * path, or the reason why it goes up. */
static __always_inline __u32
check_frame(struct xdp_md *ctx, const struct packet *pkt,
            const struct table_live *l, const struct table_entry *e)
{
    if (tags_hidden && (!tags_follow || (e && e->rewrite & REWRITE_VLAN))) {
        return XDP_C_UP_TAG;
    }
    if (is_group(pkt)) {
        return XDP_C_UP_GROUP;
    }
    if (is_nd(pkt)) {
        return XDP_C_UP_ND;
    }
    if (is_outside_share(pkt, l)) {
        return XDP_C_UP_SHARE;
    }
    return (checksum_is_unfinished(ctx, pkt)
            ? XDP_C_UP_CHECKSUM : PARSED_IP);
}

/* Likewise about the target. */
static __always_inline __u32
check_target(const struct packet *pkt, const struct table_target *t,
             int growth)
{
    if (!t || !*(const volatile __u32 *) &t->ready) {
        return XDP_C_UP_NOT_READY;
    }
    if (is_too_large(pkt, t, growth)) {
        return XDP_C_UP_TOO_LARGE;
    }
    return pkt->frags && !(t->flags & TABLE_TARGET_SG)
           ? XDP_C_UP_FRAGS : PARSED_IP;
}

/* How many bytes longer 'e', which may be NULL, makes a frame. */
static __always_inline int
growth_of(const struct table_entry *e)
{
    int growth = 0;

    if (e && e->rewrite & TABLE_PUSH_VLAN) {
        growth += VLAN_LEN;
    }
    if (e && e->rewrite & TABLE_POP_VLAN) {
        growth -= VLAN_LEN;
    }
    return growth;
}

/* Sends the frame to the port that the entry names. */
static __always_inline int
redirect(struct xdp_md *ctx, struct xdp_counters *stats, struct packet *pkt,
         const struct found *found, const struct table_live *l)
{
    __u32 target = found->verdict >> TABLE_VERDICT_TARGET_SHIFT;
    const struct table_entry *e = NULL;
    __u32 reason;

    if (found->verdict & TABLE_VERDICT_REWRITE) {
        e = entry_at(found);
        if (!e) {
            return go_up(stats, XDP_C_UP_NOT_OFFLOADED);
        }
    }
    reason = check_frame(ctx, pkt, l, e);
    if (reason == PARSED_IP) {
        reason = check_target(pkt, bpf_map_lookup_elem(&targets, &target),
                              growth_of(e));
    }
    if (reason == PARSED_IP && e) {
        reason = check_rewrite(pkt, e);
    }
    /* Not one that no socket takes: it would be lost. */
    if (reason == PARSED_IP && !(frags_on && pkt->len > max_frame)
        && learn_is_due(pkt, l)) {
        reason = XDP_C_UP_LEARN;
    }
    if (reason == PARSED_IP
        && bpf_redirect_map(&devices, target, 0) != XDP_REDIRECT) {
        reason = XDP_C_UP_NOT_READY;
    }
    if (reason == PARSED_IP && e) {
        reason = rewrite(ctx, pkt, e);
    }
    if (reason != PARSED_IP) {
        return go_up(stats, reason);
    }
    count_hit(found, l, pkt);
    stats->n[XDP_C_REDIRECT_BYTES] += pkt->len;
    return end(stats, XDP_C_REDIRECT, XDP_REDIRECT);
}

/* Returns the verdict on 'pkt', or GO_UP, counted. */
static __always_inline int
forward(struct xdp_md *ctx, struct xdp_counters *stats, struct packet *pkt)
{
    __u32 zero = 0, active;
    const struct table_live *l = bpf_map_lookup_elem(&live, &zero);
    struct found found;

    /* Once, since it may change meanwhile. */
    active = l ? *(const volatile __u32 *) &l->active : 0;
    if (!active) {
        return go_up(stats, XDP_C_UP_NO_TABLE);
    }
    look_up(pkt, active, stats->n[XDP_C_REDIRECT], &found);
    if (found.entry == TABLE_NO_ENTRY) {
        return go_up(stats, XDP_C_UP_NO_MATCH);
    }
    if (tags_hidden && active & TABLE_ACTIVE_VLAN) {
        /* Another entry might be the one. */
        return go_up(stats, XDP_C_UP_TAG);
    }

    switch (found.verdict & TABLE_VERDICT_ACTION) {
    case TABLE_REDIRECT:
        return redirect(ctx, stats, pkt, &found, l);
    case TABLE_DROP:
        count_hit(&found, l, pkt);
        return end(stats, XDP_C_DROP_PREFIX, XDP_DROP);
    case TABLE_HOST:
        count_hit(&found, l, pkt);
        return to_host(ctx, stats, pkt, XDP_C_TO_HOST);
    case TABLE_USERSPACE:
        count_hit(&found, l, pkt);
        return go_up(stats, XDP_C_UP_ENTRY);
    default:
        return go_up(stats, XDP_C_UP_NOT_OFFLOADED);
    }
}

#endif /* forward.h */
