/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "pool-model.h"

#include <errno.h>
#include <pthread.h>

#include "xsk.h"

#ifdef UNIT_LOSE_ONE_IN
/* One frame in so many is lost on its way back to the pool. */
static atomic_uint64_t n_given_back;
#endif

/* Whether somebody in the model has the frame.  The model uses few zones. */
#define MAX_ZONES 8
static atomic_bool owned[MAX_ZONES][FRAME_ZONE_MAX];

/* Packets that OVS holds, by the model. */
static atomic_int64_t n_held[MAX_ZONES];

static pthread_mutex_t mailbox_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct dp_packet *mailbox[MODEL_MAX_MAIL];
static uint32_t n_mailbox;

/* Notes that the frame has an owner from now on, or has none. */
static void
set_owned(const struct frame_zone *zone, uint32_t index, bool value)
{
    if (index >= zone->n_frames) {
        unit_fail(OVS_SOURCE_LOCATOR, "zone %u gave frame %u of %u", zone->id,
                  index, zone->n_frames);
    } else if (atomic_exchange(&owned[zone->id][index], value) == value) {
        unit_fail(OVS_SOURCE_LOCATOR, "frame %u of zone %u %s", index,
                  zone->id, value ? "was given out twice"
                  : "was given back twice");
    }
}

static void
add_held(const struct frame_zone *zone, int delta)
{
    int64_t orig;

    atomic_add_relaxed(&n_held[zone->id], delta, &orig);
}

/* Gives frames back as frame_free() does, or, in a build with that fault,
 * loses one of them. */
static void
give_back(struct frame_zone *zone, const uint32_t *indexes, uint32_t n)
{
#ifdef UNIT_LOSE_ONE_IN
    uint64_t before;

    atomic_add_relaxed(&n_given_back, n, &before);
    if (before / UNIT_LOSE_ONE_IN != (before + n) / UNIT_LOSE_ONE_IN) {
        n--;
    }
#endif
    frame_free(zone, indexes, n);
}

/* Takes up to 'n' of the zone's frames to 'indexes'. */
static uint32_t
take(struct frame_zone *zone, uint32_t *indexes, uint32_t n,
     frame_place to)
{
    uint32_t got = frame_alloc(zone, indexes, n);

    for (uint32_t i = 0; i < got; i++) {
        set_owned(zone, indexes[i], true);
        frame_move(frame_at(zone, indexes[i]), FRAME_FREE, to);
    }
    return got;
}

/* Gives up to 'n' of the frames on 'stack' back to the pool. */
static void
give(struct frame_zone *zone, struct model_stack *stack, uint32_t n,
     frame_place from)
{
    uint32_t *indexes;

    n = MIN(n, stack->n);
    stack->n -= n;
    indexes = &stack->indexes[stack->n];
    for (uint32_t i = 0; i < n; i++) {
        frame_move(frame_at(zone, indexes[i]), from, FRAME_FREE);
        set_owned(zone, indexes[i], false);
    }
    give_back(zone, indexes, n);
}

/* Frees a packet as all of OVS does. */
static void
delete_packet(struct dp_packet *packet)
{
    struct frame *frame = frame_from_packet(packet);

    /* Nobody may look at the frame once it is freed. */
    add_held(frame_zone(frame), -1);
    set_owned(frame_zone(frame), frame->index, false);
    dp_packet_delete(packet);
}

/* Leaves 'packet' to whoever comes for it. */
static void
mail(struct dp_packet *packet)
{
    pthread_mutex_lock(&mailbox_mutex);
    if (n_mailbox < MODEL_MAX_MAIL) {
        mailbox[n_mailbox++] = packet;
        packet = NULL;
    }
    pthread_mutex_unlock(&mailbox_mutex);
    if (packet) {
        delete_packet(packet);
    }
}

static struct dp_packet *
take_mail(void)
{
    struct dp_packet *packet;

    pthread_mutex_lock(&mailbox_mutex);
    packet = n_mailbox ? mailbox[--n_mailbox] : NULL;
    pthread_mutex_unlock(&mailbox_mutex);
    return packet;
}

/* What happens to frames: one function each. */

/* Frames to the fill ring. */
static void
step_fill(struct model_queue *q, uint32_t n)
{
    n = take(q->zone, &q->rx.indexes[q->rx.n], MIN(n, q->rx.max - q->rx.n),
             q->user.rx_place);
    q->rx.n += n;
    xsk_account(&q->user.n_rx, n);
}

/* Frames from the rx ring to OVS. */
static void
step_receive(struct model_queue *q, uint32_t n)
{
    n = MIN(MIN(n, q->rx.n), MODEL_MAX_HELD - q->n_held);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t index = q->rx.indexes[--q->rx.n];
        struct dp_packet *packet = &q->zone->frames[index].xpacket.packet;

        dp_packet_set_base(packet, frame_base(q->zone, index));
        dp_packet_set_allocated(packet, FRAME_SIZE);
        dp_packet_set_data(packet,
                           frame_base(q->zone, index) + FRAME_RX_OFFSET);
        dp_packet_set_size(packet, 60);
        frame_move(frame_at(q->zone, index), q->user.rx_place, FRAME_HELD);
        q->held[q->n_held++] = packet;
    }
    frame_count_held(q->zone, n);
    add_held(q->zone, n);
    xsk_account(&q->user.n_rx, -n);
}

/* A packet from OVS to the tx ring: in place, or copied where it has been
 * moved out of its frame or comes from another zone. */
static void
send_one(struct model_queue *q)
{
    struct dp_packet *packet;
    struct frame *frame;
    uint32_t index;

    if (!q->n_held || q->tx.n == q->tx.max) {
        return;
    }
    packet = q->held[--q->n_held];
    frame = frame_from_packet(packet);
    index = frame->index;
    if (frame_zone(frame) == q->zone
        && dp_packet_base(packet) == frame_base(q->zone, index)) {
        frame_move(frame_at(q->zone, index), FRAME_HELD, q->user.tx_place);
        frame_count_held(q->zone, -1);
        add_held(q->zone, -1);
    } else {
        bool copied = take(q->zone, &index, 1, q->user.tx_place);

        delete_packet(packet);
        if (!copied) {
            return;
        }
    }
    q->tx.indexes[q->tx.n++] = index;
    xsk_account(&q->user.n_tx, 1);
}

static void
step_send(struct model_queue *q, uint32_t n)
{
    while (n--) {
        send_one(q);
    }
}

/* Frames from the completion ring. */
static void
step_complete(struct model_queue *q, uint32_t n)
{
    n = MIN(n, q->tx.n);
    give(q->zone, &q->tx, n, q->user.tx_place);
    xsk_account(&q->user.n_tx, -n);
}

/* A header is pushed that no frame has room for, once or twice. */
static void
step_resize(struct model_queue *q)
{
    if (q->n_held) {
        struct dp_packet *packet = q->held[q->n_held - 1];
        uint8_t *header = dp_packet_push_zeros(packet, 600);

        header[0] = 1;
        dp_packet_push_zeros(packet, unit_random(&q->random, 2) * 600);
    }
}

/* A packet to another thread, and one from there. */
static void
step_exchange(struct model_queue *q)
{
    if (q->n_held) {
        mail(q->held[--q->n_held]);
    }
    if (unit_random(&q->random, 8)) {
        struct dp_packet *packet = take_mail();

        if (packet) {
            q->held[q->n_held++] = packet;
        }
    }
}

/* Packets that OVS drops. */
static void
step_drop(struct model_queue *q, uint32_t n)
{
    while (n-- && q->n_held) {
        delete_packet(q->held[--q->n_held]);
    }
}

/* Lets something happen to frames of 'q', or to one that it got from
 * another.  The queue's thread. */
void
model_step(struct model_queue *q)
{
    uint32_t dice = unit_random(&q->random, 64);
    uint32_t n = unit_random(&q->random, 16) ? 1 : NETDEV_MAX_BURST;

    /* For some time a queue takes more than it passes on, and then less, so
     * that the pool is full at one time and empty at another. */
    bool greedy = q->n_steps++ / 8192 % 2;

    if (dice < (greedy ? 22 : 8)) {
        step_fill(q, n);
    } else if (dice < 30) {
        step_receive(q, n);
    } else if (dice < 38) {
        step_send(q, n);
    } else if (dice < 46) {
        step_complete(q, n);
    } else if (dice < 54) {
        step_drop(q, n);
    } else if (dice < 63) {
        step_exchange(q);
    } else {
        step_resize(q);
    }
}

/* Main thread from here on. */

/* Resets the model's books; everything that it had has been given back. */
void
model_init(void)
{
    ovs_assert(!n_mailbox);
    for (size_t i = 0; i < MAX_ZONES; i++) {
        atomic_init(&n_held[i], 0);
        for (size_t j = 0; j < FRAME_ZONE_MAX; j++) {
            atomic_init(&owned[i][j], false);
        }
    }
}

static void
stack_init(struct model_stack *stack, uint32_t max)
{
    stack->n = 0;
    stack->max = max;
    stack->indexes = xmalloc(max * sizeof *stack->indexes);
}

/* Opens a queue in a zone of 'node', with nothing in its rings. */
void
model_queue_open(struct model_queue *q, uint32_t n_reserved, int node)
{
    static uint64_t n_opened;

    q->zone = frame_zone_join(&q->user, n_reserved, node);
    if (!q->zone) {
        ovs_fatal(errno, "no frames for %u of a queue", n_reserved);
    }
    ovs_assert(q->zone->id < MAX_ZONES);
    stack_init(&q->rx, MODEL_MAX_RX);
    stack_init(&q->tx, MODEL_MAX_TX);
    q->n_held = 0;
    q->n_steps = 0;
    q->random.state = 0x9e3779b97f4a7c15 * ++n_opened;
}

/* Closes a queue: what OVS holds through it goes to the mailbox, what was in
 * its rings back to the pool. */
void
model_queue_close(struct model_queue *q)
{
    while (q->n_held) {
        mail(q->held[--q->n_held]);
    }
    while (q->rx.n) {
        give(q->zone, &q->rx, 1, q->user.rx_place);
    }
    while (q->tx.n) {
        give(q->zone, &q->tx, 1, q->user.tx_place);
    }
    free(q->rx.indexes);
    free(q->tx.indexes);
    frame_zone_leave(q->zone, &q->user);
    q->zone = NULL;
}

/* Frees up to 'n' packets of the mailbox.  Any thread. */
void
model_empty_mailbox(uint32_t n)
{
    struct dp_packet *packet;

    while (n-- && (packet = take_mail()) != NULL) {
        delete_packet(packet);
    }
}

/* Returns how many frames of 'zone' the model says that OVS holds. */
int64_t
model_n_held(const struct frame_zone *zone)
{
    int64_t n;

    atomic_read_relaxed(&n_held[zone->id], &n);
    return n;
}

/* Returns how many frames of 'zone' nobody in the model has. */
uint32_t
model_n_free(const struct frame_zone *zone)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < zone->n_frames; i++) {
        bool is_owned;

        atomic_read_relaxed(&owned[zone->id][i], &is_owned);
        n += !is_owned;
    }
    return n;
}
