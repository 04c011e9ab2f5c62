/* SPDX-License-Identifier: Apache-2.0 */

#ifndef FRAME_POOL_H
#define FRAME_POOL_H 1

/* Frames: the memory of packets, shared by all afxdp-fast ports.
 *
 * A zone is one mapping of up to 65,536 frames of 4 KB.  Every queue of every
 * port in a zone registers the whole zone as its own UMEM, so a frame that
 * was received on one port is sent on another by passing its address.
 *
 *     free ---> fill ring ---> rx ring ---> held by OVS ---> free
 *      |                                        |
 *      +------------> tx ring <-----------------+
 *                        +---> completion ring ---> free
 *
 * Conservation: at rest, free (shared list and thread caches) + what each
 * queue's rings hold + held by OVS = the frames of the zone.  The three are
 * counted apart from one another, so that a lost frame shows.
 *
 * Free frames lie in a shared list under a lock and in a cache a thread,
 * which exchanges a whole slab with the list when it runs empty or full, so
 * the lock is taken once in FRAME_SLAB frames at the most.
 *
 * A frame may come back from any thread, long after the port is gone
 * (conntrack keeps fragments for tens of seconds): a zone without ports lives
 * until its last frame is home. */

#include <stdbool.h>
#include <stdint.h>

#include "dp-packet.h"
#include "frame-memory.h"
#include "netdev-afxdp-pool.h"
#include "openvswitch/list.h"
#include "openvswitch/thread.h"
#include "ovs-atomic.h"
#include "util.h"

/* A UMEM chunk may not exceed a page, and one of 4 KB keeps every frame in
 * one page whatever the device's MTU up to FRAME_MAX_LEN. */
#define FRAME_SHIFT 12
#define FRAME_SIZE (1u << FRAME_SHIFT)

/* Room in front of a received frame: the 256 bytes that XDP always leaves
 * and 128 of our own.  Geneve over IPv6 with all its options is the longest
 * single encapsulation (322 bytes). */
#define FRAME_UMEM_HEADROOM 128
#define FRAME_RX_OFFSET (FRAME_UMEM_HEADROOM + 256)

/* Conntrack's FTP helper lengthens a packet in place by up to 8 bytes and
 * looks only at what is allocated. */
#define FRAME_TAIL_SLACK 8

/* The longest frame in bytes that a port takes, with its Ethernet header, in
 * either direction. */
#define FRAME_MAX_LEN (FRAME_SIZE - FRAME_RX_OFFSET - FRAME_TAIL_SLACK)

/* Frames in a slab: two bursts, so that a PMD which only forwards never takes
 * the lock (its cache swings by a burst around a slab). */
#define FRAME_SLAB (2 * NETDEV_MAX_BURST)

/* Bounds of a zone.  Each queue costs the kernel 128 bytes a frame of its
 * zone, hence the upper one; the lower one is 64 MB, six times the rings of
 * a port at their default sizes. */
#define FRAME_ZONE_MIN 16384
#define FRAME_ZONE_MAX 65536

/* Zones that there can be: 4 million frames, 16 GB. */
#define FRAME_N_ZONES 64

/* The part of a zone that no queue may reserve, one in so many (more where
 * many threads cache its frames): it feeds the threads' caches and what OVS
 * holds for long. */
#define FRAME_ZONE_SLACK 8

/* The part of a zone that OVS may hold, one frame in so many: half the slack,
 * so that however long it holds them the rings have what was promised.  Much
 * more than is on its way through OVS, which is a burst or two a thread.
 * From there on receivers copy, see frame_zone_is_crowded(). */
#define FRAME_ZONE_HELD (2 * FRAME_ZONE_SLACK)

/* Slabs that threads take from the list between two looks at how many frames
 * OVS holds: a look reads a cache line of each thread. */
#define FRAME_SLABS_PER_LOOK 4

/* Where a frame is: free, held by OVS, or with the user whose 'rx_place' or
 * 'tx_place' it is.  A user that goes takes its frames back by that, for the
 * rings do not tell: the kernel also drops frames between them, and those
 * that a dead device held come through no ring any more. */
typedef uint16_t frame_place;

enum {
    FRAME_FREE,
    FRAME_HELD,
    FRAME_N_COMMON_PLACES
};

/* What OVS sees of a frame, and what we keep beside it.  The fields in front
 * share the first cache line of the dp_packet, which receive writes anyway;
 * sizeof is a multiple of the line so that two PMDs never share one. */
OVS_ALIGNED_STRUCT(CACHE_LINE_SIZE, frame) {
    uint32_t index;                     /* In its zone. */
    frame_place place;                  /* Written by whoever has the frame,
                                         * read by any. */
    struct dp_packet_afxdp xpacket;     /* xpacket.mpool = &zone->hook. */
};

/* A ring owner's share of a zone: one for each queue.  'n_rx' and 'n_tx' are
 * written by one thread at a time (the queue's poller, the holder of its tx
 * lock, hence lines of their own), 'n_left' by all that send, with atomic
 * additions; any may read. */
struct frame_user {
    struct ovs_list node;               /* In zone's 'users'. */
    uint32_t n_reserved;                /* Frames it may count on. */
    frame_place rx_place;               /* In its fill or rx ring. */
    frame_place tx_place;               /* In its handover, tx or completion
                                         * ring. */
    OVS_ALIGNED_VAR(CACHE_LINE_SIZE)
    atomic_uint32_t n_rx;               /* In its fill and rx rings. */
    OVS_ALIGNED_VAR(CACHE_LINE_SIZE)
    atomic_uint32_t n_tx;               /* In its tx and completion rings. */
    atomic_uint32_t n_left;             /* In its handover, on their way. */
};

struct frame_zone {
    struct umem_pool hook;              /* First: OVS's way back to us. */

    /* Set while the zone is in use; read without a lock. */
    struct frame_memory memory;
    struct frame *frames;               /* 'n_frames' of them. */
    uint32_t n_frames;
    uint32_t id;
    int numa_node;

    atomic_bool orphan;                 /* No users; frames are still out. */
    atomic_bool crowded;                /* OVS held too many at the last
                                         * look. */

    struct ovs_mutex mutex;
    uint32_t *list OVS_GUARDED;         /* Shared list: a stack. */
    uint32_t n_list OVS_GUARDED;
    uint32_t n_until_look OVS_GUARDED;  /* Slabs. */
    struct ovs_list caches OVS_GUARDED; /* struct frame_cache, a thread. */
    int64_t held_retired OVS_GUARDED;   /* 'held' of threads that are gone. */
    struct ovs_list users OVS_GUARDED;  /* struct frame_user. */
    uint32_t n_reserved OVS_GUARDED;    /* Sum over 'users'. */
};

/* What frame_zone_get_usage() reports, in frames. */
struct frame_usage {
    uint32_t total;
    uint32_t reserved;
    uint32_t list, caches;              /* Free. */
    uint32_t rx, tx;                    /* In rings. */
    int64_t held;                       /* By OVS. */
    uint32_t n_users;
};

struct frame_zone *frame_zone_join(struct frame_user *, uint32_t n_reserved,
                                   int numa_node);
void frame_zone_reclaim(struct frame_zone *, const struct frame_user *);
void frame_zone_leave(struct frame_zone *, struct frame_user *);
struct frame_zone *frame_zone_next(const struct frame_zone *);
void frame_zone_get_usage(struct frame_zone *, struct frame_usage *);
bool frame_usage_is_accounted(const struct frame_usage *);

uint32_t frame_alloc(struct frame_zone *, uint32_t *indexes, uint32_t n);
void frame_free(struct frame_zone *, const uint32_t *indexes, uint32_t n);
void frame_count_held(struct frame_zone *, int delta);
bool frame_zone_look(struct frame_zone *);

void frame_packet_free(struct dp_packet *);
void frame_check_move(struct frame *, frame_place from, frame_place to);

/* Notes that 'frame' goes from 'from' to 'to'.  In debug builds a frame that
 * is not in 'from' stops the daemon: it has two owners. */
static inline void
frame_move(struct frame *frame, frame_place from OVS_UNUSED, frame_place to)
{
#ifdef AFXDP_FAST_DEBUG
    frame_check_move(frame, from, to);
#else
    __atomic_store_n(&frame->place, to, __ATOMIC_RELAXED);
#endif
}

/* Returns frame 'index'. */
static inline struct frame *
frame_at(const struct frame_zone *zone, uint32_t index)
{
    return &zone->frames[index];
}

/* Returns the first byte of frame 'index'. */
static inline uint8_t *
frame_base(const struct frame_zone *zone, uint32_t index)
{
    return zone->memory.base + ((size_t) index << FRAME_SHIFT);
}

/* Returns the frame whose packet 'packet' is, or NULL if its memory is not
 * one of our frames. */
static inline struct frame *
frame_from_packet(const struct dp_packet *packet)
{
    const struct dp_packet_afxdp *x;

    if (packet->source != DPBUF_AFXDP) {
        return NULL;
    }
    x = CONTAINER_OF(packet, struct dp_packet_afxdp, packet);
    return (x->mpool && x->mpool->free_cb == frame_packet_free
            ? CONTAINER_OF(x, struct frame, xpacket) : NULL);
}

/* Returns the zone of 'frame'. */
static inline struct frame_zone *
frame_zone(const struct frame *frame)
{
    return CONTAINER_OF(frame->xpacket.mpool, struct frame_zone, hook);
}

/* Returns true if OVS holds so many frames of 'zone' that no more of them may
 * go there: packets are then copied into other memory (conntrack keeps
 * fragments, up to 5,000 of them).  Costs one load while that is not so.  Any
 * thread. */
static inline bool
frame_zone_is_crowded(struct frame_zone *zone)
{
    bool crowded;

    atomic_read_relaxed(&zone->crowded, &crowded);
    return OVS_UNLIKELY(crowded) && frame_zone_look(zone);
}

#endif /* frame-pool.h */
