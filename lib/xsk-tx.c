/* SPDX-License-Identifier: Apache-2.0 */

/* Sending: dp_packets to the tx ring, completed frames back to the pool, and
 * kicks, the system calls that make the kernel send. */

#include <config.h>
#include "xsk.h"

#include <sys/socket.h>

#include "bitmap.h"
#include "ovs-compat.h"
#include "packets.h"

/* What one system call sends in copy mode before Linux 5.17, where it cannot
 * be raised. */
#define MIN_FRAMES_PER_KICK 16

/* How long, in milliseconds, xsk_tx_drain() waits for the kernel to be done
 * with frames that it still sends from.  A frame that a peer's slow reader
 * keeps for longer is taken back all the same. */
#define DRAIN_MS 10

/* Takes back the frames that were sent. */
static void
reap(struct xsk *xsk)
    OVS_REQUIRES(xsk->tx_lock)
{
    uint32_t n;

    do {
        uint32_t indexes[FRAME_SLAB];

        n = xsk_ring_available(&xsk->completion, FRAME_SLAB);
        for (uint32_t i = 0; i < n; i++) {
            indexes[i] = xsk_ring_take_addr(&xsk->completion) >> FRAME_SHIFT;
            frame_move(xsk->zone, indexes[i], FRAME_TX, FRAME_FREE);
            bitmap_set0(xsk->tx_frames, indexes[i]);
        }
        if (n) {
            xsk_ring_release(&xsk->completion);
            xsk_account(&xsk->user.n_tx, -n);
            frame_free(xsk->zone, indexes, n);
        }
    } while (n == FRAME_SLAB);
}

/* Makes the kernel send what is in the tx ring.  A call moves a bounded
 * number of frames and says EAGAIN when more are left, so calls go on while
 * they get somewhere; a device that takes nothing now is left alone. */
static void
kick(struct xsk *xsk)
    OVS_REQUIRES(xsk->tx_lock)
{
    uint32_t left = xsk_ring_pending(&xsk->tx);
    uint32_t max_kicks = left / MIN_FRAMES_PER_KICK + 1;

    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; left && i < max_kicks; i++) {
        uint32_t before = left;

        if (!xsk_ring_needs_wakeup(&xsk->tx)) {
            break;
        }
        sendto(xsk->fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
        xsk_count(&xsk->tx_kicks, 1);
        left = xsk_ring_pending(&xsk->tx);
        if (left == before) {
            break;
        }
    }
}

/* Returns how many frames may still be handed over, up to 'n'.  Frames stay
 * counted until they are completed, so that the completion ring, which is as
 * large as the tx ring, cannot overflow. */
static uint32_t
tx_room(struct xsk *xsk, uint32_t n)
    OVS_REQUIRES(xsk->tx_lock)
{
    uint32_t used;

    reap(xsk);
    atomic_read_relaxed(&xsk->user.n_tx, &used);
    if (xsk_ring_size(&xsk->tx) - used < n) {
        kick(xsk);
        reap(xsk);
        atomic_read_relaxed(&xsk->user.n_tx, &used);
    }
    return MIN(n, xsk_ring_size(&xsk->tx) - used);
}

/* Copies 'packet' into a frame of the zone.  Returns true and stores the
 * frame in '*indexp', or returns false if there is none. */
static bool
copy_in(struct xsk *xsk, const struct dp_packet *packet, uint32_t *indexp)
    OVS_REQUIRES(xsk->tx_lock)
{
    if (!frame_alloc(xsk->zone, indexp, 1)) {
        return false;
    }
    memcpy(frame_base(xsk->zone, *indexp) + FRAME_RX_OFFSET,
           dp_packet_data(packet), dp_packet_size(packet));
    frame_move(xsk->zone, *indexp, FRAME_FREE, FRAME_TX);
    xsk_count(&xsk->tx_copied, 1);
    return true;
}

/* Returns true if the data of 'packet' is in 'frame' and that in our zone,
 * and not in memory that dp_packet_resize() has moved it to. */
static bool
can_send_in_place(const struct xsk *xsk, const struct frame *frame,
                  const struct dp_packet *packet)
{
    return (frame && frame_zone(frame) == xsk->zone
            && dp_packet_base(packet) == frame_base(xsk->zone, frame->index));
}

/* Puts 'packet' in the tx ring, which has room for it.  Takes ownership. */
static void
put_packet(struct xsk *xsk, struct dp_packet *packet)
    OVS_REQUIRES(xsk->tx_lock)
{
    const struct frame *frame = frame_from_packet(packet);
    uint32_t len = dp_packet_size(packet);
    uint32_t ofs, index;

    if (can_send_in_place(xsk, frame, packet)) {
        index = frame->index;
        ofs = ((uint8_t *) dp_packet_data(packet)
               - frame_base(xsk->zone, index));
        frame_move(xsk->zone, index, FRAME_HELD, FRAME_TX);
        frame_count_held(xsk->zone, -1);
    } else {
        bool copied = copy_in(xsk, packet, &index);

        ofs = FRAME_RX_OFFSET;
        dp_packet_delete(packet);
        if (!copied) {
            xsk_count(&xsk->tx_no_frame, 1);
            return;
        }
    }
    bitmap_set1(xsk->tx_frames, index);
    xsk_ring_put_desc(&xsk->tx, ((uint64_t) index << FRAME_SHIFT) + ofs, len);
    xsk_account(&xsk->user.n_tx, 1);
    xsk_count(&xsk->tx_packets, 1);
}

/* Returns the counter for a packet of 'len' bytes that must not be sent, NULL
 * if it may.  The kernel skips an invalid descriptor and never completes it:
 * the frame would be lost. */
static xsk_counter *
refuse_length(struct xsk *xsk, uint32_t len)
{
    return (len > FRAME_MAX_LEN ? &xsk->tx_too_long
            : len < ETH_HEADER_LEN ? &xsk->tx_too_short
            : NULL);
}

/* Sends the packets of 'batch', of any number, through 'xsk', in order, and
 * leaves it empty.  What cannot be sent is dropped and counted.  Any
 * thread. */
void
xsk_tx(struct xsk *xsk, struct dp_packet_batch *batch)
{
    struct dp_packet *packet;
    uint32_t room;

    ovs_mutex_lock(&xsk->tx_lock);
    room = tx_room(xsk, dp_packet_batch_size(batch));
    DP_PACKET_BATCH_FOR_EACH (i, packet, batch) {
        xsk_counter *refused = refuse_length(xsk, dp_packet_size(packet));

        if (OVS_UNLIKELY(refused || !room)) {
            xsk_count(refused ? refused : &xsk->tx_ring_full, 1);
            dp_packet_delete(packet);
        } else {
            put_packet(xsk, packet);
            room--;
        }
    }
    xsk_ring_submit(&xsk->tx);
    kick(xsk);
    ovs_mutex_unlock(&xsk->tx_lock);
    batch_forget(batch);
}

/* Looks after what earlier calls of xsk_tx() have left behind, unless someone
 * is sending.  Any thread. */
void
xsk_tx_poll(struct xsk *xsk)
{
    uint32_t n_tx;

    atomic_read_relaxed(&xsk->user.n_tx, &n_tx);
    if (n_tx && !ovs_mutex_trylock(&xsk->tx_lock)) {
        kick(xsk);
        reap(xsk);
        ovs_mutex_unlock(&xsk->tx_lock);
    }
}

/* Waits, within bounds, until the kernel has no frame of ours to send from,
 * since whoever got it by reference would see it change.  Main thread, while
 * nobody sends. */
void
xsk_tx_drain(struct xsk *xsk)
{
    for (int i = 0; i < DRAIN_MS; i++) {
        uint32_t n_tx;

        xsk_tx_poll(xsk);
        atomic_read_relaxed(&xsk->user.n_tx, &n_tx);
        if (!n_tx) {
            break;
        }
        xnanosleep_no_quiesce(1000 * 1000);
    }
}
