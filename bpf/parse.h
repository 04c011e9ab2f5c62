/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Parsing: Ethernet, up to two VLAN tags, IPv4 or IPv6, ports.
 *
 * All positions are offsets from the start of the frame, all lengths those of
 * the whole frame, of which only the first piece is in reach.  'end' is where
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
#include "settings.h"
#include "xdp-layout.h"

/* More than two tags are not in use anywhere that we know of. */
#define MAX_VLANS 2

/* IPv6 extension headers to step over before giving up on finding ports: one
 * of each kind, and destination options once more (RFC 8200, section 4.1). */
#define MAX_IPV6_EXTS 4

/* IPv4: more fragments, and the fragment's offset. */
#define IPV4_FRAG_MASK bpf_htons(0x3fff)

/* The first piece of a frame that has several holds this much at least, on all
 * drivers that we know of; less, and headers may be out of reach. */
#define MIN_FIRST_PIECE 256

#define VLAN_VID_MASK 0x0fff

struct vlan_hdr {
    __be16 tci;
    __be16 type;                /* Of what follows the tag. */
};

struct ipv6_ext {
    __u8 nexthdr;               /* Of what follows this header. */
    __u8 len;                   /* In 8 bytes, without the first 8. */
    __u8 data[6];
};

/* An IP header, and what it says. */
struct l3 {
    bool ipv6;
    bool fragment;
    __u8 proto;                 /* Of what is at l4_ofs. */
    __u32 ofs;
    __u32 l4_ofs;               /* Behind options and extension headers. */
    __u32 end;
};

/* A frame, and what is known of it.  Of the pointers the verifier knows how
 * much there is behind them: an Ethernet header at 'data', and at 'ip' an IPv4
 * or IPv6 header without what may follow. */
struct packet {
    void *data;                 /* The part in linear memory. */
    void *data_end;
    void *ip;
    __u32 len;                  /* The whole of it. */
    bool frags;                 /* Is it in more than one piece? */

    __be16 type;                /* Of what is behind the tags. */
    __u16 vlan;                 /* Id of the outer tag, 0 for none. */
    __u16 inner_vlan;           /* Id of the second one, 0 for none. */
    bool tagged;
    __be32 ports;               /* Or 0. */
    bool has_l4;                /* Are they there? */
    struct l3 l3;
};

/* Returns the 'size' bytes at 'ofs', or NULL if they are not all inside the
 * first 'limit' bytes and in linear memory. */
static __always_inline void *
bytes_at(const struct packet *pkt, __u32 ofs, __u32 size, __u32 limit)
{
    void *p = pkt->data + ofs;

    /* One pointer: the verifier knows of the one that was compared only, not
     * of what the compiler adds up once more. */
    asm volatile("" : "+r"(p));
    return ofs + size > limit || p + size > pkt->data_end ? NULL : p;
}

static __always_inline bool
has_ports(__u8 proto)
{
    return proto == IPPROTO_TCP || proto == IPPROTO_UDP
           || proto == IPPROTO_SCTP;
}

/* Reads the IPv4 header at 'ofs', which may be behind another one, into '*l3'.
 * Returns it, or NULL if it is malformed. */
static __always_inline void *
parse_ipv4(const struct packet *pkt, __u32 ofs, __u32 limit, struct l3 *l3)
{
    struct iphdr *ip = bytes_at(pkt, ofs, sizeof *ip, limit);
    __u32 ihl, total;
    __u8 version_ihl;

    if (!ip) {
        return NULL;
    }
    version_ihl = *(const __u8 *) ip;
    ihl = (version_ihl & 0xf) * 4;
    total = bpf_ntohs(ip->tot_len);
    if (version_ihl >> 4 != 4 || ihl < sizeof *ip || total < ihl
        || ofs + total > limit) {
        return NULL;
    }
    l3->ipv6 = false;
    l3->fragment = ip->frag_off & IPV4_FRAG_MASK;
    l3->proto = ip->protocol;
    l3->ofs = ofs;
    l3->l4_ofs = ofs + ihl;
    l3->end = ofs + total;
    return ip;
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

/* As parse_ipv4(), for IPv6. */
static __always_inline void *
parse_ipv6(const struct packet *pkt, __u32 ofs, __u32 limit, struct l3 *l3)
{
    struct ipv6hdr *ip = bytes_at(pkt, ofs, sizeof *ip, limit);

    if (!ip || *(const __u8 *) ip >> 4 != 6) {
        return NULL;
    }
    l3->ipv6 = true;
    l3->proto = ip->nexthdr;
    l3->ofs = ofs;
    l3->l4_ofs = ofs + sizeof *ip;
    l3->end = l3->l4_ofs + bpf_ntohs(ip->payload_len);
    if (l3->end > limit
        || !ipv6_skip_exts(pkt, l3->end, &l3->l4_ofs, &l3->proto)) {
        return NULL;
    }
    l3->fragment = l3->proto == IPPROTO_FRAGMENT;
    return ip;
}

/* Finds the ports, where the packet should have some. */
static __always_inline bool
parse_ports(struct packet *pkt)
{
    const __be32 *ports;

    /* Later fragments have no ports, and all of them must agree. */
    if (pkt->l3.fragment || !has_ports(pkt->l3.proto)) {
        return true;
    }
    ports = bytes_at(pkt, pkt->l3.l4_ofs, sizeof *ports, pkt->l3.end);
    if (!ports) {
        return false;
    }
    pkt->has_l4 = true;
    pkt->ports = *ports;
    return true;
}

static __always_inline bool
is_vlan(__be16 type)
{
    return type == bpf_htons(ETH_P_8021Q) || type == bpf_htons(ETH_P_8021AD);
}

/* Sets the ends of 'pkt' to those of the frame in 'ctx'. */
static __always_inline void
packet_init(struct xdp_md *ctx, struct packet *pkt)
{
    *pkt = (struct packet) {
        .data = (void *) (long) ctx->data,
        .data_end = (void *) (long) ctx->data_end,
    };
    pkt->len = pkt->data_end - pkt->data;
    if (frags_on) {
        __u32 len = bpf_xdp_get_buff_len(ctx);

        pkt->frags = len > pkt->len;
        pkt->len = len;
    }
}

/* What parsing found: PARSED_IP, or the counter of what the frame is
 * instead. */
#define PARSED_IP XDP_N_COUNTERS

/* Could a header behind the IP header not be read, where parsing has ended,
 * because it is not in the first piece?  Such a frame may be a good one. */
static __always_inline bool
is_out_of_reach(const struct packet *pkt)
{
    return pkt->frags && pkt->l3.l4_ofs <= pkt->l3.end
           && pkt->l3.l4_ofs + (int) sizeof(struct ipv6_ext)
              > pkt->data_end - pkt->data;
}

/* Finds out about the frame of 'ctx', and sets all of 'pkt'; what is in 'l3'
 * counts only if the frame is PARSED_IP or XDP_C_MALFORMED_L4, and of
 * XDP_C_NOT_IP 'type' and 'l3.ofs' count.  The pointers
 * in it are good until the first helper that moves the frame's ends. */
static __always_inline __u32
parse(struct xdp_md *ctx, struct packet *pkt)
{
    const struct ethhdr *eth;
    __u32 ofs = sizeof *eth;
    __be16 type;

    packet_init(ctx, pkt);
    if (pkt->frags && pkt->data + MIN_FIRST_PIECE > pkt->data_end) {
        return XDP_C_NOT_LINEAR;
    }
    eth = bytes_at(pkt, 0, sizeof *eth, pkt->len);
    if (!eth) {
        return XDP_C_MALFORMED_L2;
    }
    type = eth->h_proto;
    for (int i = 0; i < MAX_VLANS && is_vlan(type); i++) {
        const struct vlan_hdr *vlan = bytes_at(pkt, ofs, sizeof *vlan,
                                               pkt->len);

        if (!vlan) {
            return XDP_C_MALFORMED_L2;
        }
        if (!i) {
            pkt->vlan = bpf_ntohs(vlan->tci) & VLAN_VID_MASK;
            pkt->tagged = true;
        } else {
            pkt->inner_vlan = bpf_ntohs(vlan->tci) & VLAN_VID_MASK;
        }
        type = vlan->type;
        ofs += sizeof *vlan;
    }
    pkt->type = type;
    pkt->l3.ofs = ofs;

    if (type == bpf_htons(ETH_P_IP)) {
        pkt->ip = parse_ipv4(pkt, ofs, pkt->len, &pkt->l3);
        if (!pkt->ip) {
            return XDP_C_MALFORMED_IPV4;
        }
    } else if (type == bpf_htons(ETH_P_IPV6)) {
        pkt->ip = parse_ipv6(pkt, ofs, pkt->len, &pkt->l3);
        if (!pkt->ip) {
            return (is_out_of_reach(pkt)
                    ? XDP_C_NOT_LINEAR : XDP_C_MALFORMED_IPV6);
        }
    } else {
        return is_vlan(type) ? XDP_C_VLAN_DEPTH : XDP_C_NOT_IP;
    }
    if (!parse_ports(pkt)) {
        return is_out_of_reach(pkt) ? XDP_C_NOT_LINEAR : XDP_C_MALFORMED_L4;
    }
    return PARSED_IP;
}

/* The frame that is most common by far: no tag, no option, TCP or UDP. */
struct plain_ipv4 {
    struct ethhdr eth;
    struct iphdr ip;
    __be16 l4[10];
} __attribute__((packed));

/* Does parse() again for a frame that is a struct plain_ipv4, and for no
 * other: a few comparisons, behind which all positions are constants to the
 * compiler.  Returns false, and 'pkt' is of no use, if it is none. */
static __always_inline bool
parse_plain(struct xdp_md *ctx, struct packet *pkt)
{
    struct plain_ipv4 *f;
    __u32 total;

    packet_init(ctx, pkt);
    f = pkt->data;
    if ((void *) (f + 1) > pkt->data_end
        || f->eth.h_proto != bpf_htons(ETH_P_IP)
        || *(const __u8 *) &f->ip != 0x45
        || f->ip.frag_off & IPV4_FRAG_MASK
        || (f->ip.protocol != IPPROTO_TCP && f->ip.protocol != IPPROTO_UDP)) {
        return false;
    }
    total = bpf_ntohs(f->ip.tot_len);
    if (total < sizeof f->ip + 4 || sizeof f->eth + total > pkt->len) {
        return false;
    }
    pkt->type = f->eth.h_proto;
    pkt->ip = &f->ip;
    pkt->ports = *(const __be32 *) f->l4;
    pkt->has_l4 = true;
    pkt->l3 = (struct l3) {
        .proto = f->ip.protocol,
        .ofs = sizeof f->eth,
        .l4_ofs = sizeof f->eth + sizeof f->ip,
        .end = sizeof f->eth + total,
    };
    return true;
}

/* Returns true if 'parsed' found that the frame contradicts itself. */
static __always_inline bool
is_malformed(__u32 parsed)
{
    return parsed >= XDP_C_MALFORMED_L2 && parsed <= XDP_C_MALFORMED_L4;
}
_Static_assert(XDP_C_MALFORMED_L4 == XDP_C_MALFORMED_L2 + 3,
               "no other counter in between");

/* Returns true if the frame has a good IP header. */
static __always_inline bool
is_ip(__u32 parsed)
{
    return parsed == PARSED_IP || parsed == XDP_C_MALFORMED_L4;
}

/* Returns the flow hash of a frame with a good IP header. */
static __always_inline __u32
flow_hash(const struct packet *pkt)
{
    if (!pkt->ip) {
        return 0;               /* For the verifier. */
    }
    return (pkt->l3.ipv6
            ? hash_ipv6(pkt->ip + 8, pkt->l3.proto, pkt->ports)
            : hash_ipv4(pkt->ip + 12, pkt->l3.proto, pkt->ports));
}

#endif /* parse.h */
