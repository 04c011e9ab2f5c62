/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */

/* What the XDP program (bpf/) and the daemon (lib/) must agree on: the hints
 * in front of a frame, the counters, and the version of this layout.
 *
 * Included by both, so only kernel types and plain C11 here. */

#ifndef XDP_LAYOUT_H
#define XDP_LAYOUT_H 1

#include <linux/types.h>

/* Changes whenever the size or the meaning of anything in this file changes.
 * Maps that outlive a daemon are adopted only if they carry this number. */
#define XDP_LAYOUT_VERSION 1

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
 * Every frame is in exactly one of the verdicts.  The program parses only if
 * it writes hints, and then every frame is in exactly one of the "hints"
 * counters and in at most one of the "parse" counters. */
#define XDP_COUNTERS(X)                                                     \
    X(TO_USERSPACE, "xdp_to_userspace",                                     \
      "verdict: redirected to the AF_XDP socket of its queue")              \
    X(DROP_NO_SOCKET, "xdp_drop_no_socket",                                 \
      "verdict: dropped, its queue has no AF_XDP socket")                   \
    X(HINTS_WRITTEN, "xdp_hints_written",                                   \
      "hints: written in front of the frame")                               \
    X(HINTS_NO_ROOM, "xdp_hints_no_room",                                   \
      "hints: none, the driver has no room for metadata")                   \
    X(PARSE_NOT_IP, "xdp_parse_not_ip",                                     \
      "parse: neither IPv4 nor IPv6, no flow hash")                         \
    X(PARSE_VLAN_DEPTH, "xdp_parse_vlan_depth",                             \
      "parse: more than two VLAN tags, no flow hash")                       \
    X(PARSE_FRAGMENT, "xdp_parse_fragment",                                 \
      "parse: IP fragment, flow hash without ports")                        \
    X(MALFORMED_L2, "xdp_malformed_l2",                                     \
      "parse: frame ends inside the Ethernet header or a VLAN tag")         \
    X(MALFORMED_IPV4, "xdp_malformed_ipv4",                                 \
      "parse: IPv4 version, IHL or length contradicts the frame")           \
    X(MALFORMED_IPV6, "xdp_malformed_ipv6",                                 \
      "parse: IPv6 version, length or extension contradicts the frame")     \
    X(MALFORMED_L4, "xdp_malformed_l4",                                     \
      "parse: packet ends before the TCP, UDP or SCTP ports")

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

#endif /* xdp-layout.h */
