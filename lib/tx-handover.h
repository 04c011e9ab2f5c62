/* SPDX-License-Identifier: Apache-2.0 */

#ifndef TX_HANDOVER_H
#define TX_HANDOVER_H 1

/* Where threads leave frames for the one that is sending on a socket.
 *
 *     thread A:  has the tx lock, is in a system call
 *     thread B:  does not get the lock; leaves its batch here and goes on
 *     thread A:  is back, takes what lies here into the tx ring, kicks again
 *
 * A bounded ring of many producers and one consumer, the holder of the tx
 * lock.  A producer claims room for its whole batch at once, so that the
 * frames of a batch stay together and in order; each slot is then published
 * by its own word, which holds the position that it was written for: no slot
 * needs to be cleared, and the consumer stops at the first one that is
 * claimed but not yet written. */

#include <stdbool.h>
#include <stdint.h>

#include "ovs-atomic.h"
#include "util.h"

struct tx_frame {
    uint64_t addr;              /* In the zone, of the first byte to send. */
    uint32_t len;               /* Bytes. */
};

struct tx_handover_slot {
    uint64_t addr;
    uint32_t len;
    atomic_uint32_t ready;      /* Position + 1 once written. */
};

struct tx_handover {
    /* Producers. */
    OVS_ALIGNED_VAR(CACHE_LINE_SIZE) atomic_uint32_t tail;

    /* The consumer. */
    OVS_ALIGNED_VAR(CACHE_LINE_SIZE) atomic_uint32_t head;
    uint32_t mask;
    struct tx_handover_slot *slots;
};

/* Makes 'h' a ring of 'size' slots, a power of two. */
static inline void
tx_handover_init(struct tx_handover *h, uint32_t size)
{
    atomic_init(&h->tail, 0);
    atomic_init(&h->head, 0);
    h->mask = size - 1;
    h->slots = xcalloc(size, sizeof *h->slots);
}

static inline void
tx_handover_destroy(struct tx_handover *h)
{
    free(h->slots);
}

/* Returns how many frames lie in 'h', at some moment.  Any thread. */
static inline uint32_t
tx_handover_count(const struct tx_handover *h_)
{
    struct tx_handover *h = CONST_CAST(struct tx_handover *, h_);
    uint32_t head, tail;

    atomic_read_explicit(&h->head, &head, memory_order_acquire);
    atomic_read_explicit(&h->tail, &tail, memory_order_acquire);
    return tail - head;
}

/* Leaves as many of the 'n' frames as there is room for, the first ones, and
 * returns how many.  Any thread. */
static inline uint32_t
tx_handover_put(struct tx_handover *h, const struct tx_frame *frames,
                uint32_t n)
{
    uint32_t head, tail, room;

    atomic_read_relaxed(&h->tail, &tail);
    do {
        atomic_read_explicit(&h->head, &head, memory_order_acquire);
        room = h->mask + 1 - (tail - head);
        n = MIN(n, room);
        if (!n) {
            return 0;
        }
    } while (!atomic_compare_exchange_weak_explicit(
                 &h->tail, &tail, tail + n, memory_order_relaxed,
                 memory_order_relaxed));

    for (uint32_t i = 0; i < n; i++) {
        struct tx_handover_slot *slot = &h->slots[(tail + i) & h->mask];

        slot->addr = frames[i].addr;
        slot->len = frames[i].len;
        atomic_store_explicit(&slot->ready, tail + i + 1,
                              memory_order_release);
    }
    return n;
}

/* Takes up to 'n' frames in the order they were left.  Returns how many.  The
 * consumer. */
static inline uint32_t
tx_handover_take(struct tx_handover *h, struct tx_frame *frames, uint32_t n)
{
    uint32_t head, i;

    atomic_read_relaxed(&h->head, &head);
    for (i = 0; i < n; i++) {
        struct tx_handover_slot *slot = &h->slots[(head + i) & h->mask];
        uint32_t ready;

        atomic_read_explicit(&slot->ready, &ready, memory_order_acquire);
        if (ready != head + i + 1) {
            break;
        }
        frames[i].addr = slot->addr;
        frames[i].len = slot->len;
    }
    atomic_store_explicit(&h->head, head + i, memory_order_release);
    return i;
}

#endif /* tx-handover.h */
