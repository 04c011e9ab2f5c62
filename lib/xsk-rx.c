/* SPDX-License-Identifier: Apache-2.0 */

/* Receiving: rx ring to dp_packets, fill ring topped up behind them. */

#include <config.h>
#include "xsk.h"

#include <sched.h>
#include <sys/socket.h>

#include "checksum-finish.h"
#include "sat-math.h"
#include "timeval.h"
#include "xdp-layout.h"

/* Polls between two looks at what senders have left behind.  A PMD polls some
 * 100,000 times a second when it is busy and millions when it is idle, so it
 * looks every millisecond at least; after the first empty poll it looks at
 * once, since it may go to sleep.  One that sleeps between its polls looks at
 * the clock, too, while frames are under way (see look_after()). */
#define POLLS_PER_TX_POLL 64

/* Empty polls of a thread in a row, on all its queues, after which it lets
 * others have the CPU.  Where the driver's thread shares it, what the poller
 * waits for comes no sooner than that thread runs, and a poller that spins for
 * the rest of its time slice keeps it away for milliseconds, in which a
 * device's ring overflows.  Beside programs that compute, frames wait less
 * than without (Documentation/performance.md).  Where nobody waits for the
 * CPU it is a system call without effect, once in so many polls. */
#define POLLS_PER_YIELD 64

/* Overload.  A queue that never gets empty is as long as the ring is deep and
 * loses what is too much whatever its depth: depth only adds delay and takes
 * cache, for frames take turns, and of 2,048 that do less is in the cache than
 * of 256 (Documentation/performance.md).  So a ring keeps OVERLOAD_LEVEL
 * frames when no poll has found less than a burst while OVERLOAD_RINGFULS
 * times its depth went through it, and it is still nearly full.
 *
 * It gets its depth back, to ride out bursts and pauses, when OVERLOAD_LEVEL
 * frames have gone through without a full burst, or when SPARE_POLLS polls
 * found less than one meanwhile: a poll takes some 50 ns, a frame ten times
 * that, so the poller was idle for a tenth of the time or more.  Less would
 * not do: with its depth the queue is slower by that much. */
#define OVERLOAD_RINGFULS 8
#define OVERLOAD_LEVEL 256
#define SPARE_POLLS 512

/* Asks the driver to go on receiving, or, with busy polling, runs it.  Copy
 * mode never needs the former. */
static void
wake_rx(struct xsk *xsk)
{
    recvfrom(xsk->fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
    xsk_count(&xsk->rx_wakeups, 1);
}

/* Tops the fill ring up, so that it and the rx ring together hold 'n_level'
 * frames, at most as many as either has room for: neither can overflow.  What
 * is missing for want of free frames is made up for at a later call. */
void
xsk_refill(struct xsk *xsk)
{
    struct frame_zone *zone = xsk->zone;
    uint32_t indexes[FRAME_SLAB];
    uint32_t wanted, have;

    atomic_read_relaxed(&xsk->user.n_rx, &have);
    for (wanted = sat_sub(xsk->n_level, have); wanted; ) {
        uint32_t n = frame_alloc(zone, indexes, MIN(wanted, FRAME_SLAB));

        for (uint32_t i = 0; i < n; i++) {
            frame_move(frame_at(zone, indexes[i]), FRAME_FREE,
                       xsk->user.rx_place);
            xsk_ring_put_addr(&xsk->fill, i,
                              (uint64_t) indexes[i] << FRAME_SHIFT);
        }
        xsk_ring_submit(&xsk->fill, n);
        xsk_account(&xsk->user.n_rx, n);
        wanted -= n;
        if (n < FRAME_SLAB && wanted) {
            xsk_count(&xsk->rx_no_frame, 1);
            break;
        }
    }
}

/* Returns the data of the frame 'i' places on in the rx ring. */
static inline uint8_t *
frame_data(const struct xsk *xsk, uint32_t i)
{
    return xsk->zone->memory.base + xsk_ring_desc(&xsk->rx, i)->addr;
}

/* Takes over the hints in front of 'data', the data of 'packet', if the
 * program with 'cookie' wrote them, and spoils them: frames go from port to
 * port, and a program that writes none leaves old ones standing. */
static inline bool
accept_hints(struct dp_packet *packet, uint8_t *data, uint64_t cookie)
{
    struct xdp_hints hints;
    uint8_t *area = data - sizeof hints;

    memcpy(&hints.cookie, area, sizeof hints.cookie);
    if (hints.cookie != cookie) {
        return false;
    }
    memcpy(&hints, area, sizeof hints);
    memset(area, 0, sizeof hints.cookie);
    if (hints.flags & XDP_HINT_HASH) {
        dp_packet_set_rss_hash(packet, hints.hash);
    }
    return true;
}

/* Makes the dp_packet of the frame that 'addr' lies in one of 'len' bytes
 * from 'addr' on.  The members that the datapath sets itself before it reads
 * them (metadata, layer offsets) are left alone. */
static inline struct dp_packet *
init_packet(struct xsk *xsk, uint64_t addr, uint32_t len)
{
    uint32_t index = addr >> FRAME_SHIFT;
    struct frame *frame = frame_at(xsk->zone, index);
    struct dp_packet *packet = &frame->xpacket.packet;

    dp_packet_set_base(packet, frame_base(xsk->zone, index));
    dp_packet_set_allocated(packet, FRAME_SIZE);
    dp_packet_set_data(packet, xsk->zone->memory.base + addr);
    dp_packet_set_size(packet, len);
    dp_packet_reset_cutlen(packet);
    dp_packet_reset_offload(packet);
    packet->packet_type = htonl(PT_ETH);

    frame_move(frame, xsk->user.rx_place, FRAME_HELD);
    return packet;
}

/* Fetches, from inside a loop: the frame that is a burst behind the one 'I'
 * places on, with its hints if there are any, and the ring entry that is two
 * bursts behind it, of the 'N' frames that are known to be there.  The driver
 * wrote them on another core, and a line takes 100 cycles and more from there.
 * The frame goes to the second level of the cache, for the first has room for
 * eight to twelve: all frames begin at the same place in a page.
 *
 * A macro, since GCC 12 takes a function that only fetches for one without
 * effect, and leaves its calls out. */
#define PREFETCH_BEHIND(XSK, I, N, HINTS)                                   \
    do {                                                                    \
        if ((I) + 2 * NETDEV_MAX_BURST < (N)) {                             \
            OVS_PREFETCH(xsk_ring_desc(&(XSK)->rx,                          \
                                       (I) + 2 * NETDEV_MAX_BURST));        \
        }                                                                   \
        if ((I) + NETDEV_MAX_BURST < (N)) {                                 \
            const uint8_t *data__ = frame_data(XSK, (I) + NETDEV_MAX_BURST);\
                                                                            \
            __builtin_prefetch(data__, 0, 2);                               \
            if (HINTS) {                                                    \
                __builtin_prefetch(data__ - sizeof(struct xdp_hints), 0, 2);\
            }                                                               \
        }                                                                   \
    } while (0)

/* Empty polls of this thread since the last frame. */
static __thread uint32_t n_thread_idle_polls;

/* Called at an empty poll of any of the calling thread's queues. */
static inline void
yield_if_idle(void)
{
    if (!(++n_thread_idle_polls % POLLS_PER_YIELD)) {
        sched_yield();
    }
}

/* Makes up for frames that the fill ring lacks, and looks after those that
 * senders have left behind. */
static void
look_after(struct xsk *xsk)
{
    uint32_t n_rx;

    atomic_read_relaxed(&xsk->user.n_rx, &n_rx);
    if (OVS_UNLIKELY(n_rx < xsk->n_level)) {
        xsk_refill(xsk);
    }
    xsk_tx_poll(xsk);
    if (xsk_tx_is_under_way(xsk)) {
        xsk->looked_after = time_msec();
    }
}

static void
rx_idle(struct xsk *xsk)
{
    bool busy_poll;

    atomic_read_relaxed(&xsk->busy_poll.on, &busy_poll);
    if (OVS_UNLIKELY(busy_poll || xsk_ring_needs_wakeup(&xsk->fill))) {
        wake_rx(xsk);
    }
    if (!(xsk->n_idle_polls++ % POLLS_PER_TX_POLL)
        || (xsk_tx_is_under_way(xsk) && time_msec() > xsk->looked_after)) {
        look_after(xsk);
    }
    yield_if_idle();
}

/* Notices the beginning of overload from the 'n' frames of a poll. */
static inline void
watch_for_overload(struct xsk *xsk, uint32_t n)
{
    struct rx_load *load = &xsk->load;

    load->n_frames = n < NETDEV_MAX_BURST ? 0 : load->n_frames + n;
    if (OVS_UNLIKELY(load->n_frames >= OVERLOAD_RINGFULS * xsk->n_rx_desc)) {
        uint32_t nearly_full = xsk->n_level - xsk->n_level / 8;

        *load = (struct rx_load) { 0, 0, 0 };
        if (xsk->n_level > OVERLOAD_LEVEL
            && xsk_ring_available(&xsk->rx, nearly_full) == nearly_full) {
            xsk->n_level = OVERLOAD_LEVEL;
            xsk_count(&xsk->rx_overloads, 1);
        }
    }
}

/* Notices the end of overload, likewise. */
static void
watch_for_relief(struct xsk *xsk, uint32_t n)
{
    struct rx_load *load = &xsk->load;

    load->n_frames += n;
    if (n < NETDEV_MAX_BURST) {
        load->n_small++;
    } else {
        load->n_full++;
    }
    if (load->n_small >= SPARE_POLLS || load->n_frames >= OVERLOAD_LEVEL) {
        if (load->n_small >= SPARE_POLLS || !load->n_full) {
            xsk->n_level = xsk->n_rx_desc;
        }
        *load = (struct rx_load) { 0, 0, 0 };
    }
}

static inline void
watch_load(struct xsk *xsk, uint32_t n)
{
    if (OVS_LIKELY(xsk->n_level == xsk->n_rx_desc)) {
        watch_for_overload(xsk, n);
    } else {
        watch_for_relief(xsk, n);
    }
}

/* Puts copies in other memory in the place of the packets of 'batch', and
 * gives their frames back. */
static void
copy_out(struct xsk *xsk, struct dp_packet_batch *batch)
{
    struct dp_packet *packet;

    DP_PACKET_BATCH_FOR_EACH (i, packet, batch) {
        batch->packets[i] = dp_packet_clone_with_headroom(packet,
                                                          FRAME_RX_OFFSET);
        dp_packet_delete(packet);
    }
    xsk_count(&xsk->rx_copied, dp_packet_batch_size(batch));
}

/* Receives up to NETDEV_MAX_BURST frames from 'xsk' into the empty 'batch',
 * which may stay empty.  The queue's poller. */
void
xsk_rx(struct xsk *xsk, struct dp_packet_batch *batch)
{
    uint32_t n = xsk_ring_available(&xsk->rx, NETDEV_MAX_BURST);
    uint32_t n_there = xsk->rx.seen - xsk->rx.local;
    uint32_t n_hints = 0;
    uint64_t cookie;

    watch_load(xsk, n);
    if (!n) {
        rx_idle(xsk);
        return;
    }
    atomic_read_relaxed(&xsk->cookie, &cookie);
    xsk->n_idle_polls = 0;
    n_thread_idle_polls = 0;
    if (!(++xsk->n_busy_polls % POLLS_PER_TX_POLL)) {
        xsk_tx_poll(xsk);
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct xdp_desc *desc = xsk_ring_desc(&xsk->rx, i);
        struct dp_packet *packet = init_packet(xsk, desc->addr, desc->len);

        PREFETCH_BEHIND(xsk, i, n_there, cookie);
        if (cookie) {
            n_hints += accept_hints(packet, frame_data(xsk, i), cookie);
        }
        batch->packets[i] = packet;
    }
    batch->count = n;
    xsk_ring_release(&xsk->rx, n);
    /* For the next poll; the line comes while the fill ring is topped up. */
    xsk_ring_available(&xsk->rx, 2 * NETDEV_MAX_BURST);
    frame_count_held(xsk->zone, n);
    xsk_account(&xsk->user.n_rx, -n);
    xsk_count(&xsk->rx_packets, n);
    xsk_count(&xsk->rx_batches, 1);
    xsk_count(&xsk->rx_hints, n_hints);
    if (xsk->checksums) {
        xsk_count(&xsk->rx_checksums, checksum_finish_batch(batch));
    }
    if (frame_zone_is_crowded(xsk->zone)) {
        copy_out(xsk, batch);
    }

    xsk_refill(xsk);
    if (OVS_UNLIKELY(xsk_ring_needs_wakeup(&xsk->fill))) {
        /* Without the barrier: should the flag be missed, the next poll, of a
         * ring that is then empty, finds it. */
        wake_rx(xsk);
    }
}
