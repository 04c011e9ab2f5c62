/* SPDX-License-Identifier: Apache-2.0 */

/* Frames from words.
 *
 * A specification is a row of words, each of which appends a header and makes
 * the one before it point to it, or changes what is there:
 *
 *   eth tag stag           Ethernet; 802.1Q tag; 802.1ad tag
 *   ip4 ip4opt             IPv4 header without options; with 12 bytes of them
 *   ip6 hbh rt dst frag    IPv6 header; extension headers, dst of 24 bytes
 *   tcp udp sctp esp       transport headers
 *   icmp icmp6             echo requests
 *   arp                    an ARP request
 *   vxlan vxlan8472        behind udp: a tunnel, of the one or the other port,
 *   geneve opts=N          with N words of options,
 *   gre csum key seq       behind IP: with these fields.  In a tunnel there
 *                          may be an IP header or
 *   ieth                   an inner Ethernet header
 *   pay=N                  N bytes of payload
 *   end                    the IP packet ends here; what follows is padding
 *   first more last        make the IPv4 packet, or the last frag header, a
 *                          first, a middle and a last fragment
 *   dmac=MAC smac=MAC      addresses of the (outer) Ethernet header
 *   tci=N                  of the last tag
 *   from=IP to=IP ttl=N    of the last IP header
 *   id=N                   its identification, if it is IPv4
 *   type=N                 of the last ICMP header
 *   about=IP               the address that the ARP request asks for, or that
 *                          the neighbor discovery in icmp6 is about
 *   partial                the checksum of the last transport header is
 *                          unfinished: the sum of its pseudo-header, or 0
 *                          for SCTP
 *   nosum                  the last UDP header has no checksum: it is 0
 *   cut=N                  cut the frame to N bytes, lengths left as they are
 *   set=OFS:VALUE          set the byte at OFS of the last IP header, as the
 *                          last word, all else left as it is
 *
 * Lengths and checksums are filled in at the end (but GRE's own checksum, and
 * those of fragments are of what is in the fragment). */

#ifndef FRAME_H
#define FRAME_H 1

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Three pages: more than a jumbo frame. */
#define FRAME_MAX 12288

struct frame {
    uint8_t data[FRAME_MAX];
    size_t len;
    size_t l3;                  /* Offset of the last IP header. */
    size_t l4;                  /* Offset of the last transport header. */
    size_t frag;                /* Offset of IPv6's fragment header. */
};

void frame_make(struct frame *, const char *spec);

uint8_t *frame_addrs(struct frame *, size_t *len);
void frame_set_ports(struct frame *, uint16_t src, uint16_t dst);

/* An IP header, and the transport header in it. */
struct frame_layer {
    int version;                /* 4 or 6. */
    size_t l3;
    size_t l4;                  /* 0: none. */
    uint8_t proto;
    bool partial, nosum;
};

/* Fill in the checksums of 'layer' in a packet that ends at 'end', what is
 * inside being finished. */
void frame_finish_checksums(uint8_t *frame, const struct frame_layer *,
                            size_t end);

#endif /* frame.h */
