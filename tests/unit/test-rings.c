/* SPDX-License-Identifier: Apache-2.0 */

/* xsk-ring.h: bounds, wrap-around, and two threads. */

#include <config.h>
#include "xsk-ring.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "unit.h"

#define SIZE 8

/* Room of a ring that we produce for, up to 'n', as the account of frames
 * keeps it. */
static uint32_t
ring_room(struct xsk_ring *ring, uint32_t n)
{
    return MIN(n, xsk_ring_size(ring) - xsk_ring_pending(ring));
}

/* Two ends of one ring in memory: 'in' is the producer's, 'out' the
 * consumer's. */
static uint32_t producer, consumer, flags;
static struct xdp_desc entries[SIZE];
static struct xsk_ring in, out;

/* Empties the ring and lets its indexes start at 'first'. */
static void
start_at(uint32_t first)
{
    const struct xsk_ring ring = {
        .local = first,
        .seen = first,
        .mask = SIZE - 1,
        .flags = &flags,
        .entries = entries,
    };

    producer = consumer = first;
    in = out = ring;
    in.ours = out.theirs = &producer;
    in.theirs = out.ours = &consumer;
}

/* Puts 'n' addresses, from 'first' on, in the ring. */
static void
put(uint64_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        xsk_ring_put_addr(&in, i, first + i);
    }
    xsk_ring_submit(&in, n);
}

/* Takes 'n' addresses out, which have to count from 'first' on. */
static void
take(uint64_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        CHECK_INT(*xsk_ring_addr(&out, i), first + i);
    }
    xsk_ring_release(&out, n);
}

static void
empty_ring(void)
{
    start_at(0);
    CHECK_INT(xsk_ring_size(&in), SIZE);
    CHECK_INT(xsk_ring_available(&out, 1), 0);
    CHECK_INT(xsk_ring_available(&out, SIZE), 0);
    CHECK_INT(ring_room(&in, 0), 0);
    CHECK_INT(ring_room(&in, 3), 3);
    CHECK_INT(ring_room(&in, SIZE), SIZE);
    CHECK_INT(ring_room(&in, 1000), SIZE);
    CHECK_INT(xsk_ring_pending(&in), 0);
}

static void
full_ring(void)
{
    start_at(0);
    put(100, SIZE);
    CHECK_INT(ring_room(&in, 1), 0);
    CHECK_INT(ring_room(&in, SIZE), 0);
    CHECK_INT(xsk_ring_pending(&in), SIZE);
    CHECK_INT(xsk_ring_available(&out, 3), 3);
    CHECK_INT(xsk_ring_available(&out, 1000), SIZE);
    take(100, 1);
    CHECK_INT(ring_room(&in, SIZE), 1);
    CHECK_INT(xsk_ring_pending(&in), SIZE - 1);
    take(101, SIZE - 1);
    CHECK_INT(xsk_ring_available(&out, 1), 0);
    CHECK_INT(ring_room(&in, SIZE), SIZE);
}

static void
unseen_before_submit(void)
{
    start_at(0);
    xsk_ring_put_addr(&in, 0, 1);
    CHECK_INT(xsk_ring_available(&out, 1), 0);
    CHECK_INT(ring_room(&in, SIZE), SIZE);
    xsk_ring_submit(&in, 1);
    CHECK_INT(xsk_ring_available(&out, 1), 1);
    CHECK_INT(*xsk_ring_addr(&out, 0), 1);
    CHECK_INT(ring_room(&in, SIZE), SIZE - 1);
    xsk_ring_release(&out, 1);
    CHECK_INT(ring_room(&in, SIZE), SIZE);
}

static void
wraps_around(void)
{
    for (uint32_t before = 0; before <= 2 * SIZE; before++) {
        start_at(-before);
        for (uint64_t i = 0; i < 4 * SIZE; i += 5) {
            CHECK_INT(ring_room(&in, 5), 5);
            put(i, 5);
            CHECK_INT(ring_room(&in, SIZE), SIZE - 5);
            CHECK_INT(xsk_ring_pending(&in), 5);
            CHECK_INT(xsk_ring_available(&out, SIZE), 5);
            take(i, 5);
        }
        CHECK_INT(ring_room(&in, SIZE), SIZE);
        put(0, SIZE);
        CHECK_INT(ring_room(&in, 1), 0);
        CHECK_INT(xsk_ring_available(&out, 1000), SIZE);
        take(0, SIZE);
        CHECK_INT(xsk_ring_available(&out, 1), 0);
    }
}

static void
descriptors(void)
{
    const struct xdp_desc *desc;

    start_at(-3);
    memset(entries, 0xff, sizeof entries);
    for (uint32_t i = 0; i < SIZE; i++) {
        xsk_ring_put_desc(&in, i, (1ULL << 40) + i, 60 + i);
    }
    xsk_ring_submit(&in, SIZE);
    CHECK_INT(xsk_ring_available(&out, SIZE), SIZE);
    for (uint32_t i = 0; i < SIZE; i++) {
        desc = xsk_ring_desc(&out, i);
        CHECK_INT(desc->addr, (1ULL << 40) + i);
        CHECK_INT(desc->len, 60 + i);
        CHECK_INT(desc->options, 0);
    }
}

static void
wakeup_flag(void)
{
    start_at(0);
    flags = 0;
    CHECK(!xsk_ring_needs_wakeup(&in));
    flags = XDP_RING_NEED_WAKEUP;
    CHECK(xsk_ring_needs_wakeup(&in));
    flags = ~XDP_RING_NEED_WAKEUP;
    CHECK(!xsk_ring_needs_wakeup(&in));
}

/* Two threads: across the wrap-around, in batches of 1 to SIZE. */

#define N_PASSED 1000000

static void *
produce(void *aux OVS_UNUSED)
{
    struct unit_random random = { 1 };
    uint64_t i = 0;

    while (i < N_PASSED) {
        uint32_t n = ring_room(&in, 1 + unit_random(&random, SIZE));

        n = MIN(n, N_PASSED - i);
        for (uint32_t j = 0; j < n; j++, i++) {
            xsk_ring_put_desc(&in, j, i, ~i);
        }
        xsk_ring_submit(&in, n);
        if (!n) {
            sched_yield();
        }
    }
    return NULL;
}

static void
two_threads(void)
{
    struct unit_random random = { 2 };
    pthread_t thread;
    uint64_t i = 0;

    start_at(UINT32_MAX - N_PASSED / 2);
    ovs_assert(!pthread_create(&thread, NULL, produce, NULL));
    while (i < N_PASSED) {
        uint32_t n = xsk_ring_available(&out, 1 + unit_random(&random, SIZE));

        for (uint32_t j = 0; j < n; j++, i++) {
            const struct xdp_desc *desc = xsk_ring_desc(&out, j);

            CHECK_INT(desc->addr, i);
            CHECK_INT(desc->len, (uint32_t) ~i);
        }
        xsk_ring_release(&out, n);
        if (!n) {
            sched_yield();
        }
    }
    pthread_join(thread, NULL);
    CHECK_INT(xsk_ring_available(&out, 1), 0);
    CHECK_INT(ring_room(&in, SIZE), SIZE);
}

int
main(void)
{
    unit_run("an empty ring has nothing and room for its size", empty_ring);
    unit_run("a full ring has its size and no room", full_ring);
    unit_run("the other side sees entries and room only when told",
             unseen_before_submit);
    unit_run("indexes wrap around at 2^32", wraps_around);
    unit_run("descriptors come out as they went in, options cleared",
             descriptors);
    unit_run("only the wakeup flag asks for a wakeup", wakeup_flag);
    unit_run("two threads pass a million descriptors in order", two_threads);
    return unit_exit_status();
}
