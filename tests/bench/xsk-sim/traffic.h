/* SPDX-License-Identifier: Apache-2.0 */

#ifndef TRAFFIC_H
#define TRAFFIC_H 1

/* What the simulated NIC delivers: the shape of the traffic, the frames
 * themselves, and the check of those that come back. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lengths of frames in bytes, with Ethernet header and without FCS.  The
 * shorter end is that of Ethernet; the longer what both port types take. */
#define TRAFFIC_MIN_LEN 60
#define TRAFFIC_MAX_LEN 3500

/* One frame of the schedule, which repeats. */
struct slot {
    uint32_t flow;
    uint32_t len;
};

/* The shape.  Written by the control thread while the NIC is paused. */
struct shape {
    uint64_t rate;              /* Frames a second and queue, 0: as many as
                                 * are taken. */
    uint32_t burst;             /* Frames that arrive together. */
    uint32_t n_flows;
    double zipf;                /* Exponent, 0: all flows alike. */
    char sizes[128];            /* As "64" or "64:7,594:4,1400:1". */
    bool verify;                /* Write sequence and checksum, check them. */
    bool hints;                 /* Write hints as the XDP program does. */
    uint64_t seed;

    struct slot *slots;         /* 'n_slots', a power of two, of them. */
    uint32_t n_slots;
};

extern struct shape shape;

char *shape_set(char **words);
void shape_init(void);

/* Of the frames that one socket received from the NIC.  NIC thread. */
struct stream {
    uint64_t next_seq;
    uint32_t slot;
    uint8_t header[64];
    uint32_t header_sum;        /* Of IP's header, flow and length left out. */
};

/* What came back, of all streams, at the socket that sent it. */
struct verdict {
    uint64_t good, corrupt, other, reordered, duplicate;
};

void stream_init(struct stream *, uint32_t id);
uint32_t stream_write(struct stream *, uint8_t *frame, uint64_t cookie);
uint32_t stream_write_probe(struct stream *, uint8_t *frame);
uint64_t probe_id(const uint8_t *frame, uint32_t len);
void stream_check(const uint8_t *frame, uint32_t len, struct verdict *);
void stream_forget(uint32_t id);

/* hints.c */
int hints_find_cookie(int ifindex, uint64_t *cookie);

#endif /* traffic.h */
