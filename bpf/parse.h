/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Parsing: Ethernet, up to two VLAN tags, IPv4 or IPv6, ports.
 *
 * All positions are offsets from the start of the frame.  'limit' is where
 * the IP packet ends, which is before the end of the frame if the frame is
 * padded, so that padding is never taken for headers. */

#ifndef PARSE_H
#define PARSE_H 1

#include <stdbool.h>

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include "hash.h"
#include "verdict.h"

/* More than two tags are not in use anywhere that we know of. */
#define MAX_VLANS 2

/* IPv6 extension headers to step over before giving up on finding ports: one
 * of each kind, and destination options once more (RFC 8200, section 4.1). */
#define MAX_IPV6_EXTS 4

/* IPv4: more fragments, and the fragment's offset. */
#define IPV4_FRAG_MASK bpf_htons(0x3fff)

struct vlan_hdr {
    __be16 tci;
    __be16 type;                /* Of what follows the tag. */
};

struct ipv6_ext {
    __u8 nexthdr;               /* Of what follows this header. */
    __u8 len;                   /* In 8 bytes, without the first 8. */
    __u8 data[6];
};

/* A frame, and what is known of it. */
struct packet {
    void *data;                 /* The part in linear memory. */
    void *data_end;
    __u32 len;                  /* The whole of it. */

    __u32 hash;                 /* These four as in struct xdp_hints. */
    __u32 flags;
    __u32 l3_ofs;
    __u32 l4_ofs;
};

/* Returns the 'size' bytes at 'ofs', or NULL if they are not all inside the
 * first 'limit' bytes and in linear memory. */
static __always_inline void *
bytes_at(const struct packet *pkt, __u32 ofs, __u32 size, __u32 limit)
{
    void *p = pkt->data + ofs;

    return ofs + size > limit || p + size > pkt->data_end ? NULL : p;
}

/* Finds the ports and returns them, or 0 if 'proto' has none.  Leaves it to
 * the caller to say whether this is a fragment. */
static __always_inline __be32
parse_l4(struct packet *pkt, struct xdp_counters *stats, __u8 proto,
         __u32 ofs, __u32 limit)
{
    const __be32 *ports;

    if (proto != IPPROTO_TCP && proto != IPPROTO_UDP
        && proto != IPPROTO_SCTP) {
        return 0;
    }

    ports = bytes_at(pkt, ofs, sizeof *ports, limit);
    if (!ports) {
        count(stats, XDP_C_MALFORMED_L4);
        return 0;
    }
    pkt->l4_ofs = ofs;
    pkt->flags |= XDP_HINT_L4;
    return *ports;
}

static __always_inline void
parse_ipv4(struct packet *pkt, struct xdp_counters *stats, __u32 l3_ofs)
{
    const struct iphdr *ip = bytes_at(pkt, l3_ofs, sizeof *ip, pkt->len);
    __u32 ihl, total;
    __be32 ports = 0;
    __u8 version_ihl;

    if (!ip) {
        goto malformed;
    }
    version_ihl = *(const __u8 *) ip;
    ihl = (version_ihl & 0xf) * 4;
    total = bpf_ntohs(ip->tot_len);
    if (version_ihl >> 4 != 4 || ihl < sizeof *ip || total < ihl
        || l3_ofs + total > pkt->len) {
        goto malformed;
    }

    pkt->l3_ofs = l3_ofs;
    pkt->flags = XDP_HINT_L3 | XDP_HINT_HASH;
    if (ip->frag_off & IPV4_FRAG_MASK) {
        /* Later fragments have no ports, and all of them must agree. */
        count(stats, XDP_C_PARSE_FRAGMENT);
    } else {
        ports = parse_l4(pkt, stats, ip->protocol, l3_ofs + ihl,
                         l3_ofs + total);
    }
    pkt->hash = hash_ipv4(&ip->saddr, ip->protocol, ports);
    return;

malformed:
    count(stats, XDP_C_MALFORMED_IPV4);
}

/* Is 'nexthdr' an extension header that can be stepped over? */
static __always_inline bool
ipv6_is_ext(__u8 nexthdr)
{
    return nexthdr == IPPROTO_HOPOPTS || nexthdr == IPPROTO_ROUTING
           || nexthdr == IPPROTO_DSTOPTS;
}

/* Moves '*ofs' over extension headers to the first header that is none, or is
 * one too many, and sets '*nexthdr' to its type.  Returns false if a header
 * does not fit.
 *
 * The fragment header is not stepped over, since the type in it may differ
 * between fragments of one packet (RFC 8200, section 4.5), nor are the headers
 * of IPsec, behind which there are ports in rare cases only. */
static __always_inline bool
ipv6_skip_exts(const struct packet *pkt, __u32 limit, __u32 *ofs,
               __u8 *nexthdr)
{
    for (int i = 0; i < MAX_IPV6_EXTS && ipv6_is_ext(*nexthdr); i++) {
        const struct ipv6_ext *ext = bytes_at(pkt, *ofs, sizeof *ext, limit);

        if (!ext) {
            return false;
        }
        *ofs += (ext->len + 1) * 8;
        *nexthdr = ext->nexthdr;
    }
    return *ofs <= limit;
}

static __always_inline void
parse_ipv6(struct packet *pkt, struct xdp_counters *stats, __u32 l3_ofs)
{
    const struct ipv6hdr *ip = bytes_at(pkt, l3_ofs, sizeof *ip, pkt->len);
    __u32 l4_ofs, limit;
    __be32 ports;
    __u8 proto;

    if (!ip || *(const __u8 *) ip >> 4 != 6) {
        goto malformed;
    }
    l4_ofs = l3_ofs + sizeof *ip;
    limit = l4_ofs + bpf_ntohs(ip->payload_len);
    proto = ip->nexthdr;
    if (limit > pkt->len || !ipv6_skip_exts(pkt, limit, &l4_ofs, &proto)) {
        goto malformed;
    }

    pkt->l3_ofs = l3_ofs;
    pkt->flags = XDP_HINT_L3 | XDP_HINT_HASH;
    if (proto == IPPROTO_FRAGMENT) {
        count(stats, XDP_C_PARSE_FRAGMENT);
    }
    ports = parse_l4(pkt, stats, proto, l4_ofs, limit);
    pkt->hash = hash_ipv6(&ip->saddr, proto, ports);
    return;

malformed:
    count(stats, XDP_C_MALFORMED_IPV6);
}

static __always_inline bool
is_vlan(__be16 type)
{
    return type == bpf_htons(ETH_P_8021Q) || type == bpf_htons(ETH_P_8021AD);
}

/* Finds out about the frame of 'ctx'.  Sets all of 'pkt'; its hints are 0
 * where nothing is known.  The pointers in it are good until the first helper
 * that moves the frame's ends. */
static __always_inline void
parse(struct xdp_md *ctx, struct xdp_counters *stats, struct packet *pkt)
{
    const struct ethhdr *eth;
    __u32 ofs = sizeof *eth;
    __be16 type;

    *pkt = (struct packet) {
        .data = (void *) (long) ctx->data,
        .data_end = (void *) (long) ctx->data_end,
    };
    pkt->len = pkt->data_end - pkt->data;

    eth = bytes_at(pkt, 0, sizeof *eth, pkt->len);
    if (!eth) {
        count(stats, XDP_C_MALFORMED_L2);
        return;
    }
    type = eth->h_proto;
    for (int i = 0; i < MAX_VLANS && is_vlan(type); i++) {
        const struct vlan_hdr *vlan = bytes_at(pkt, ofs, sizeof *vlan,
                                               pkt->len);

        if (!vlan) {
            count(stats, XDP_C_MALFORMED_L2);
            return;
        }
        type = vlan->type;
        ofs += sizeof *vlan;
    }

    if (type == bpf_htons(ETH_P_IP)) {
        parse_ipv4(pkt, stats, ofs);
    } else if (type == bpf_htons(ETH_P_IPV6)) {
        parse_ipv6(pkt, stats, ofs);
    } else {
        count(stats, is_vlan(type)
                     ? XDP_C_PARSE_VLAN_DEPTH : XDP_C_PARSE_NOT_IP);
    }
}

#endif /* parse.h */
