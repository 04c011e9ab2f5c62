/* SPDX-License-Identifier: Apache-2.0 */

/* xsk_tx(), what comes back from it, and xsk_close(). */

#include <config.h>
#include "fake-kernel.h"

#include "packets.h"
#include "unit.h"

#define N_DESC 128
#define LEN 100

static const struct fake_opts opts = {
    .n_rx_desc = N_DESC,
    .n_tx_desc = N_DESC,
};

/* With zones of its own. */
static const struct fake_opts opts_elsewhere = {
    .n_rx_desc = N_DESC,
    .n_tx_desc = N_DESC,
    .numa_node = 1,
};

/* A batch as large as OVS 4.0 makes them. */
#define MAX_BATCH 256
struct large_batch {
    struct dp_packet_batch batch;
    struct dp_packet *more[MAX_BATCH];
};

/* Returns an empty batch that has room for MAX_BATCH packets. */
static struct dp_packet_batch *
make_batch(void)
{
    static struct large_batch large;

    dp_packet_batch_init(&large.batch);
    return &large.batch;
}

/* In OVS 4.0 'packets' is a pointer, to an array that grows.  In 3.x
 * dp_packet_batch_add() stops at a burst: goes by the address of the array
 * there, whose declared size the compiler may believe in. */
static void
add(struct dp_packet_batch *batch, struct dp_packet *packet)
{
    struct dp_packet **packets = batch->packets;

    ovs_assert(batch->count < MAX_BATCH);
    if (sizeof batch->packets == sizeof packets) {
        dp_packet_batch_add(batch, packet);
    } else {
        packets[batch->count++] = packet;
    }
}

/* Receives a packet of 'len' bytes 'fill' from 'xsk'. */
static struct dp_packet *
receive(struct xsk *xsk, uint32_t len, uint8_t fill)
{
    struct dp_packet_batch batch;
    uint8_t *data;

    data = fake_receive(xsk, FRAME_RX_OFFSET, len, NULL);
    ovs_assert(data);
    memset(data, fill, len);
    dp_packet_batch_init(&batch);
    xsk_rx(xsk, &batch);
    ovs_assert(batch.count == 1);
    return batch.packets[0];
}

/* Returns a packet of 'len' bytes 'fill' that is in no frame. */
static struct dp_packet *
make_packet(uint32_t len, uint8_t fill)
{
    struct dp_packet *packet = dp_packet_new(MAX(len, 1));

    memset(dp_packet_put_uninit(packet, len), fill, len);
    return packet;
}

static void
send_one(struct xsk *xsk, struct dp_packet *packet)
{
    struct dp_packet_batch *batch = make_batch();

    add(batch, packet);
    xsk_tx(xsk, batch);
    CHECK_INT(dp_packet_batch_size(batch), 0);
}

/* Checks that 'desc' is of 'len' bytes that are all 'fill', in one chunk. */
static void
check_desc(const struct xsk *xsk, const struct xdp_desc *desc, uint32_t len,
           uint8_t fill)
{
    const uint8_t *data = xsk->zone->memory.base + desc->addr;

    CHECK_INT(desc->len, len);
    CHECK_INT(desc->options, 0);
    CHECK(desc->addr % FRAME_SIZE + desc->len <= FRAME_SIZE);
    for (uint32_t j = 0; j < desc->len; j++) {
        if (!CHECK_INT(data[j], fill)) {
            break;
        }
    }
}

/* Likewise for the 'i'th frame sent, which has not been used again since. */
static void
check_sent(const struct xsk *xsk, uint32_t i, uint32_t len, uint8_t fill)
{
    check_desc(xsk, fake_tx_desc(xsk, i), len, fill);
}

static uint32_t
n_tx(const struct xsk *xsk)
{
    uint32_t n;

    atomic_read_relaxed(CONST_CAST(atomic_uint32_t *, &xsk->user.n_tx), &n);
    return n;
}

/* Completes all that was sent, and closes. */
static void
finish(struct xsk *xsk)
{
    fake_complete(xsk, fake_transmit(xsk, N_DESC));
    xsk_tx_poll(xsk);
    CHECK_ACCOUNT(xsk, 0);
    CHECK_INT(n_tx(xsk), 0);
    xsk_close(xsk);
    CHECK(!frame_zone_next(NULL));
}

static void
in_place(void)
{
    struct xsk *xsk = fake_xsk_open(&opts);
    struct xsk *other = fake_xsk_open(&opts);
    struct dp_packet *packet = receive(other, LEN, 7);
    const uint8_t *data = dp_packet_data(packet);

    CHECK_ACCOUNT(xsk, 1);
    send_one(xsk, packet);
    CHECK_ACCOUNT(xsk, 0);
    CHECK(xsk->zone->memory.base + fake_tx_desc(xsk, 0)->addr == data);
    check_sent(xsk, 0, LEN, 7);
    CHECK_INT(n_tx(xsk), 1);
    CHECK_COUNTER(xsk, tx_packets, 1);
    CHECK_COUNTER(xsk, tx_copied, 0);
    xsk_close(other);
    finish(xsk);
}

static void
in_place_moved(void)
{
    struct xsk *xsk = fake_xsk_open(&opts);
    struct dp_packet *packet;

    /* As many headers as there is room for. */
    packet = receive(xsk, FRAME_MAX_LEN - FRAME_RX_OFFSET, 7);
    memset(dp_packet_push_uninit(packet, FRAME_RX_OFFSET), 7,
           FRAME_RX_OFFSET);
    send_one(xsk, packet);
    check_sent(xsk, 0, FRAME_MAX_LEN, 7);
    CHECK_INT(fake_tx_desc(xsk, 0)->addr % FRAME_SIZE, 0);

    /* Headers taken away. */
    packet = receive(xsk, FRAME_MAX_LEN, 8);
    dp_packet_pull(packet, 50);
    send_one(xsk, packet);
    check_sent(xsk, 1, FRAME_MAX_LEN - 50, 8);
    CHECK_INT(fake_tx_desc(xsk, 1)->addr % FRAME_SIZE, FRAME_RX_OFFSET + 50);
    CHECK_COUNTER(xsk, tx_copied, 0);
    finish(xsk);
}

static void
copied_from_malloc(void)
{
    static const uint32_t lens[] = { ETH_HEADER_LEN, LEN, FRAME_MAX_LEN };
    struct xsk *xsk = fake_xsk_open(&opts);

    for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
        send_one(xsk, make_packet(lens[i], i));
        check_sent(xsk, i, lens[i], i);
    }
    CHECK_COUNTER(xsk, tx_packets, ARRAY_SIZE(lens));
    CHECK_COUNTER(xsk, tx_copied, ARRAY_SIZE(lens));
    CHECK_INT(n_tx(xsk), ARRAY_SIZE(lens));
    finish(xsk);
}

static void
copied_from_zone(void)
{
    struct xsk *other = fake_xsk_open(&opts_elsewhere);
    struct xsk *xsk = fake_xsk_open(&opts);

    CHECK(xsk->zone != other->zone);
    send_one(xsk, receive(other, LEN, 9));
    check_sent(xsk, 0, LEN, 9);
    CHECK_COUNTER(xsk, tx_copied, 1);
    CHECK_ACCOUNT(other, 0);
    CHECK_ACCOUNT(xsk, 0);
    xsk_close(other);
    finish(xsk);
}

static void
copied_back(void)
{
    struct xsk *xsk = fake_xsk_open(&opts);

    for (uint32_t i = 0; i < 3; i++) {
        struct dp_packet *packet = receive(xsk, LEN, i);

        for (uint32_t j = 0; j <= i; j++) {
            memset(dp_packet_push_uninit(packet, 500), i, 500);
        }
        CHECK_ACCOUNT(xsk, 1);
        send_one(xsk, packet);
        check_sent(xsk, i, LEN + 500 * (i + 1), i);
        CHECK_ACCOUNT(xsk, 0);
    }
    CHECK_COUNTER(xsk, tx_copied, 3);
    finish(xsk);
}

/* The device's MTU is the bound. */
static void
longer_than_mtu(void)
{
    struct xsk *xsk = fake_xsk_open(&opts);

    xsk_set_mtu(xsk, 1500);
    send_one(xsk, make_packet(1522, 0));
    send_one(xsk, receive(xsk, 1522, 0));
    CHECK_COUNTER(xsk, tx_too_long, 0);
    send_one(xsk, make_packet(1523, 0));
    send_one(xsk, receive(xsk, 1523, 0));
    CHECK_COUNTER(xsk, tx_too_long, 2);
    CHECK_COUNTER(xsk, tx_packets, 2);

    /* What a frame takes stays one. */
    xsk_set_mtu(xsk, 9000);
    send_one(xsk, receive(xsk, FRAME_MAX_LEN, 0));
    CHECK_COUNTER(xsk, tx_too_long, 2);
    send_one(xsk, make_packet(FRAME_MAX_LEN + 1, 0));
    CHECK_COUNTER(xsk, tx_too_long, 3);
    finish(xsk);
}

static void
wrong_lengths(void)
{
    struct xsk *xsk = fake_xsk_open(&opts);
    struct dp_packet *packet;

    send_one(xsk, make_packet(FRAME_MAX_LEN + 1, 0));
    send_one(xsk, make_packet(9014, 0));
    packet = receive(xsk, FRAME_MAX_LEN, 0);
    dp_packet_push_uninit(packet, 1);
    send_one(xsk, packet);
    CHECK_COUNTER(xsk, tx_too_long, 3);

    send_one(xsk, make_packet(0, 0));
    send_one(xsk, make_packet(ETH_HEADER_LEN - 1, 0));
    packet = receive(xsk, 60, 0);
    dp_packet_pull(packet, 60 - ETH_HEADER_LEN + 1);
    send_one(xsk, packet);
    CHECK_COUNTER(xsk, tx_too_short, 3);

    CHECK_COUNTER(xsk, tx_packets, 0);
    CHECK_INT(fake_n_in_tx(xsk), 0);
    CHECK_INT(n_tx(xsk), 0);
    CHECK_ACCOUNT(xsk, 0);
    finish(xsk);
}

static void
among_right_ones(void)
{
    struct dp_packet_batch *batch = make_batch();
    struct xsk *xsk = fake_xsk_open(&opts);

    add(batch, make_packet(LEN, 0));
    add(batch, make_packet(5000, 0));
    add(batch, receive(xsk, LEN, 1));
    add(batch, make_packet(3, 0));
    add(batch, make_packet(LEN, 2));
    xsk_tx(xsk, batch);
    CHECK_INT(fake_n_in_tx(xsk), 3);
    for (int i = 0; i < 3; i++) {
        check_sent(xsk, i, LEN, i);
    }
    finish(xsk);
}

/* A ring of N_DESC, and a kernel that sends nothing. */
static void
ring_full(void)
{
    struct dp_packet_batch *batch = make_batch();
    struct xsk *xsk = fake_xsk_open(&opts);

    for (int i = 0; i < 200; i++) {
        add(batch, i % 2 ? make_packet(LEN, i) : receive(xsk, LEN, i));
    }
    xsk_tx(xsk, batch);
    CHECK_INT(fake_n_in_tx(xsk), N_DESC);
    CHECK_INT(n_tx(xsk), N_DESC);
    CHECK_COUNTER(xsk, tx_packets, N_DESC);
    CHECK_COUNTER(xsk, tx_ring_full, 200 - N_DESC);
    CHECK_ACCOUNT(xsk, 0);
    for (int i = 0; i < N_DESC; i++) {
        check_sent(xsk, i, LEN, i);
    }

    /* Sent is not yet completed: the completion ring needs the room. */
    fake_transmit(xsk, N_DESC);
    send_one(xsk, make_packet(LEN, 0));
    CHECK_COUNTER(xsk, tx_ring_full, 200 - N_DESC + 1);
    fake_complete(xsk, 1);
    send_one(xsk, make_packet(LEN, 1));
    send_one(xsk, make_packet(LEN, 2));
    CHECK_COUNTER(xsk, tx_packets, N_DESC + 1);
    CHECK_COUNTER(xsk, tx_ring_full, 200 - N_DESC + 2);
    fake_complete(xsk, N_DESC - 1);
    finish(xsk);
}

static uint32_t n_in_order;

/* The frames of a batch count from 0 on. */
static void
check_order(const struct xsk *xsk, const struct xdp_desc *desc)
{
    check_desc(xsk, desc, LEN, n_in_order++);
}

/* Also such as are sent in several parts. */
static void
large_batches(void)
{
    static const struct fake_opts large = { .n_rx_desc = N_DESC,
                                            .n_tx_desc = 2 * MAX_BATCH };
    struct xsk *xsk = fake_xsk_open(&large);
    uint32_t n = 0;

    fake_kernel.n_per_kick = 32;
    fake_kernel.on_frame = check_order;
    for (uint32_t size = 1; size <= MAX_BATCH; size++) {
        struct dp_packet_batch *batch = make_batch();

        for (uint32_t i = 0; i < size; i++) {
            add(batch, make_packet(LEN, i));
        }
        n_in_order = 0;
        xsk_tx(xsk, batch);
        CHECK_INT(dp_packet_batch_size(batch), 0);
        CHECK_INT(fake_n_in_tx(xsk), 0);
        CHECK_INT(n_in_order, size);
        n += size;
    }
    CHECK_COUNTER(xsk, tx_packets, n);
    CHECK_COUNTER(xsk, tx_ring_full, 0);
    finish(xsk);
}

static uint32_t stolen[FRAME_ZONE_MAX];

static void
no_free_frames(void)
{
    struct xsk *xsk = fake_xsk_open(&opts);
    struct dp_packet *packet = receive(xsk, LEN, 1);
    uint32_t n = frame_alloc(xsk->zone, stolen, FRAME_ZONE_MAX);

    send_one(xsk, make_packet(LEN, 0));
    CHECK_COUNTER(xsk, tx_no_frame, 1);
    CHECK_COUNTER(xsk, tx_packets, 0);
    CHECK_INT(n_tx(xsk), 0);
    send_one(xsk, packet);
    CHECK_COUNTER(xsk, tx_packets, 1);
    check_sent(xsk, 0, LEN, 1);

    frame_free(xsk->zone, stolen, n);
    send_one(xsk, make_packet(LEN, 2));
    check_sent(xsk, 1, LEN, 2);
    finish(xsk);
}

static void
kicks(void)
{
    struct xsk *xsk = fake_xsk_open(&opts);
    struct dp_packet_batch *batch = make_batch();

    /* On while it gets somewhere. */
    fake_kernel.n_per_kick = 16;
    for (int i = 0; i < 100; i++) {
        add(batch, make_packet(LEN, i));
    }
    xsk_tx(xsk, batch);
    CHECK_INT(fake_kernel.n_kicks, 7);
    CHECK_INT(fake_n_in_tx(xsk), 0);

    /* Not where it does not. */
    fake_kernel.n_kicks = fake_kernel.n_per_kick = 0;
    batch = make_batch();
    for (int i = 0; i < 100; i++) {
        add(batch, make_packet(LEN, i));
    }
    xsk_tx(xsk, batch);
    CHECK_INT(fake_kernel.n_kicks, 1);

    /* Not where the driver has not asked. */
    fake_set_flag(&xsk->tx, false);
    fake_kernel.n_kicks = 0;
    send_one(xsk, make_packet(LEN, 0));
    CHECK_INT(fake_kernel.n_kicks, 0);
    CHECK_COUNTER(xsk, tx_kicks, 8);

    /* And a poll looks after what was left. */
    fake_set_flag(&xsk->tx, true);
    fake_kernel.n_per_kick = 16;
    CHECK_INT(n_tx(xsk), 101);
    xsk_tx_poll(xsk);
    CHECK_INT(n_tx(xsk), 0);
    finish(xsk);
}

static void
kick_for_room(void)
{
    struct xsk *xsk = fake_xsk_open(&opts);

    for (int i = 0; i < 2; i++) {
        struct dp_packet_batch *batch = make_batch();

        for (int j = 0; j < N_DESC; j++) {
            add(batch, make_packet(LEN, j));
        }
        xsk_tx(xsk, batch);
        fake_kernel.n_per_kick = N_DESC;
    }
    CHECK_COUNTER(xsk, tx_ring_full, 0);
    CHECK_COUNTER(xsk, tx_packets, 2 * N_DESC);
    finish(xsk);
}

/* Frames wherever they can be. */
static void
close_any_time(void)
{
    struct xsk *stays = fake_xsk_open(&opts);
    struct unit_random random = { 5 };

    for (int i = 0; i < 1000; i++) {
        struct xsk *xsk = fake_xsk_open(&opts);
        struct dp_packet *held = NULL;
        uint32_t n = unit_random(&random, N_DESC);

        for (uint32_t j = 0; j < n; j++) {
            send_one(xsk, (j % 2 ? make_packet(LEN, j)
                           : receive(j % 4 ? stays : xsk, LEN, j)));
        }
        n = fake_transmit(xsk, unit_random(&random, n + 1));
        fake_complete(xsk, unit_random(&random, n + 1));
        if (i % 4 < 2) {
            xsk_tx_poll(xsk);
        }
        if (i % 2) {
            held = receive(xsk, LEN, i);
        }
        n = unit_random(&random, N_DESC);
        while (n-- && fake_receive(xsk, FRAME_RX_OFFSET, LEN, NULL)) {
            continue;
        }
        xsk_close(xsk);
        CHECK_ACCOUNT(stays, i % 2);
        dp_packet_delete(held);
        CHECK_ACCOUNT(stays, 0);
    }
    finish(stays);
}

static void
packets_outlive_zone(void)
{
    struct xsk *xsk = fake_xsk_open(&opts);
    struct frame_zone *zone = xsk->zone;
    struct frame_usage usage;
    struct dp_packet *a = receive(xsk, LEN, 1);
    struct dp_packet *b = receive(xsk, LEN, 2);

    dp_packet_push_zeros(b, 600);
    xsk_close(xsk);
    CHECK(frame_zone_next(NULL) == zone);
    CHECK_INT(((uint8_t *) dp_packet_data(a))[0], 1);
    dp_packet_delete(a);
    CHECK(frame_zone_next(NULL) == zone);
    CHECK_INT(((uint8_t *) dp_packet_data(b))[600], 2);
    dp_packet_delete(b);
    CHECK(!frame_zone_next(NULL));

    /* Somebody may just have been about to look at it. */
    frame_zone_get_usage(zone, &usage);
    CHECK(frame_usage_is_accounted(&usage));
}

int
main(void)
{
    unit_run("a packet in a frame of the zone is sent in place", in_place);
    unit_run("so is one that grew or shrank within its frame",
             in_place_moved);
    unit_run("a packet in other memory is copied", copied_from_malloc);
    unit_run("a packet in another zone's frame is copied", copied_from_zone);
    unit_run("a packet that outgrew its frame is copied back", copied_back);
    unit_run("packets longer than the MTU allows are freed and counted",
             longer_than_mtu);
    unit_run("too long and too short packets are freed and counted",
             wrong_lengths);
    unit_run("they take no other packet of the batch with them",
             among_right_ones);
    unit_run("what the ring has no room for is freed and counted", ring_full);
    unit_run("batches of up to 256 packets are sent whole and in order",
             large_batches);
    unit_run("a packet that there is no frame for is freed and counted",
             no_free_frames);
    unit_run("the kernel is called as often as that helps", kicks);
    unit_run("what fills the ring is pushed out before packets are dropped",
             kick_for_room);
    unit_run("closing takes back every frame, wherever it is",
             close_any_time);
    unit_run("a packet outlives its port, and its zone lives as long",
             packets_outlive_zone);
    return unit_exit_status();
}
