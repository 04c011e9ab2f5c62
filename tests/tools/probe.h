/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */

#ifndef PROBE_H
#define PROBE_H 1

/* The test frame, shared by the senders (xdp-gen, paced-send), the sink and
 * their BPF programs:
 *
 *     Ethernet | IPv4 | UDP | struct probe | filler
 *
 * A frame of 64 bytes has room for exactly the probe.  The filler of a longer
 * one is a function of the sequence number, so that a receiver can tell a
 * frame that was cut, mixed up or overwritten without having seen it sent. */

#include <linux/types.h>

#define PROBE_OFFSET 42             /* Ethernet 14, IPv4 20, UDP 8. */
#define PROBE_MIN_SIZE 64           /* PROBE_OFFSET + sizeof(struct probe). */

/* The largest frame that BPF_PROG_TEST_RUN sends live: a 4096-byte page less
 * the kernel's bookkeeping at both ends (some 700 bytes, version dependent;
 * the kernel itself has the last word). */
#define PROBE_MAX_SIZE 3392

#define PROBE_MAGIC 0xaf7dfa00u     /* The low byte is the stream's number. */

struct probe {
    __u32 magic;                /* PROBE_MAGIC | stream. */
    __u64 seq;                  /* From 0, one a frame of the stream. */
    __u64 time;                 /* CLOCK_MONOTONIC at sending, in ns. */
    __u16 check;                /* probe_check() of the above and the size. */
} __attribute__((packed));

_Static_assert(PROBE_OFFSET + sizeof(struct probe) == PROBE_MIN_SIZE,
               "a 64-byte frame holds one probe");

/* Returns the check of a probe with 'seq' and 'time' in a frame of 'size'
 * bytes.  Fibonacci hashing: the high bits depend on all of the input. */
static inline __u16
probe_check(__u64 seq, __u64 time, __u32 size)
{
    return ((seq ^ time << 17 ^ time >> 47 ^ size) * 0x9e3779b97f4a7c15ull)
           >> 48;
}

/* Returns word 'i' of the filler of frame 'seq'.  The filler's last bytes, up
 * to seven, are left as the template has them. */
static inline __u64
probe_filler(__u64 seq, __u32 i)
{
    return (seq + 1) * 0xd6e8feb86659fd93ull + i;
}

#endif /* probe.h */
