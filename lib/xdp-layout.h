/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */

/* What the XDP program (bpf/) and the daemon (lib/) must agree on: the hints
 * in front of a frame, the counters, and the version of this layout.  What
 * the prefix table adds is in xdp-table-layout.h.
 *
 * Included by both, so only kernel types and plain C11 here. */

#ifndef XDP_LAYOUT_H
#define XDP_LAYOUT_H 1

#include <linux/types.h>

/* Changes whenever the size or the meaning of anything in this file changes.
 * Maps that outlive a daemon are adopted only if they carry this number. */
#define XDP_LAYOUT_VERSION 3

/* Hints.
 *
 * The program puts one 'struct xdp_hints' directly in front of the frame, so
 * that a frame that starts at 'data' has its hints at 'data' - 24.  Frames
 * start at any address: read the hints with memcpy().
 *
 * Memory in front of a frame is never cleared by the kernel.  What stands
 * there may be left from an earlier frame or from another port's program,
 * which is why a reader must compare the cookie with the one of the program
 * that the port runs now, and clear it once it has read the hints.  A program
 * that writes hints writes them for every frame, with no flag set if it has
 * nothing to say. */
struct xdp_hints {
    __u64 cookie;               /* Of this port and this program load. */
    __u32 hash;                 /* Of the flow, see bpf/hash.h. */
    __u32 mark;                 /* Of the flow in hardware-offload terms. */
    __u16 flags;                /* XDP_HINT_*: which fields are valid. */
    __u16 l3_ofs;               /* Bytes from the start of the frame to the
                                 * IPv4 or IPv6 header. */
    __u16 l4_ofs;               /* Bytes from the start of the frame to the
                                 * TCP, UDP or SCTP header. */
    __u16 reserved;             /* Zero. */
};

/* Bits of 'flags' in struct xdp_hints.
 *
 * L3 says that the IP header is whole and well formed; L4 that the frame is
 * no fragment and that the ports are inside both the frame and the IP
 * packet. */
#define XDP_HINT_HASH  (1 << 0)
#define XDP_HINT_MARK  (1 << 1)
#define XDP_HINT_L3    (1 << 2)
#define XDP_HINT_L4    (1 << 3)

/* bpf_xdp_adjust_meta() takes multiples of 4, and at most 32 bytes on the
 * older ones of the kernels that we support. */
_Static_assert(sizeof(struct xdp_hints) == 24, "part of the layout");
_Static_assert(sizeof(struct xdp_hints) % 4 == 0, "bpf_xdp_adjust_meta()");
_Static_assert(sizeof(struct xdp_hints) <= 32, "bpf_xdp_adjust_meta()");

/* Counters: X(ENUM, NAME, DESCRIPTION).
 *
 * The only place that names them.  The program's counters, the Interface
 * table's 'statistics' column, the appctl commands and the documentation all
 * follow from this list.
 *
 * Every frame that the program sees is in exactly one of the verdicts; those of
 * DROP_NO_PROGRAM, which lib/host-shield.c counts, no program has seen.  The
 * program parses only if it writes hints or has a table.  With hints, every
 * frame that goes up is in exactly one of the "hints" counters.  With a table,
 * every frame that goes up is in exactly one of the "up" counters; without,
 * those that parsing found odd are. */
#define XDP_COUNTERS(X)                                                     \
    X(TO_USERSPACE, "xdp_to_userspace",                                     \
      "verdict: redirected to the AF_XDP socket of its queue")              \
    X(DROP_NO_SOCKET, "xdp_drop_no_socket",                                 \
      "verdict: dropped, its queue has no AF_XDP socket")                   \
    X(DROP_TOO_LONG, "xdp_drop_too_long",                                   \
      "verdict: dropped, it would go up and is longer than a frame takes")  \
    X(REDIRECT, "xdp_redirect",                                             \
      "verdict: redirected to another port, the fast path")                 \
    X(TO_HOST, "xdp_to_host",                                               \
      "verdict: handed to the host's stack by a prefix entry")              \
    X(HOST_TRAFFIC, "xdp_host_traffic",                                     \
      "verdict: handed to the host's stack, it is the host's own")          \
    X(DROP_PREFIX, "xdp_drop_prefix",                                       \
      "verdict: dropped by a prefix entry")                                 \
    X(DROP_MALFORMED, "xdp_drop_malformed",                                 \
      "verdict: dropped, malformed, as the option malformed=drop says")     \
    X(DROP_TAG, "xdp_drop_tag",                                             \
      "verdict: dropped, no room to put a VLAN tag back into the frame")    \
    X(DROP_NO_PROGRAM, "xdp_drop_no_program",                               \
      "dropped while the program of one mode made way for another's")       \
    X(REDIRECT_BYTES, "xdp_redirect_bytes",                                 \
      "bytes redirected to other ports")                                    \
    X(HINTS_WRITTEN, "xdp_hints_written",                                   \
      "hints: written in front of the frame")                               \
    X(HINTS_NO_ROOM, "xdp_hints_no_room",                                   \
      "hints: none, the driver has no room for metadata")                   \
    X(PARSE_FRAGMENT, "xdp_parse_fragment",                                 \
      "parse: IP fragment, flow hash without ports")                        \
    X(NOT_IP, "xdp_parse_not_ip",                                           \
      "up: neither IPv4 nor IPv6, no flow hash")                            \
    X(VLAN_DEPTH, "xdp_parse_vlan_depth",                                   \
      "up: more than two VLAN tags, no flow hash")                          \
    X(NOT_LINEAR, "xdp_parse_not_linear",                                   \
      "up: its headers are not in the first piece of its memory")           \
    X(MALFORMED_L2, "xdp_malformed_l2",                                     \
      "up: frame ends inside the Ethernet header or a VLAN tag")            \
    X(MALFORMED_IPV4, "xdp_malformed_ipv4",                                 \
      "up: IPv4 version, IHL or length contradicts the frame")              \
    X(MALFORMED_IPV6, "xdp_malformed_ipv6",                                 \
      "up: IPv6 version, length or extension contradicts the frame")        \
    X(MALFORMED_L4, "xdp_malformed_l4",                                     \
      "up: packet ends before the TCP, UDP or SCTP ports")                  \
    X(UP_NO_TABLE, "xdp_up_no_table",                                       \
      "up: no prefix table is in force")                                    \
    X(UP_NO_MATCH, "xdp_up_no_match",                                       \
      "up: no prefix entry matches")                                        \
    X(UP_ENTRY, "xdp_up_entry",                                             \
      "up: a prefix entry says userspace")                                  \
    X(UP_NOT_OFFLOADED, "xdp_up_not_offloaded",                             \
      "up: the prefix entry cannot be carried out in the program")          \
    X(UP_GROUP, "xdp_up_group",                                             \
      "up: group MAC, or multicast, broadcast or link-local IP address")    \
    X(UP_ND, "xdp_up_nd",                                                   \
      "up: IPv6 neighbor or router discovery")                              \
    X(UP_SHARE, "xdp_up_share",                                             \
      "up: outside the share of flows that the fast path takes")            \
    X(UP_NOT_READY, "xdp_up_not_ready",                                     \
      "up: the target of the redirect is not ready")                        \
    X(UP_TOO_LARGE, "xdp_up_too_large",                                     \
      "up: larger than the target of the redirect takes")                   \
    X(UP_FRAGS, "xdp_up_frags",                                             \
      "up: in several pieces of memory, which the target does not take")    \
    X(UP_CHECKSUM, "xdp_up_checksum",                                       \
      "up: its checksum, or an inner one, is unfinished")                   \
    X(UP_TAG, "xdp_up_tag",                                                 \
      "up: a VLAN tag may be beside the frame, where it would be lost")     \
    X(UP_TTL, "xdp_up_ttl",                                                 \
      "up: the TTL or hop limit would become 0")                            \
    X(UP_REWRITE, "xdp_up_rewrite",                                         \
      "up: the entry's change of VLAN tags does not fit the frame")         \
    X(UP_LEARN, "xdp_up_learn",                                             \
      "up: one frame of this source MAC, so that OVS goes on knowing it")

enum xdp_counter {
#define XDP_COUNTER(ENUM, NAME, DESCRIPTION) XDP_C_##ENUM,
    XDP_COUNTERS(XDP_COUNTER)
#undef XDP_COUNTER
    XDP_N_COUNTERS
};

/* The one value of the counters map, one copy a CPU. */
struct xdp_counters {
    __u64 n[XDP_N_COUNTERS];
};

_Static_assert(sizeof(struct xdp_counters) == 8 * XDP_N_COUNTERS,
               "per-CPU values are copied to userspace in units of 8 bytes");

/* What the front program (bpf/tags.bpf.c) tells the one behind it about the
 * frame at hand: the one value of a per-CPU map. */
struct xdp_front_note {
    __u32 tag_put_back;         /* Into the frame; the driver has it still. */
    __u32 reserved;
};

/* The host's own traffic (bpf/host.h): keys of hash maps, which userspace
 * writes and the program looks up.  The values are of no interest. */

/* Where on the link the host is. */
struct xdp_host_place {
    __u8 mac[6];                /* Its MAC address, or all ones for group
                                 * addresses. */
    __u16 vlan;                 /* Id of the outer tag, 0: none. */
    __u16 inner_vlan;           /* Id of the tag behind it, 0: none. */
    __u16 reserved;
};

/* An address of the host.  The version keeps apart IPv4 and IPv6 to an address
 * that begins with the same bytes, or is made of an IPv4 one. */
struct xdp_host_address {
    __u32 version;              /* 4 or 6. */
    __u8 addr[16];              /* IPv4: the first four, the rest is 0. */
};

/* A kind of packet: IP protocol in the upper 16 bits, and destination port, or
 * type in ICMPv6, in the lower ones. */
#define XDP_HOST_PORT(PROTO, PORT) ((__u32) (PROTO) << 16 | (PORT))

/* Places are a device and what is on top of it, two of each, most
 * often two or four in all.  Kernels before 5.11 count what a full map takes
 * against the limit of locked memory: of this size, half a megabyte. */
#define XDP_HOST_MAX_PLACES 1024
#define XDP_HOST_MAX_ADDRESSES 4096

/* As many as anybody would write into an option. */
#define XDP_HOST_MAX_PORTS 32

_Static_assert(sizeof(struct xdp_host_place) == 12, "part of the layout");
_Static_assert(sizeof(struct xdp_host_address) == 20, "part of the layout");

#endif /* xdp-layout.h */
