/* SPDX-License-Identifier: Apache-2.0 */

/* Frames from words.
 *
 * A specification is a row of words, each of which appends a header and makes
 * the one before it point to it, or changes what is there:
 *
 *   eth tag stag           Ethernet; 802.1Q tag; 802.1ad tag
 *   ip4 ip4opt             IPv4 header without options; with 12 bytes of them
 *   ip6 hbh rt dst frag    IPv6 header; extension headers, dst of 24 bytes
 *   tcp udp sctp icmp esp  transport headers
 *   arp                    an ARP request
 *   pay=N                  N bytes of payload
 *   end                    the IP packet ends here; what follows is padding
 *   first more last        make the IPv4 packet, or the last frag header, a
 *                          first, a middle and a last fragment
 *   cut=N                  cut the frame to N bytes, lengths left as they are
 *   set=OFS:VALUE          set the byte at OFS of the IP header, as the last
 *                          word
 *
 * Lengths are filled in at the end; checksums are 0, nobody looks at them. */

#ifndef FRAME_H
#define FRAME_H 1

#include <stddef.h>
#include <stdint.h>

struct frame {
    uint8_t data[2048];
    size_t len;
    size_t l3;                  /* Offset of the IP header. */
    size_t l4;                  /* Offset of the transport header. */
    size_t frag;                /* Offset of IPv6's fragment header. */
};

void frame_make(struct frame *, const char *spec);

uint8_t *frame_addrs(struct frame *, size_t *len);
void frame_set_ports(struct frame *, uint16_t src, uint16_t dst);

#endif /* frame.h */
