/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */

#ifndef XDP_SINK_H
#define XDP_SINK_H 1

#include <linux/types.h>

/* What the sink is asked for; constant while it runs. */
struct sink_config {
    __u32 offset;               /* Of the probe from the frame's start. */
    __u8 verify;                /* Check probes (1) or count only (0)? */
    __u8 filler;                /* Check the filler too? */
    __u8 latency;               /* Note how long probes took? */
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

/* Buckets of times from sender to here: below 64 ns one a nanosecond, then 32
 * to each doubling, so that a bucket is at most 1/32 of the time wide. */
#define SINK_STEPS 32u
#define SINK_MAX_SHIFT 31               /* Up to more than a minute. */
#define SINK_BUCKETS ((SINK_MAX_SHIFT + 2) * SINK_STEPS)

/* Returns the bucket of 'ns'. */
static inline __u32
sink_bucket(__u64 ns)
{
    __u32 shift = 0;

    for (__u32 bits = 16; bits; bits /= 2) {
        if (ns >> (shift + bits) >= SINK_STEPS) {
            shift += bits;
        }
    }

    __u64 bucket = shift * SINK_STEPS + (ns >> shift);
    return bucket < SINK_BUCKETS ? bucket : SINK_BUCKETS - 1;
}

#endif /* xdp-sink.h */
