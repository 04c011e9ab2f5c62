/* SPDX-License-Identifier: Apache-2.0 */

/* Several threads that send on one socket: tx-handover.h and xsk-tx.c. */

#include <config.h>
#include "fake-kernel.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>

#include "ovs-thread.h"
#include "packets.h"
#include "tx-handover.h"
#include "unit.h"

#define N_DESC 128
#define N_THREADS 4

/* The ring alone. */

#define RING_SIZE 64
#define N_PASSED 200000         /* By each thread. */

static struct tx_handover ring;

static void
bounds(void)
{
    struct tx_frame in[RING_SIZE + 1], out[RING_SIZE];

    tx_handover_init(&ring, RING_SIZE);
    atomic_store_relaxed(&ring.head, UINT32_MAX - 5);
    atomic_store_relaxed(&ring.tail, UINT32_MAX - 5);
    for (uint32_t i = 0; i <= RING_SIZE; i++) {
        in[i] = (struct tx_frame) { i, i + 100 };
    }
    CHECK_INT(tx_handover_take(&ring, out, RING_SIZE), 0);
    CHECK_INT(tx_handover_put(&ring, in, RING_SIZE + 1), RING_SIZE);
    CHECK_INT(tx_handover_put(&ring, in, 1), 0);
    CHECK_INT(tx_handover_count(&ring), RING_SIZE);
    CHECK_INT(tx_handover_take(&ring, out, 10), 10);
    CHECK_INT(tx_handover_take(&ring, &out[10], RING_SIZE), RING_SIZE - 10);
    for (uint32_t i = 0; i < RING_SIZE; i++) {
        CHECK_INT(out[i].addr, i);
        CHECK_INT(out[i].len, i + 100);
    }
    CHECK_INT(tx_handover_count(&ring), 0);
    CHECK_INT(tx_handover_take(&ring, out, 1), 0);
    tx_handover_destroy(&ring);
}

/* Leaves N_PASSED frames, numbered, of thread 'id_'. */
static void *
leave(void *id_)
{
    uint32_t id = (uintptr_t) id_;
    struct unit_random random = { id + 1 };

    for (uint32_t i = 0; i < N_PASSED; ) {
        struct tx_frame frames[NETDEV_MAX_BURST];
        uint32_t n = 1 + unit_random(&random, NETDEV_MAX_BURST);

        n = MIN(n, N_PASSED - i);
        for (uint32_t j = 0; j < n; j++) {
            frames[j] = (struct tx_frame) { i + j, id };
        }
        n = tx_handover_put(&ring, frames, n);
        i += n;
        if (!n) {
            sched_yield();
        }
    }
    return NULL;
}

static void
many_producers(void)
{
    uint64_t next[N_THREADS] = { 0 };
    pthread_t threads[N_THREADS];
    uint32_t n_left = N_THREADS * N_PASSED;

    tx_handover_init(&ring, RING_SIZE);
    for (uintptr_t i = 0; i < N_THREADS; i++) {
        ovs_assert(!pthread_create(&threads[i], NULL, leave, (void *) i));
    }
    while (n_left) {
        struct tx_frame frames[NETDEV_MAX_BURST];
        uint32_t n = tx_handover_take(&ring, frames, NETDEV_MAX_BURST);

        for (uint32_t i = 0; i < n; i++) {
            ovs_assert(frames[i].len < N_THREADS);
            CHECK_INT(frames[i].addr, next[frames[i].len]++);
        }
        n_left -= n;
        if (!n) {
            sched_yield();
        }
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK_INT(tx_handover_count(&ring), 0);
    tx_handover_destroy(&ring);
}

/* Packets through a socket.  Each has its number, and that of its thread, at
 * the start. */

struct tag {
    uint32_t thread;
    uint32_t number;
};

/* Number expected from each thread: written under the tx lock. */
static atomic_uint32_t next[N_THREADS];
static uint32_t n_sent;
static bool in_order;

/* How many packets of 'thread' were sent. */
static uint32_t
n_from(uint32_t thread)
{
    uint32_t n;

    atomic_read_relaxed(&next[thread], &n);
    return n;
}

static void
check_order(const struct xsk *xsk, const struct xdp_desc *desc)
{
    struct tag tag;

    memcpy(&tag, xsk->zone->memory.base + desc->addr, sizeof tag);
    in_order = in_order && tag.number == n_from(tag.thread);
    atomic_store_relaxed(&next[tag.thread], tag.number + 1);
    n_sent++;
}

static struct xsk *
open_socket(uint32_t n_per_kick)
{
    static const struct fake_opts opts = {
        .n_rx_desc = N_DESC,
        .n_tx_desc = N_DESC,
    };
    struct xsk *xsk = fake_xsk_open(&opts);

    for (int i = 0; i < N_THREADS; i++) {
        atomic_init(&next[i], 0);
    }
    n_sent = 0;
    in_order = true;
    fake_kernel.n_per_kick = n_per_kick;
    fake_kernel.on_frame = check_order;
    return xsk;
}

static void
close_socket(struct xsk *xsk)
{
    CHECK(in_order);
    CHECK_ACCOUNT(xsk, 0);
    xsk_tx_drain(xsk);
    xsk_close(xsk);
    CHECK(!frame_zone_next(NULL));
}

/* Sends 'n' packets of 'thread', at most a burst, from number 'first' on. */
static void
send_packets(struct xsk *xsk, uint32_t thread, uint32_t first, uint32_t n)
{
    struct dp_packet_batch batch;

    dp_packet_batch_init(&batch);
    for (uint32_t i = 0; i < n; i++) {
        struct tag tag = { thread, first + i };
        struct dp_packet *packet = dp_packet_new(ETH_TOTAL_MIN);

        dp_packet_put_zeros(packet, ETH_TOTAL_MIN);
        memcpy(dp_packet_data(packet), &tag, sizeof tag);
        dp_packet_batch_add(&batch, packet);
    }
    xsk_tx(xsk, &batch);
}

/* As another thread would while the first one is in the system call. */
static void
send_meanwhile(struct xsk *xsk)
{
    fake_kernel.on_kick = NULL;
    send_packets(xsk, 1, 0, 20);
    CHECK_INT(n_sent, 0);
    CHECK_COUNTER(xsk, tx_handed_over, 20);
    CHECK_ACCOUNT(xsk, 0);
}

static void
left_for_sender(void)
{
    struct xsk *xsk = open_socket(NETDEV_MAX_BURST);

    fake_kernel.on_kick = send_meanwhile;
    send_packets(xsk, 0, 0, 10);
    CHECK_INT(n_from(0), 10);
    CHECK_INT(n_from(1), 20);
    CHECK_COUNTER(xsk, tx_packets, 30);
    CHECK_COUNTER(xsk, tx_ring_full, 0);
    close_socket(xsk);
}

/* Fills the handover and some more. */
static void
send_too_many(struct xsk *xsk)
{
    fake_kernel.on_kick = NULL;
    for (uint32_t i = 0; i < N_DESC + 4; i += 4) {
        send_packets(xsk, 1, i, 4);
    }
}

static void
full_handover(void)
{
    struct xsk *xsk = open_socket(NETDEV_MAX_BURST);

    fake_kernel.on_kick = send_too_many;
    send_packets(xsk, 0, 0, 1);
    /* With the one that is on its way. */
    CHECK_COUNTER(xsk, tx_handed_over, N_DESC - 1);
    CHECK_COUNTER(xsk, tx_ring_full, 5);
    xsk_tx_poll(xsk);
    CHECK_INT(n_from(1), N_DESC - 1);
    close_socket(xsk);
}

/* A device that sends nothing: senders that take turns with one another keep
 * no more frames than the ring takes. */
static void
stuck_device(void)
{
    struct xsk *xsk = open_socket(0);
    struct frame_usage usage;

    for (uint32_t i = 0; i < N_DESC - 10; i++) {
        send_packets(xsk, 0, i, 1);
    }
    for (int i = 0; i < 10; i++) {
        fake_kernel.on_kick = send_too_many;
        send_packets(xsk, 0, N_DESC - 10, 1);
    }
    frame_zone_get_usage(xsk->zone, &usage);
    CHECK_INT(usage.tx, N_DESC);
    close_socket(xsk);
}

/* Frames that a thread has claimed a place for but not written yet: later
 * ones may not overtake them. */
static void
later_frames_behind(void)
{
    struct xsk *xsk = open_socket(N_DESC);
    struct tx_handover *h = &xsk->handover;
    struct tx_handover_slot first;

    fake_kernel.on_kick = send_meanwhile;
    send_packets(xsk, 0, 0, 10);
    xsk_tx_poll(xsk);
    CHECK_INT(n_from(1), 20);

    CHECK(try_lock_take(&xsk->tx_lock));
    send_packets(xsk, 1, 20, 5);
    try_lock_release(&xsk->tx_lock);
    first = h->slots[20];
    atomic_store(&h->slots[20].ready, 0);
    send_packets(xsk, 1, 25, 5);
    CHECK_INT(n_from(1), 20);
    CHECK_COUNTER(xsk, tx_handed_over, 30);

    h->slots[20] = first;
    send_packets(xsk, 1, 30, 5);
    CHECK_INT(n_from(1), 35);
    CHECK_COUNTER(xsk, tx_ring_full, 0);
    close_socket(xsk);
}

static void
left_at_close(void)
{
    struct xsk *xsk = open_socket(0);

    for (uint32_t i = 0; i < N_DESC - 30; i++) {
        send_packets(xsk, 0, i, 1);
    }
    fake_kernel.on_kick = send_meanwhile;
    send_packets(xsk, 0, N_DESC - 30, 1);
    CHECK_COUNTER(xsk, tx_handed_over, 20);
    close_socket(xsk);
}

static struct xsk *shared;

/* How often a thread looks whether its packets are sent: far more often than
 * it can take. */
#define MAX_POLLS 10000000

/* Sends packets of 'thread_', in bursts. */
static void *
send_many(void *thread_)
{
    uint32_t thread = (uintptr_t) thread_;
    struct unit_random random = { thread + 1 };

    for (uint32_t i = 0; i < N_PASSED / 4; ) {
        uint32_t n = 1 + unit_random(&random, NETDEV_MAX_BURST);

        n = MIN(n, N_PASSED / 4 - i);
        send_packets(shared, thread, i, n);
        i += n;
        /* There is room for a burst of each thread. */
        for (uint32_t polls = 0; n_from(thread) < i; polls++) {
            if (polls > MAX_POLLS) {
                unit_fail(OVS_SOURCE_LOCATOR, "sent are %"PRIu32" of "
                          "%"PRIu32, n_from(thread), i);
                return NULL;
            }
            sched_yield();
            xsk_tx_poll(shared);
        }
    }
    return NULL;
}

static void
many_senders(void)
{
    pthread_t threads[N_THREADS];

    shared = open_socket(NETDEV_MAX_BURST);
    for (uintptr_t i = 0; i < N_THREADS; i++) {
        ovs_assert(!pthread_create(&threads[i], NULL, send_many, (void *) i));
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    xsk_tx_poll(shared);
    CHECK_COUNTER(shared, tx_ring_full, 0);
    CHECK_INT(n_sent, N_THREADS * (N_PASSED / 4));
    for (int i = 0; i < N_THREADS; i++) {
        CHECK_INT(n_from(i), N_PASSED / 4);
    }
    close_socket(shared);
}

int
main(void)
{
    unit_run("the handover takes as many frames as it has slots", bounds);
    unit_run("each thread's frames come out of it in order, none is lost",
             many_producers);
    unit_run("who does not get the lock leaves its frames and they are sent",
             left_for_sender);
    unit_run("what the handover has no room for is freed and counted",
             full_handover);
    unit_run("a device that sends nothing keeps no more frames than its ring "
             "takes", stuck_device);
    unit_run("later frames do not overtake those that were left",
             later_frames_behind);
    unit_run("frames that were left are freed when the socket is closed",
             left_at_close);
    unit_run("threads that send at once lose nothing and keep their order",
             many_senders);
    return unit_exit_status();
}
