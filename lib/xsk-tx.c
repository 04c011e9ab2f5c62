/* SPDX-License-Identifier: Apache-2.0 */

/* Sending: dp_packets to the tx ring, completed frames back to the pool, and
 * kicks, the system calls that make the kernel send.
 *
 * Many threads may send on one socket.  Each makes its packets into frames on
 * its own; then the one that gets the tx lock puts them in the ring and
 * kicks, and whoever does not get it leaves them for that one (tx-handover.h)
 * and goes on: nobody waits for another's system call.  The frames of a
 * thread stay in order: what lies in the handover goes first, and as long as
 * something is left there, later frames go behind it. */

#include <config.h>
#include "xsk.h"

#include <errno.h>
#include <sys/socket.h>

#include "ovs-compat.h"
#include "packets.h"
#include "sat-math.h"

/* What one system call sends in copy mode before Linux 5.17, where it cannot
 * be raised. */
#define MIN_FRAMES_PER_KICK 16

/* How often a thread that has sent its own frames looks for those that others
 * have left meanwhile.  Bounded, or a thread could be kept from its own queues
 * by another that sends all the time; that one gets the lock then. */
#define MAX_HANDOVER_ROUNDS 2

/* Packets that are sent with one lock and one kick.  OVS 3.x sends at most a
 * burst at once, OVS 4.0 now and then several. */
#define MAX_SEND (4 * NETDEV_MAX_BURST)

/* How many frames a sender leaves in the rings when it takes back those that
 * were sent.  What has been sent long ago can be read without waiting for the
 * core that the driver runs on; more would only take cache. */
#define REAP_LEVEL (2 * FRAME_SLAB)

/* How long, in milliseconds, xsk_tx_drain() waits for the kernel to be done
 * with frames that it still sends from.  A frame that a peer's slow reader
 * keeps for longer is taken back all the same. */
#define DRAIN_MS 10

/* The tx ring and the kernel: under the tx lock. */

/* Fetches what reap_slab() will read.  A macro, since GCC 12 takes a function
 * that only fetches for one without effect, and leaves its calls out. */
#define PREFETCH_COMPLETIONS(XSK)                                           \
    do {                                                                    \
        OVS_PREFETCH((XSK)->completion.theirs);                             \
        for (uint32_t i__ = 0; i__ < FRAME_SLAB;                            \
             i__ += CACHE_LINE_SIZE / sizeof(uint64_t)) {                   \
            OVS_PREFETCH(xsk_ring_addr(&(XSK)->completion, i__));           \
        }                                                                   \
    } while (0)

/* Takes back up to a slab of the frames that were sent.  Returns how many. */
static uint32_t
reap_slab(struct xsk *xsk)
{
    uint32_t n = xsk_ring_available(&xsk->completion, FRAME_SLAB);
    uint32_t indexes[FRAME_SLAB];

    for (uint32_t i = 0; i < n; i++) {
        indexes[i] = *xsk_ring_addr(&xsk->completion, i) >> FRAME_SHIFT;
        frame_move(frame_at(xsk->zone, indexes[i]), xsk->user.tx_place,
                   FRAME_FREE);
    }
    if (n) {
        xsk_account(&xsk->user.n_tx, -n);
        xsk_ring_release(&xsk->completion, n);
        frame_free(xsk->zone, indexes, n);
    }
    return n;
}

/* Takes back all frames that were sent. */
static void
reap(struct xsk *xsk)
{
    while (reap_slab(xsk) == FRAME_SLAB) {
        continue;
    }
}

/* Makes the kernel send what is in the tx ring, if it asks for that.  A call
 * moves a bounded number of frames and says EAGAIN when more are left, so
 * calls go on while they get somewhere; a device that takes nothing now is
 * left alone.  Returns false if the kernel did not ask: that it asks since
 * before the last frames were put there shows only behind a full barrier. */
static bool
kick(struct xsk *xsk)
{
    uint32_t left, max_kicks;

    if (!xsk_ring_needs_wakeup(&xsk->tx)) {
        return false;
    }
    left = xsk_ring_pending(&xsk->tx);
    max_kicks = left / MIN_FRAMES_PER_KICK + 1;
    for (uint32_t i = 0; left && i < max_kicks; i++) {
        uint32_t before = left;

        sendto(xsk->fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
        xsk_count(&xsk->tx_kicks, 1);
        left = xsk_ring_pending(&xsk->tx);
        if (left == before || !xsk_ring_needs_wakeup(&xsk->tx)) {
            break;
        }
    }
    return true;
}

static uint32_t
n_in_rings(const struct xsk *xsk)
{
    uint32_t n_tx;

    atomic_read_relaxed(&CONST_CAST(struct xsk *, xsk)->user.n_tx, &n_tx);
    return n_tx;
}

/* Takes back some of the frames that were sent long ago.  To be called between
 * filling the tx ring and releasing the lock: the release waits until the
 * driver's core has given away the lines of the ring, and meanwhile those of
 * the completion ring come from there. */
static void
reap_old(struct xsk *xsk)
{
    if (n_in_rings(xsk) >= REAP_LEVEL) {
        reap_slab(xsk);
    }
}

/* Returns how many frames may still be handed over, up to 'n'.  Frames stay
 * counted until they are completed, so that the completion ring, which is as
 * large as the tx ring, cannot overflow. */
static uint32_t
tx_room(struct xsk *xsk, uint32_t n)
{
    uint32_t size = xsk_ring_size(&xsk->tx);

    if (size - n_in_rings(xsk) < n) {
        reap(xsk);
    }
    if (size - n_in_rings(xsk) < n) {
        kick(xsk);
        reap(xsk);
    }
    return MIN(n, size - n_in_rings(xsk));
}

/* Puts 'n' frames in the tx ring, which has room for them. */
static void
put_frames(struct xsk *xsk, const struct tx_frame *frames, uint32_t n)
{
    PREFETCH_COMPLETIONS(xsk);
    for (uint32_t i = 0; i < n; i++) {
        xsk_ring_put_desc(&xsk->tx, i, frames[i].addr, frames[i].len);
    }
    xsk_ring_submit(&xsk->tx, n);
    xsk_account(&xsk->user.n_tx, n);
    xsk_count(&xsk->tx_packets, n);
}

/* The handover. */

/* Frees 'n' frames that could not be sent. */
static void
drop_frames(struct xsk *xsk, const struct tx_frame *frames, uint32_t n)
{
    uint64_t orig;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t index = frames[i].addr >> FRAME_SHIFT;

        frame_move(frame_at(xsk->zone, index), xsk->user.tx_place,
                   FRAME_FREE);
        frame_free(xsk->zone, &index, 1);
    }
    atomic_add_relaxed(&xsk->tx_ring_full, n, &orig);
}

/* Leaves 'n' frames for the holder of the tx lock, and drops those that there
 * is no room for: what is left and what the kernel has are together no more
 * than the tx ring takes, or a port that sends nothing any more would keep
 * frames that its zone has promised to others.  Sees too few rather than too
 * many of them while the holder is at work.  Any thread. */
static void
leave_frames(struct xsk *xsk, const struct tx_frame *frames, uint32_t n)
{
    uint32_t n_done = xsk_ring_waiting(&xsk->completion);
    uint32_t n_tx, n_left, left;
    uint64_t orig;

    atomic_read_relaxed(&xsk->user.n_tx, &n_tx);
    atomic_add_relaxed(&xsk->user.n_left, n, &n_left);
    left = MIN(n, sat_sub(xsk_ring_size(&xsk->tx),
                          sat_sub(n_tx, n_done) + n_left));
    left = tx_handover_put(&xsk->handover, frames, left);
    atomic_add_relaxed(&xsk->tx_handed_over, left, &orig);
    if (OVS_UNLIKELY(left < n)) {
        atomic_sub_relaxed(&xsk->user.n_left, n - left, &n_left);
        drop_frames(xsk, &frames[left], n - left);
    }
}

/* Takes up to 'n' of the frames that others have left. */
static uint32_t
take_frames(struct xsk *xsk, struct tx_frame *frames, uint32_t n)
{
    uint32_t taken = tx_handover_take(&xsk->handover, frames, n);
    uint32_t n_left;

    atomic_sub_relaxed(&xsk->user.n_left, taken, &n_left);
    return taken;
}

/* Moves what others have left into the tx ring, as far as there is room.
 * Returns true if nothing is left. */
static bool
collect_frames(struct xsk *xsk)
{
    while (tx_handover_count(&xsk->handover)) {
        struct tx_frame frames[NETDEV_MAX_BURST];
        uint32_t n = tx_room(xsk, NETDEV_MAX_BURST);

        n = take_frames(xsk, frames, n);
        if (!n) {
            return false;
        }
        put_frames(xsk, frames, n);
    }
    return true;
}

/* Puts what others have left into the tx ring, and makes the kernel send.
 * Returns as kick() does. */
static bool
send_left(struct xsk *xsk)
{
    collect_frames(xsk);
    return kick(xsk);
}

/* Looks, after this thread has released the tx lock or not got it, whether
 * something is left to do: frames that others left meanwhile, or, unless
 * 'asked', a kernel that asks to be woken by now.  Each thread leaves its
 * frames before it tries the lock in vain, and each holder looks after the
 * release: one of them sees the other (try-lock.h). */
static void
serve_others(struct xsk *xsk, bool asked)
{
    for (int i = 0; i < MAX_HANDOVER_ROUNDS; i++) {
        if ((!tx_handover_count(&xsk->handover)
             && (asked || !xsk_ring_needs_wakeup(&xsk->tx)))
            || !try_lock_take(&xsk->tx_lock)) {
            break;
        }
        asked = send_left(xsk);
        try_lock_release(&xsk->tx_lock);
    }
}

/* Sends 'n' frames or leaves them with whoever is sending. */
static void
send_frames(struct xsk *xsk, const struct tx_frame *frames, uint32_t n)
{
    bool asked = true;

    if (!try_lock_take(&xsk->tx_lock)) {
        leave_frames(xsk, frames, n);
    } else {
        if (OVS_LIKELY(collect_frames(xsk))) {
            uint32_t room = tx_room(xsk, n);

            put_frames(xsk, frames, room);
            if (OVS_UNLIKELY(room < n)) {
                drop_frames(xsk, &frames[room], n - room);
            }
        } else {
            leave_frames(xsk, frames, n);
        }
        asked = kick(xsk);
        reap_old(xsk);
        try_lock_release(&xsk->tx_lock);
    }
    serve_others(xsk, asked);
}

/* Packets to frames: any thread, on its own. */

/* Returns the counter for a packet of 'len' bytes that must not be sent, NULL
 * if it may.  The kernel skips an invalid descriptor and never completes it:
 * the frame would be lost. */
static xsk_counter *
refuse_length(struct xsk *xsk, uint32_t len)
{
    uint32_t max_len;

    atomic_read_relaxed(&xsk->max_tx_len, &max_len);
    return (len > max_len ? &xsk->tx_too_long
            : len < ETH_HEADER_LEN ? &xsk->tx_too_short
            : NULL);
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

/* Reads the 'len' bytes at 'data' ahead of the kernel, which is about to copy
 * them ("rep movsb" on x86-64): that waits for each cache line which another
 * core wrote in turn, and these loads for all of them at once.  Of the first
 * line, which the datapath has read in part before, only loads of all its
 * words help.  Documentation/performance.md has the figures. */
static void
fetch_for_copying(const void *data, uint32_t len)
{
    uintptr_t line = ROUND_DOWN((uintptr_t) data, CACHE_LINE_SIZE);
    uintptr_t end = (uintptr_t) data + len;
    const volatile uint64_t *words = (const volatile uint64_t *) line;

    for (size_t i = 0; i < CACHE_LINE_SIZE / sizeof *words; i++) {
        (void) words[i];
    }
    while ((line += CACHE_LINE_SIZE) < end) {
        (void) *(const volatile uint64_t *) line;
    }
}

/* Copies 'packet', of another owner, into a frame of the zone.  Returns false
 * if there is none. */
static bool
copy_in(struct xsk *xsk, struct dp_packet *packet, struct tx_frame *out)
{
    xsk_counter *counter = &xsk->tx_no_frame;
    uint32_t index;
    uint64_t orig;

    if (frame_alloc(xsk->zone, &index, 1)) {
        frame_move(frame_at(xsk->zone, index), FRAME_FREE,
                   xsk->user.tx_place);
        out->addr = ((uint64_t) index << FRAME_SHIFT) + FRAME_RX_OFFSET;
        out->len = dp_packet_size(packet);
        memcpy(xsk->zone->memory.base + out->addr, dp_packet_data(packet),
               out->len);
        counter = &xsk->tx_copied;
    }
    atomic_add_relaxed(counter, 1, &orig);
    dp_packet_delete(packet);
    return counter == &xsk->tx_copied;
}

/* Makes the 'n' 'packets' into frames, in order; those that cannot be sent
 * are dropped and counted.  Returns how many frames there are. */
static uint32_t
make_frames(struct xsk *xsk, struct dp_packet *const packets[], uint32_t n,
            struct tx_frame frames[])
{
    uint32_t n_frames = 0;
    int n_in_place = 0;

    for (uint32_t i = 0; i < n; i++) {
        struct dp_packet *packet = packets[i];
        struct frame *frame = frame_from_packet(packet);
        uint32_t len = dp_packet_size(packet);
        xsk_counter *refused = refuse_length(xsk, len);

        if (OVS_UNLIKELY(refused)) {
            uint64_t orig;

            atomic_add_relaxed(refused, 1, &orig);
            dp_packet_delete(packet);
        } else if (OVS_LIKELY(can_send_in_place(xsk, frame, packet))) {
            frame_move(frame, FRAME_HELD, xsk->user.tx_place);
            frames[n_frames].addr = ((uint8_t *) dp_packet_data(packet)
                                     - xsk->zone->memory.base);
            frames[n_frames++].len = len;
            n_in_place++;
            if (xsk->copy_mode == XSK_COPY) {
                fetch_for_copying(dp_packet_data(packet), len);
            }
        } else {
            n_frames += copy_in(xsk, packet, &frames[n_frames]);
        }
    }
    if (n_in_place) {
        frame_count_held(xsk->zone, -n_in_place);
    }
    return n_frames;
}

/* Sends the packets of 'batch', of any number, through 'xsk', in order, and
 * leaves it empty.  What cannot be sent is dropped and counted.  Any
 * thread. */
void
xsk_tx(struct xsk *xsk, struct dp_packet_batch *batch)
{
    struct dp_packet **packets = batch->packets;
    size_t n = dp_packet_batch_size(batch);

    for (size_t i = 0; i < n; i += MAX_SEND) {
        struct tx_frame frames[MAX_SEND];
        uint32_t n_frames = make_frames(xsk, &packets[i],
                                        MIN(n - i, MAX_SEND), frames);

        if (n_frames) {
            send_frames(xsk, frames, n_frames);
        }
    }
    batch_forget(batch);
}

/* Returns true if frames have not come back yet, from the kernel or from who
 * was to send them.  Any thread. */
bool
xsk_tx_is_under_way(const struct xsk *xsk)
{
    uint32_t n_left;

    atomic_read_relaxed(&CONST_CAST(struct xsk *, xsk)->user.n_left, &n_left);
    return n_left || n_in_rings(xsk);
}

/* Looks after what earlier calls of xsk_tx() have left behind, unless someone
 * is sending.  Any thread. */
void
xsk_tx_poll(struct xsk *xsk)
{
    if (xsk_tx_is_under_way(xsk) && try_lock_take(&xsk->tx_lock)) {
        send_left(xsk);
        reap(xsk);
        try_lock_release(&xsk->tx_lock);
    }
}

/* Waits, within bounds, until the kernel has no frame of ours to send from,
 * since whoever got it by reference would see it change; frees what is still
 * in the handover then.  Main thread, while nobody sends. */
void
xsk_tx_drain(struct xsk *xsk)
{
    struct tx_frame frame;

    for (int i = 0; i < DRAIN_MS; i++) {
        xsk_tx_poll(xsk);
        if (!n_in_rings(xsk)) {
            break;
        }
        xnanosleep_no_quiesce(1000 * 1000);
    }
    while (take_frames(xsk, &frame, 1)) {
        drop_frames(xsk, &frame, 1);
    }
}
