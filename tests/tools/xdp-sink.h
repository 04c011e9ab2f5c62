/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */

#ifndef XDP_SINK_H
#define XDP_SINK_H 1

#include <linux/types.h>

/* What the sink is asked for; constant while it runs. */
struct sink_config {
    __u32 offset;               /* Of the probe from the frame's start. */
    __u8 verify;                /* Check probes (1) or count only (0)? */
    __u8 filler;                /* Check the filler too? */
    __u8 stream;                /* Whose probes are expected. */
};

/* X(MEMBER, MEANING), per CPU, added up by the reader. */
#define SINK_COUNTERS                                           \
    X(packets, "frames that arrived")                           \
    X(bytes, "their bytes")                                     \
    X(good, "intact probes of the stream")                      \
    X(corrupt, "probes of the stream with a wrong byte")        \
    X(other, "frames without a probe of the stream")            \
    X(duplicates, "probes that had arrived before")             \
    X(reordered, "probes later than one with a higher number")

struct sink_counters {
#define X(MEMBER, MEANING) __u64 MEMBER;
    SINK_COUNTERS
#undef X
};

/* Where the stream stands; the reader sees it without a lock. */
struct sink_stream {
    __u64 next;                 /* Highest sequence number seen plus 1. */
    __u64 first_time;           /* Arrival of the first probe, ns. */
    __u64 last_time;            /* Arrival of the latest, ns. */
    __u64 longest_gap;          /* Longest time between two arrivals, ns. */
    __u64 longest_gap_seq;      /* The probe that ended it. */
    __u64 longest_delay;        /* Longest time from sender to here, ns. */
};

/* Bits in the map of sequence numbers seen: probes beyond are not checked for
 * duplicates. */
#define SINK_SEEN_BITS (1u << 25)

#endif /* xdp-sink.h */
