/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */

#ifndef XDP_GEN_H
#define XDP_GEN_H 1

#include <linux/types.h>

#include "probe.h"

/* Frames between two flushes of the redirect queue: the longest burst.  64 is
 * also the kernel's own default for live frames. */
#define GEN_BATCH 64

/* Frames that may be late before they are left out, with gen_config.leave_out:
 * few enough that whatever is measured has room for them. */
#define GEN_MAX_LATE 16

#define GEN_MAX_SIZES 16
#define GEN_MAX_DEVS 2

/* Frames until the choice of flows repeats itself: as many as the largest mix
 * of the benchmarks has flows. */
#define GEN_TABLE_SIZE (1u << 20)

/* What a run is asked for; constant while it lasts. */
struct gen_config {
    __u64 count;                /* Frames in all. */
    __u64 interval;             /* ns between two frames; 0: no limit. */
    __u32 n_devs;               /* Devices to send on, in turn. */
    __u32 ifindexes[GEN_MAX_DEVS];
    __u32 flows;                /* Number of 5-tuples. */
    __u32 burst_min, burst_max; /* Frames a batch, 1 to GEN_BATCH. */
    __u32 n_sizes;              /* Frame sizes, taken in turn. */
    __u32 sizes[GEN_MAX_SIZES];
    __u32 max_size;             /* The largest of them, the template's. */
    __u32 ip_sum;               /* Sum of the IPv4 header's 16-bit words in
                                 * memory order, but for tot_len, check and
                                 * the addresses. */
    __u32 daddr;                /* Destination, unless 'dst_by_table'. */
    __u8 stream;                /* See probe.h. */
    __u8 filler;                /* Write the filler (1) or leave it (0)? */
    __u8 by_table;              /* Flows by the table (1) or in turn (0)? */
    __u8 dst_by_table;          /* Destinations by the table? */
    __u8 leave_out;             /* Leave out what is late (1) or make up for
                                 * it (0)? */
};

/* Ethernet, IPv4 and UDP header, as bytes and as words for a fast copy. */
union gen_headers {
    __u8 bytes[PROBE_OFFSET];
    __u64 words[PROBE_OFFSET / 8];
};

struct gen_state {
    __u64 sent;
    __u64 failed;               /* Frames that could not be made. */
    __u64 start;                /* ns. */
    __u64 deadline;             /* ns; no frame is sent from then on. */
    __u64 last;                 /* When the last frame was sent, ns. */
    __u32 batch_left;           /* Runs until the next flush. */
    __u32 burst_left;           /* Frames to send in these. */
};

#endif /* xdp-gen.h */
