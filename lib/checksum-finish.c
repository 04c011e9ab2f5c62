/* SPDX-License-Identifier: Apache-2.0 */

/* Unfinished checksums, see checksum-finish.h.
 *
 * A sender whose device has checksum offload writes the folded sum of the
 * pseudo-header into the field of TCP or UDP (CHECKSUM_PARTIAL), and 0 into
 * that of SCTP.  A veth or a tap hands the frame over like that, with nothing
 * but the value to tell it by.  So a field is finished if and only if it holds
 * exactly that value.
 *
 * A checksum that is right and happens to be that value is computed to the
 * same value, so no right one is ever changed.  One that is wrong is left
 * wrong, but for one value of 65,536 (SCTP: of 4 billion), which cannot be
 * told from an unfinished one.
 *
 * One level of encapsulation is looked through, as in bpf/checksum.h, for
 * guests with tunnels of their own: the inner checksum first, then the outer.
 * An outer one that the sender has finished while the inner one was not yet
 * already counts in what that will be (the kernel's local checksum offload),
 * and is right once the inner one is finished.
 *
 * Left as they are: fragments, whose sender finishes checksums before it cuts
 * the packet, and packets with an IPv6 routing header that is not used up,
 * whose pseudo-header has another destination than the IP header. */

#include <config.h>
#include "checksum-finish.h"

#include <netinet/in.h>
#include <string.h>

#include "crc32c.h"
#include "dp-packet.h"
#include "packets.h"
#include "util.h"

/* Bytes in front of what a tunnel carries; of GRE and Geneve without options,
 * of UDP's without the UDP header. */
enum {
    VXLAN_LEN = 8,
    GENEVE_LEN = 8,
    GRE_LEN = 4,
};

/* Where the checksum is in the header. */
enum {
    TCP_CHECK_OFS = 16,
    UDP_CHECK_OFS = 6,
    SCTP_CHECK_OFS = 8,
};

/* UDP ports of VXLAN (RFC 7348), of VXLAN as Linux had it before, and of
 * Geneve (RFC 8926). */
enum {
    PORT_VXLAN = 4789,
    PORT_VXLAN_LINUX = 8472,
    PORT_GENEVE = 6081,
};

/* GRE (RFC 2890): bits for a checksum, a key and a sequence number, 4 bytes
 * each. */
#define GRE_OPTIONS 0xb000

/* EtherType of an Ethernet frame inside a tunnel. */
#define TYPE_FRAME 0x6558

/* What is behind an IP header. */
struct l4 {
    uint8_t *data;
    size_t len;                 /* As the IP header says, without padding. */
    uint8_t proto;
    uint64_t sum;               /* Of the pseudo-header, not folded. */
};

/* Sums add words in the host's order, since they do not depend on it (RFC
 * 1071); nothing needs to be swapped. */

static inline uint16_t
raw16(const uint8_t *p)
{
    uint16_t word;

    memcpy(&word, p, sizeof word);
    return word;
}

static inline uint16_t
load16(const uint8_t *p)
{
    return ntohs((OVS_FORCE ovs_be16) raw16(p));
}

static inline uint64_t
raw32(const uint8_t *p)
{
    uint32_t word;

    memcpy(&word, p, sizeof word);
    return word;
}

static inline uint16_t
fold(uint64_t sum)
{
    sum = (sum & 0xffffffff) + (sum >> 32);
    sum = (sum & 0xffffffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    return (sum & 0xffff) + (sum >> 16);
}

/* Adds up 'len' bytes, less than 4 GB of them.  Words of 32 bits in sums of 64
 * bits carry nothing over; four sums do not wait for one another. */
static uint64_t
sum_bytes(const uint8_t *p, size_t len)
{
    uint64_t a = 0, b = 0, c = 0, d = 0;
    uint8_t last[2] = { 0, 0 };

    for (; len >= 16; p += 16, len -= 16) {
        a += raw32(p);
        b += raw32(p + 4);
        c += raw32(p + 8);
        d += raw32(p + 12);
    }
    for (; len >= 2; p += 2, len -= 2) {
        a += raw16(p);
    }
    if (len) {
        last[0] = *p;
        b += raw16(last);
    }
    return a + b + c + d;
}

/* Finishes the checksum 'check_ofs' into the header at 'l4', if it is
 * unfinished. */
static inline bool
finish_sum(const struct l4 *l4, size_t check_ofs)
{
    uint8_t *check = l4->data + check_ofs;
    uint16_t sum;

    if (OVS_LIKELY(raw16(check) != fold(l4->sum))) {
        return false;
    }
    /* The field holds the pseudo-header's part.  0 would be "none" in UDP, and
     * is the same number as 0xffff. */
    sum = ~fold(sum_bytes(l4->data, l4->len));
    sum = sum ? sum : UINT16_MAX;
    memcpy(check, &sum, sizeof sum);
    return true;
}

static bool
finish_sctp(const struct l4 *l4)
{
    uint8_t *check = l4->data + SCTP_CHECK_OFS;
    ovs_be32 crc;

    if (raw32(check)) {
        return false;
    }
    crc = crc32c(l4->data, l4->len);
    memcpy(check, &crc, sizeof crc);
    return true;
}

/* Sets '*l4' to what is behind the IPv4 header at 'ip', with 'len' bytes from
 * there on.  Returns false if it is malformed, or a fragment. */
static inline bool
parse_ipv4(uint8_t *ip, size_t len, struct l4 *l4)
{
    size_t ihl, total;

    if (len < IP_HEADER_LEN || ip[0] >> 4 != 4) {
        return false;
    }
    ihl = (ip[0] & 0xf) * 4;
    total = load16(ip + 2);
    if (ihl < IP_HEADER_LEN || total < ihl || total > len
        || load16(ip + 6) & 0x3fff) {
        return false;
    }
    l4->data = ip + ihl;
    l4->len = total - ihl;
    l4->proto = ip[9];
    l4->sum = raw32(ip + 12) + raw32(ip + 16);
    return true;
}

/* Moves '*l4' over IPv6 extension headers.  Returns false if one is malformed,
 * or a routing header that is not used up. */
static bool
skip_exts(struct l4 *l4)
{
    while (l4->proto == IPPROTO_HOPOPTS || l4->proto == IPPROTO_ROUTING
           || l4->proto == IPPROTO_DSTOPTS) {
        size_t ext_len;

        if (l4->len < 8
            || (l4->proto == IPPROTO_ROUTING && l4->data[3])) {
            return false;
        }
        ext_len = (l4->data[1] + 1) * 8;
        if (ext_len > l4->len) {
            return false;
        }
        l4->proto = l4->data[0];
        l4->data += ext_len;
        l4->len -= ext_len;
    }
    return true;
}

/* As parse_ipv4(), for IPv6.  A fragment's 'proto' is that of the fragment
 * header, of which nobody asks for more. */
static inline bool
parse_ipv6(uint8_t *ip, size_t len, struct l4 *l4)
{
    if (len < IPV6_HEADER_LEN || ip[0] >> 4 != 6
        || load16(ip + 4) > len - IPV6_HEADER_LEN) {
        return false;
    }
    l4->data = ip + IPV6_HEADER_LEN;
    l4->len = load16(ip + 4);
    l4->proto = ip[6];
    l4->sum = 0;
    for (size_t i = 8; i < IPV6_HEADER_LEN; i += 4) {
        l4->sum += raw32(ip + i);
    }
    return skip_exts(l4);
}

/* Steps over the Ethernet header at '*p' and what tags follow.  Returns the
 * EtherType behind, 0 if the frame ends before. */
static inline uint16_t
skip_eth(uint8_t **p, size_t *len)
{
    uint16_t type;

    if (*len < ETH_HEADER_LEN) {
        return 0;
    }
    type = load16(*p + 12);
    *p += ETH_HEADER_LEN;
    *len -= ETH_HEADER_LEN;
    while (type == ETH_TYPE_VLAN_8021Q || type == ETH_TYPE_VLAN_8021AD) {
        if (*len < VLAN_HEADER_LEN) {
            return 0;
        }
        type = load16(*p + 2);
        *p += VLAN_HEADER_LEN;
        *len -= VLAN_HEADER_LEN;
    }
    return type;
}

/* Finds what the tunnel header at 'l4' encapsulates: returns its EtherType, or
 * 0 for none, and how long the tunnel's headers are. */
static uint16_t
find_inner(const struct l4 *l4, size_t *header_len)
{
    uint16_t port, flags;

    *header_len = 0;
    switch (l4->proto) {
    case IPPROTO_IPIP:
        return ETH_TYPE_IP;
    case IPPROTO_IPV6:
        return ETH_TYPE_IPV6;
    case IPPROTO_GRE:
        if (l4->len < GRE_LEN) {
            return 0;
        }
        flags = load16(l4->data) & GRE_OPTIONS;
        *header_len = GRE_LEN + 4 * __builtin_popcount(flags);
        return load16(l4->data + 2);
    case IPPROTO_UDP:
        port = load16(l4->data + 2);
        if (port == PORT_VXLAN || port == PORT_VXLAN_LINUX) {
            *header_len = UDP_HEADER_LEN + VXLAN_LEN;
            return TYPE_FRAME;
        }
        *header_len = UDP_HEADER_LEN + GENEVE_LEN;
        if (port == PORT_GENEVE && l4->len >= *header_len) {
            *header_len += (l4->data[UDP_HEADER_LEN] & 0x3f) * 4;
            return load16(l4->data + UDP_HEADER_LEN + 2);
        }
    }
    return 0;
}

static bool finish_ip(uint8_t *, size_t, uint16_t type, bool look_inside);

static bool
finish_inner(const struct l4 *l4)
{
    size_t header_len;
    uint16_t type = find_inner(l4, &header_len);
    uint8_t *p;
    size_t len;

    if (!type || header_len > l4->len) {
        return false;
    }
    p = l4->data + header_len;
    len = l4->len - header_len;
    if (type == TYPE_FRAME) {
        type = skip_eth(&p, &len);
    }
    return finish_ip(p, len, type, false);
}

/* Finishes the checksums behind the IP header at 'ip', of EtherType 'type',
 * with 'len' bytes from there on. */
static bool
finish_ip(uint8_t *ip, size_t len, uint16_t type, bool look_inside)
{
    bool inner = false;
    struct l4 l4;

    if (!(type == ETH_TYPE_IP ? parse_ipv4(ip, len, &l4)
          : type == ETH_TYPE_IPV6 && parse_ipv6(ip, len, &l4))) {
        return false;
    }
    l4.sum += htons(l4.proto) + htons(l4.len);
    switch (l4.proto) {
    case IPPROTO_TCP:
        return l4.len >= TCP_HEADER_LEN && finish_sum(&l4, TCP_CHECK_OFS);
    case IPPROTO_UDP:
        if (l4.len < UDP_HEADER_LEN) {
            return false;
        }
        inner = look_inside && finish_inner(&l4);
        return finish_sum(&l4, UDP_CHECK_OFS) || inner;
    case IPPROTO_SCTP:
        return l4.len >= SCTP_HEADER_LEN && finish_sctp(&l4);
    default:
        return look_inside && finish_inner(&l4);
    }
}

/* Finishes what checksums are unfinished in the Ethernet frame of 'len' bytes
 * at 'frame', of any alignment.  Returns true if there was one.  Any
 * thread. */
bool
checksum_finish(uint8_t *frame, size_t len)
{
    uint16_t type = skip_eth(&frame, &len);

    return finish_ip(frame, len, type, true);
}

/* Likewise for all frames of 'batch', which are on no other thread's hands.
 * Returns of how many something was unfinished. */
uint32_t
checksum_finish_batch(struct dp_packet_batch *batch)
{
    struct dp_packet *packet;
    uint32_t n = 0;

    DP_PACKET_BATCH_FOR_EACH (i, packet, batch) {
        n += checksum_finish(dp_packet_data(packet), dp_packet_size(packet));
    }
    return n;
}
