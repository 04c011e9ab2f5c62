/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Unfinished checksums.
 *
 * A sender that leaves the L4 checksum to its device writes the folded sum of
 * the pseudo-header into the field (CHECKSUM_PARTIAL), and a veth or a tap
 * hands it over like that, with nothing to tell it by.  A frame whose finished
 * checksum happens to be that sum goes up as well, one in 65,536, which does
 * no harm.
 *
 * A guest with tunnels of its own leaves the inner one unfinished: so one
 * level of encapsulation is looked through. */

#ifndef CHECKSUM_H
#define CHECKSUM_H 1

#include "parse.h"

/* UDP ports of tunnels: VXLAN (RFC 7348), VXLAN as Linux had it before, Geneve
 * (RFC 8926). */
#define PORT_VXLAN 4789
#define PORT_VXLAN_LINUX 8472
#define PORT_GENEVE 6081

#define UDP_LEN 8
#define VXLAN_LEN 8
#define GENEVE_LEN 8

/* Where the checksum is in the header. */
#define TCP_CHECK_OFS 16
#define UDP_CHECK_OFS 6
#define SCTP_CHECK_OFS 8

/* GRE (RFC 2890): bits for a checksum, a key and a sequence number, 4 bytes
 * each. */
#define GRE_LEN 4
#define GRE_CSUM bpf_htons(0x8000)
#define GRE_KEY bpf_htons(0x2000)
#define GRE_SEQ bpf_htons(0x1000)

/* Behind two tags, an IPv6 header and MAX_IPV6_EXTS extension headers of 2048
 * bytes, the longest that there are. */
#define MAX_L4_OFS (14 + 8 + 40 + MAX_IPV6_EXTS * 2048)

static __always_inline __u16
fold(__u64 sum)
{
    sum = (sum & 0xffffffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return sum + (sum >> 16);
}

/* Returns the folded sum of the pseudo-header (RFC 768, RFC 8200, section
 * 8.1) of a packet with the IP header 'ip', in network order. */
static __always_inline __u16
pseudo_sum(const void *ip, const struct l3 *l3)
{
    __u32 len = l3->end - l3->l4_ofs;
    __u64 sum = bpf_htons(l3->proto) + bpf_htons(len);
    const __u32 *a = ip + 8;

    if (l3->ipv6) {
        sum += (__u64) a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7];
    } else {
        sum += (__u64) a[1] + a[2];
    }
    return fold(sum);
}

/* Is the checksum of what is behind the IP header 'ip' unfinished?  SCTP has
 * no pseudo-header; its sender leaves the field 0.
 *
 * Here and below, one that may be out of reach, behind the frame's first
 * piece, may be unfinished. */
static __always_inline bool
l4_is_unfinished(const struct packet *pkt, const void *ip,
                 const struct l3 *l3)
{
    const __u16 *check;
    const __u32 *crc;

    if (l3->fragment) {
        return false;
    }
    switch (l3->proto) {
    case IPPROTO_TCP:
        check = bytes_at(pkt, l3->l4_ofs + TCP_CHECK_OFS, 2, l3->end);
        return check ? *check == pseudo_sum(ip, l3) : pkt->frags;
    case IPPROTO_UDP:
        check = bytes_at(pkt, l3->l4_ofs + UDP_CHECK_OFS, 2, l3->end);
        return check ? *check == pseudo_sum(ip, l3) : pkt->frags;
    case IPPROTO_SCTP:
        crc = bytes_at(pkt, l3->l4_ofs + SCTP_CHECK_OFS, 4, l3->end);
        return crc ? !*crc : pkt->frags;
    default:
        return false;
    }
}

/* Where an encapsulated frame or packet begins, 0 for none; and what it is:
 * ETH_P_TEB for a frame. */
struct inner {
    __u32 ofs;
    __be16 type;
};

static __always_inline bool
is_tunnel_port(__be32 ports)
{
    __u16 port = bpf_ntohl(ports);

    return port == PORT_VXLAN || port == PORT_VXLAN_LINUX
           || port == PORT_GENEVE;
}

static __always_inline struct inner
find_in_udp(const struct packet *pkt)
{
    struct inner inner = { .ofs = 0 };
    __u32 ofs = pkt->l3.l4_ofs + UDP_LEN;
    __u16 port = bpf_ntohl(pkt->ports);

    if (port == PORT_VXLAN || port == PORT_VXLAN_LINUX) {
        inner.ofs = ofs + VXLAN_LEN;
        inner.type = bpf_htons(ETH_P_TEB);
    } else if (port == PORT_GENEVE) {
        const __u8 *geneve = bytes_at(pkt, ofs, GENEVE_LEN, pkt->l3.end);

        if (geneve) {
            inner.ofs = ofs + GENEVE_LEN + (geneve[0] & 0x3f) * 4;
            inner.type = *(const __be16 *) (geneve + 2);
        }
    }
    return inner;
}

static __always_inline struct inner
find_in_gre(const struct packet *pkt)
{
    struct inner inner = { .ofs = 0 };
    const __be16 *gre = bytes_at(pkt, pkt->l3.l4_ofs, GRE_LEN, pkt->l3.end);

    if (gre) {
        inner.ofs = pkt->l3.l4_ofs + GRE_LEN + (gre[0] & GRE_CSUM ? 4 : 0)
                    + (gre[0] & GRE_KEY ? 4 : 0) + (gre[0] & GRE_SEQ ? 4 : 0);
        inner.type = gre[1];
    }
    return inner;
}

/* Finds what is encapsulated in 'pkt'. */
static __always_inline struct inner
find_inner(const struct packet *pkt)
{
    struct inner inner = { .ofs = 0 };

    switch (pkt->l3.proto) {
    case IPPROTO_UDP:
        return find_in_udp(pkt);
    case IPPROTO_GRE:
        return find_in_gre(pkt);
    case IPPROTO_IPIP:
        inner.ofs = pkt->l3.l4_ofs;
        inner.type = bpf_htons(ETH_P_IP);
        break;
    case IPPROTO_IPV6:
        inner.ofs = pkt->l3.l4_ofs;
        inner.type = bpf_htons(ETH_P_IPV6);
        break;
    }
    return inner;
}

/* Steps over the Ethernet header, and one VLAN tag, of an inner frame. */
static __always_inline void
skip_inner_eth(const struct packet *pkt, struct inner *inner)
{
    const struct ethhdr *eth = bytes_at(pkt, inner->ofs, sizeof *eth,
                                        pkt->l3.end);
    const struct vlan_hdr *vlan;

    if (!eth) {
        inner->type = 0;
        return;
    }
    inner->type = eth->h_proto;
    inner->ofs += sizeof *eth;
    if (is_vlan(inner->type)) {
        vlan = bytes_at(pkt, inner->ofs, sizeof *vlan, pkt->l3.end);
        inner->type = vlan ? vlan->type : 0;
        inner->ofs += sizeof *vlan;
    }
}

/* Is the checksum of the packet encapsulated in 'outer' unfinished?  A global
 * function: the verifier looks at it once, and not for each way that leads
 * here. */
int
inner_is_unfinished(struct xdp_md *ctx, const struct l3 *outer, __u32 ports)
{
    struct l3 l3 = { .ofs = 0 };
    struct packet pkt;
    struct inner inner;
    void *ip = NULL;
    __u32 l4_ofs;

    if (!outer) {
        return false;
    }
    l4_ofs = outer->l4_ofs;
    if (l4_ofs > MAX_L4_OFS) {
        return false;
    }
    packet_init(ctx, &pkt);
    pkt.l3 = *outer;
    pkt.l3.l4_ofs = l4_ofs;
    pkt.ports = ports;
    inner = find_inner(&pkt);
    if (inner.ofs && inner.type == bpf_htons(ETH_P_TEB)) {
        skip_inner_eth(&pkt, &inner);
    }
    if (inner.type == bpf_htons(ETH_P_IP)) {
        ip = parse_ipv4(&pkt, inner.ofs, pkt.l3.end, &l3);
    } else if (inner.type == bpf_htons(ETH_P_IPV6)) {
        ip = parse_ipv6(&pkt, inner.ofs, pkt.l3.end, &l3);
    } else if (inner.type) {
        return false;
    }
    return ip ? l4_is_unfinished(&pkt, ip, &l3) : pkt.frags;
}

/* May there be an encapsulated packet in 'pkt'? */
static __always_inline bool
may_encapsulate(const struct packet *pkt)
{
    __u8 proto = pkt->l3.proto;

    return !pkt->l3.fragment
           && (proto == IPPROTO_UDP ? is_tunnel_port(pkt->ports)
               : proto == IPPROTO_GRE || proto == IPPROTO_IPIP
                 || proto == IPPROTO_IPV6);
}

/* Would the frame arrive at the other end of a redirect with a checksum that
 * is not one? */
static __always_inline bool
checksum_is_unfinished(struct xdp_md *ctx, const struct packet *pkt)
{
    struct l3 outer;

    if (l4_is_unfinished(pkt, pkt->ip, &pkt->l3)) {
        return true;
    }
    if (!may_encapsulate(pkt)) {
        return false;
    }
    /* A copy: the verifier takes what a global function is given for
     * changed. */
    outer = pkt->l3;
    return inner_is_unfinished(ctx, &outer, pkt->ports);
}

#endif /* checksum.h */
