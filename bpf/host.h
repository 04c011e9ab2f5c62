/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Frames for the host itself, which has addresses on the device and goes on
 * using them (options:host-traffic=pass).
 *
 * A frame is the host's own if the host is where it is sent to, by MAC address
 * and VLAN, and if it is
 *     - an IP packet to an address of the host, fragment or not,
 *     - ARP about an IPv4 address of the host, or neighbor discovery about an
 *       IPv6 address of it: somebody asks for it, or answers it,
 *     - or what options:host-ports names.
 * Frames to the same addresses elsewhere, in another VLAN or to the MAC
 * address of a virtual machine, are another network's: the host's stack would
 * drop them. */

#ifndef HOST_H
#define HOST_H 1

#include "parse.h"
#include "rewrite.h"
#include "settings.h"
#include "verdict.h"

/* Where the host is.  Userspace writes this map and the two below. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __type(key, struct xdp_host_place);
    __type(value, __u32);
    __uint(max_entries, XDP_HOST_MAX_PLACES);
    __uint(map_flags, BPF_F_NO_PREALLOC);
} host_places SEC(".maps");

/* Its addresses. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __type(key, struct xdp_host_address);
    __type(value, __u32);
    __uint(max_entries, XDP_HOST_MAX_ADDRESSES);
    __uint(map_flags, BPF_F_NO_PREALLOC);
} host_addresses SEC(".maps");

/* What options:host-ports names, as XDP_HOST_PORT(). */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __type(key, __u32);
    __type(value, __u32);
    __uint(max_entries, XDP_HOST_MAX_PORTS);
    __uint(map_flags, BPF_F_NO_PREALLOC);
} host_ports SEC(".maps");

/* Router solicitation to redirect (RFC 4861): 133 to 137. */
#define ND_FIRST 133
#define ND_SOLICITATION 135
#define ND_ADVERTISEMENT 136
#define ND_LAST 137

/* Where the address is that a solicitation or an advertisement is about. */
#define ND_TARGET_OFS 8

/* ARP for IPv4 over Ethernet (RFC 826). */
#define ARP_ETHERNET 1

struct arp {
    __be16 hardware, protocol;
    __u8 hardware_len, protocol_len;
    __be16 op;
    __u8 sender_mac[ETH_ALEN], sender[4];
    __u8 target_mac[ETH_ALEN], target[4];
};
_Static_assert(sizeof(struct arp) == 28, "RFC 826");

/* Returns the first 'size' bytes of the ICMPv6 message, or NULL if 'pkt' has
 * none of that size. */
static __always_inline const __u8 *
icmpv6_at(const struct packet *pkt, __u32 size)
{
    return (pkt->l3.ipv6 && pkt->l3.proto == IPPROTO_ICMPV6
            ? bytes_at(pkt, pkt->l3.l4_ofs, size, pkt->l3.end) : NULL);
}

/* Hands the frame to the host's stack, counted as 'why'.  A tag that the front
 * program has put into it goes out again: the driver has it still, and there
 * would be two. */
static __always_inline int
to_host(struct xdp_md *ctx, struct xdp_counters *stats, struct packet *pkt,
        enum xdp_counter why)
{
    const struct xdp_front_note *note;
    __u32 zero = 0;

    if (front_on) {
        note = bpf_map_lookup_elem(&front_note, &zero);
        if (note && note->tag_put_back) {
            pop_tag(ctx, pkt);
        }
    }
    return end(stats, why, XDP_PASS);
}

/* Is the host where 'pkt' is sent to? */
static __always_inline bool
host_is_there(const struct packet *pkt)
{
    const struct ethhdr *eth = bytes_at(pkt, 0, sizeof *eth, pkt->len);
    struct xdp_host_place place = {
        .vlan = pkt->vlan,
        .inner_vlan = pkt->inner_vlan,
    };

    if (!eth) {
        return false;           /* For the verifier. */
    }
    if (eth->h_dest[0] & 1) {
        __builtin_memset(place.mac, 0xff, sizeof place.mac);
    } else {
        __builtin_memcpy(place.mac, eth->h_dest, sizeof place.mac);
    }
    return bpf_map_lookup_elem(&host_places, &place);
}

static __always_inline bool
host_has_ipv6(const void *addr)
{
    struct xdp_host_address key = { .version = 6 };

    __builtin_memcpy(key.addr, addr, sizeof key.addr);
    return bpf_map_lookup_elem(&host_addresses, &key);
}

static __always_inline bool
host_has_ipv4(const void *addr)
{
    struct xdp_host_address key = { .version = 4 };

    __builtin_memcpy(key.addr, addr, 4);
    return bpf_map_lookup_elem(&host_addresses, &key);
}

/* Is the frame, which is no IP packet, ARP about an address of the host? */
static __always_inline bool
is_arp_for_host(const struct packet *pkt)
{
    const struct arp *arp;

    if (pkt->type != bpf_htons(ETH_P_ARP)) {
        return false;
    }
    arp = bytes_at(pkt, pkt->l3.ofs, sizeof *arp, pkt->len);
    return (arp && arp->hardware == bpf_htons(ARP_ETHERNET)
            && arp->protocol == bpf_htons(ETH_P_IP)
            && arp->hardware_len == ETH_ALEN && arp->protocol_len == 4
            && host_has_ipv4(arp->target));
}

/* Is the packet, to whichever address, about a neighbor that is the host? */
static __always_inline bool
is_nd_for_host(const struct packet *pkt)
{
    const __u8 *nd = icmpv6_at(pkt, ND_TARGET_OFS + 16);

    return (nd && (nd[0] == ND_SOLICITATION || nd[0] == ND_ADVERTISEMENT)
            && host_has_ipv6(nd + ND_TARGET_OFS));
}

/* Does options:host-ports name what is in the packet?  Of fragments it names
 * none, since the later ones do not tell. */
static __always_inline bool
is_host_port(const struct packet *pkt)
{
    const __u8 *type = icmpv6_at(pkt, 1);
    __u32 key;

    if (pkt->has_l4) {
        key = XDP_HOST_PORT(pkt->l3.proto, bpf_ntohl(pkt->ports) & 0xffff);
    } else if (type) {
        key = XDP_HOST_PORT(IPPROTO_ICMPV6, *type);
    } else {
        return false;
    }
    return bpf_map_lookup_elem(&host_ports, &key);
}

/* Is the frame, of which parsing has found 'parsed', the host's own? */
static __always_inline bool
is_for_host(const struct packet *pkt, __u32 parsed)
{
    if (parsed != PARSED_IP && parsed != XDP_C_NOT_IP) {
        return false;
    }
    if (!host_is_there(pkt)) {
        return false;
    }
    if (parsed != PARSED_IP) {
        return is_arp_for_host(pkt);
    }
    if (!pkt->ip) {
        return false;           /* For the verifier. */
    }
    return ((pkt->l3.ipv6
             ? host_has_ipv6(pkt->ip + 24) || is_nd_for_host(pkt)
             : host_has_ipv4(pkt->ip + 16))
            || is_host_port(pkt));
}

#endif /* host.h */
