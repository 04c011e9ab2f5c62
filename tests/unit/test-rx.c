/* SPDX-License-Identifier: Apache-2.0 */

/* xsk_rx() and the hints, on rings whose other side is played by us. */

#include <config.h>
#include "fake-kernel.h"

#include "unit.h"

#define N_DESC 128
#define COOKIE 0x1234567887654321ULL
#define LEN 100

static const struct fake_opts opts = {
    .n_rx_desc = N_DESC,
    .n_tx_desc = N_DESC,
};

/* Receives a batch. */
static struct dp_packet_batch *
receive(struct xsk *xsk)
{
    static struct dp_packet_batch batch;

    dp_packet_batch_init(&batch);
    xsk_rx(xsk, &batch);
    return &batch;
}

/* Receives one packet, which the caller frees. */
static struct dp_packet *
receive_one(struct xsk *xsk)
{
    struct dp_packet_batch *batch = receive(xsk);

    ovs_assert(dp_packet_batch_size(batch) == 1);
    return batch->packets[0];
}

static void
batches(void)
{
    static const uint32_t sizes[] = { 32, 32, 32, 4, 0, 0 };
    struct xsk *xsk = fake_xsk_open(&opts);
    uint8_t n = 0;

    for (uint8_t i = 0; i < 100; i++) {
        memset(fake_receive(xsk, FRAME_RX_OFFSET, 60 + i, NULL), i, 60 + i);
    }
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        struct dp_packet_batch *batch = receive(xsk);
        struct dp_packet *packet;

        CHECK_INT(dp_packet_batch_size(batch), sizes[i]);
        CHECK_ACCOUNT(xsk, dp_packet_batch_size(batch));
        DP_PACKET_BATCH_FOR_EACH (j, packet, batch) {
            CHECK_INT(dp_packet_size(packet), 60 + n);
            CHECK_INT(((uint8_t *) dp_packet_data(packet))[0], n);
            CHECK_INT(((uint8_t *) dp_packet_tail(packet))[-1], n);
            CHECK_INT(dp_packet_headroom(packet), FRAME_RX_OFFSET);
            CHECK(packet->packet_type == htonl(PT_ETH));
            n++;
        }
        dp_packet_delete_batch(batch, true);
    }
    CHECK_ACCOUNT(xsk, 0);
    CHECK_COUNTER(xsk, rx_packets, 100);
    CHECK_COUNTER(xsk, rx_batches, 4);
    xsk_close(xsk);
    CHECK(!frame_zone_next(NULL));
}

/* What a packet's former life has left in its frame's dp_packet. */
static void
no_memory_of_before(void)
{
    struct xsk *xsk = fake_xsk_open(&opts);

    for (int i = 0; i < 3 * FRAME_ZONE_MIN; i++) {
        struct dp_packet *packet;

        fake_receive(xsk, FRAME_RX_OFFSET, LEN, NULL);
        packet = receive_one(xsk);
        CHECK_INT(dp_packet_size(packet), LEN);
        CHECK_INT(dp_packet_get_cutlen(packet), 0);
        CHECK_INT(dp_packet_get_allocated(packet), FRAME_SIZE);
        CHECK_INT(dp_packet_headroom(packet), FRAME_RX_OFFSET);
        CHECK(!dp_packet_rss_valid(packet));
        CHECK(packet->packet_type == htonl(PT_ETH));

        dp_packet_set_rss_hash(packet, 1);
        dp_packet_set_cutlen(packet, 30);
        packet->packet_type = htonl(PT_NSH);
        dp_packet_push_zeros(packet, i % 2 ? 300 : 600);
        dp_packet_delete(packet);
        if (unit_has_failed()) {
            break;
        }
    }
    CHECK_ACCOUNT(xsk, 0);
    xsk_close(xsk);
}

static void
refill_bounds(void)
{
    struct xsk *xsk = fake_xsk_open(&opts);
    struct unit_random random = { 3 };

    CHECK_INT(fake_n_in_fill(xsk), N_DESC);
    for (int i = 0; i < 10000; i++) {
        uint32_t n = unit_random(&random, N_DESC + 10);
        struct dp_packet_batch *batch;

        while (n-- && fake_receive(xsk, FRAME_RX_OFFSET, LEN, NULL)) {
            continue;
        }
        batch = receive(xsk);
        CHECK_INT(fake_n_in_fill(xsk) + fake_n_in_rx(xsk), N_DESC);
        CHECK_ACCOUNT(xsk, dp_packet_batch_size(batch));
        dp_packet_delete_batch(batch, true);
    }
    CHECK_COUNTER(xsk, rx_no_frame, 0);
    xsk_close(xsk);
}

/* Lets as many frames arrive as there is room for, 'n' times, and takes a
 * batch each time. */
static void
flood(struct xsk *xsk, int n)
{
    while (n--) {
        while (fake_receive(xsk, FRAME_RX_OFFSET, LEN, NULL)) {
            continue;
        }
        dp_packet_delete_batch(receive(xsk), true);
    }
}

/* Lets 'n' frames arrive, at most a burst, and takes as many. */
static void
receive_n(struct xsk *xsk, uint32_t n)
{
    struct dp_packet_batch *batch;

    for (uint32_t i = 0; i < n; i++) {
        fake_receive(xsk, FRAME_RX_OFFSET, LEN, NULL);
    }
    batch = receive(xsk);
    CHECK_INT(dp_packet_batch_size(batch), n);
    dp_packet_delete_batch(batch, true);
}

/* Polls in vain 'n' times. */
static void
idle(struct xsk *xsk, int n)
{
    while (n--) {
        CHECK_INT(dp_packet_batch_size(receive(xsk)), 0);
    }
}

/* Takes all that has arrived. */
static void
drain(struct xsk *xsk)
{
    while (fake_n_in_rx(xsk)) {
        dp_packet_delete_batch(receive(xsk), true);
    }
}

static void
overload(void)
{
    static const struct fake_opts large = { .n_rx_desc = 1024,
                                            .n_tx_desc = N_DESC };
    const int n_enough = 8 * large.n_rx_desc / NETDEV_MAX_BURST;
    struct xsk *xsk = fake_xsk_open(&large);

    /* No batch, and one that is not full, say that the queue was empty. */
    flood(xsk, n_enough / 2);
    drain(xsk);
    idle(xsk, 1);
    flood(xsk, n_enough / 2);
    drain(xsk);
    fake_receive(xsk, FRAME_RX_OFFSET, LEN, NULL);
    dp_packet_delete(receive_one(xsk));
    flood(xsk, n_enough - 1);
    CHECK_COUNTER(xsk, rx_overloads, 0);
    CHECK_INT(fake_n_in_fill(xsk) + fake_n_in_rx(xsk), large.n_rx_desc);

    flood(xsk, 1);
    CHECK_COUNTER(xsk, rx_overloads, 1);
    flood(xsk, 3 * n_enough);
    CHECK_COUNTER(xsk, rx_overloads, 1);
    CHECK_INT(fake_n_in_fill(xsk) + fake_n_in_rx(xsk), 256);
    CHECK_ACCOUNT(xsk, 0);

    /* A poller that just keeps up has no time to spare yet. */
    drain(xsk);
    for (int i = 0; i < 1000; i++) {
        receive_n(xsk, NETDEV_MAX_BURST);
        idle(xsk, 50);
    }
    CHECK_INT(fake_n_in_fill(xsk), 256);

    /* One with pauses has, */
    for (int i = 0; i < 8; i++) {
        receive_n(xsk, NETDEV_MAX_BURST);
        idle(xsk, 100);
    }
    CHECK_INT(fake_n_in_fill(xsk), large.n_rx_desc);

    /* and one of many queues that always finds a few, */
    flood(xsk, n_enough);
    CHECK_COUNTER(xsk, rx_overloads, 2);
    drain(xsk);
    for (int i = 0; i < 40; i++) {
        receive_n(xsk, NETDEV_MAX_BURST / 2);
    }
    CHECK_INT(fake_n_in_fill(xsk), large.n_rx_desc);

    /* and one whose traffic has ended. */
    flood(xsk, n_enough);
    CHECK_COUNTER(xsk, rx_overloads, 3);
    drain(xsk);
    idle(xsk, 1000);
    CHECK_INT(fake_n_in_fill(xsk), large.n_rx_desc);

    /* A queue that stands but is far from full overflows never. */
    for (int i = 0; i < 200; i++) {
        fake_receive(xsk, FRAME_RX_OFFSET, LEN, NULL);
    }
    for (int i = 0; i < 2 * n_enough; i++) {
        receive_n(xsk, NETDEV_MAX_BURST);
    }
    CHECK_COUNTER(xsk, rx_overloads, 3);
    xsk_close(xsk);
    CHECK(!frame_zone_next(NULL));
}

/* Takes all free frames of the zone, and gives them back. */
static uint32_t stolen[FRAME_ZONE_MAX];

static void
no_free_frames(void)
{
    struct xsk *xsk = fake_xsk_open(&opts);
    uint32_t n = frame_alloc(xsk->zone, stolen, FRAME_ZONE_MAX);
    struct dp_packet_batch *batch;

    CHECK_INT(n, xsk->zone->n_frames - N_DESC);
    CHECK_INT(frame_alloc(xsk->zone, stolen + n, 1), 0);

    /* All that is in the fill ring comes, and then nothing more. */
    for (int i = 0; i < N_DESC; i++) {
        fake_receive(xsk, FRAME_RX_OFFSET, LEN, NULL);
    }
    CHECK(!fake_receive(xsk, FRAME_RX_OFFSET, LEN, NULL));
    for (int i = 0; i < N_DESC / NETDEV_MAX_BURST; i++) {
        batch = receive(xsk);
        CHECK_INT(dp_packet_batch_size(batch), NETDEV_MAX_BURST);
        CHECK_INT(fake_n_in_fill(xsk), 0);
        frame_count_held(xsk->zone, -NETDEV_MAX_BURST);
        for (int j = 0; j < NETDEV_MAX_BURST; j++) {
            struct frame *frame = frame_from_packet(batch->packets[j]);

            ovs_assert(frame);
            frame_move(frame, FRAME_HELD, FRAME_FREE);
            stolen[n++] = frame->index;
        }
    }
    CHECK_COUNTER(xsk, rx_no_frame, N_DESC / NETDEV_MAX_BURST);

    /* Frames that come free find their way, though nothing is received. */
    frame_free(xsk->zone, stolen, n);
    for (int i = 0; i < 1000; i++) {
        CHECK_INT(dp_packet_batch_size(receive(xsk)), 0);
    }
    CHECK_INT(fake_n_in_fill(xsk), N_DESC);
    CHECK_ACCOUNT(xsk, 0);
    xsk_close(xsk);
}

/* OVS may keep what it has received, as conntrack keeps fragments. */
static void
held_for_long(void)
{
    enum { N_HELD = 5000 };
    static struct dp_packet *held[N_HELD];
    struct xsk *xsk = fake_xsk_open(&opts);
    uint32_t limit = xsk->zone->n_frames / FRAME_ZONE_HELD;
    struct frame_usage usage;
    uint64_t n_copied;
    uint32_t n_frames = 0;

    xsk_set_cookie(xsk, COOKIE);
    for (int i = 0; i < N_HELD; i++) {
        struct dp_packet *packet;
        struct xdp_hints h = { .cookie = COOKIE, .hash = i,
                               .flags = XDP_HINT_HASH };
        uint8_t *data = fake_receive(xsk, FRAME_RX_OFFSET, LEN, &h);

        ovs_assert(data);
        memset(data, i, LEN);
        held[i] = packet = receive_one(xsk);
        n_frames += frame_from_packet(packet) != NULL;
        CHECK_INT(dp_packet_size(packet), LEN);
        CHECK_INT(dp_packet_headroom(packet), FRAME_RX_OFFSET);
        CHECK_INT(dp_packet_get_rss_hash(packet), i);
        CHECK_INT(((uint8_t *) dp_packet_tail(packet))[-1], (uint8_t) i);
        CHECK(packet->packet_type == htonl(PT_ETH));
        CHECK_ACCOUNT(xsk, n_frames);
    }
    CHECK(n_frames > limit);
    CHECK(n_frames <= limit + (FRAME_SLABS_PER_LOOK + 2) * FRAME_SLAB);
    CHECK_COUNTER(xsk, rx_copied, N_HELD - n_frames);
    CHECK_COUNTER(xsk, rx_packets, N_HELD);
    CHECK_COUNTER(xsk, rx_no_frame, 0);
    CHECK_INT(fake_n_in_fill(xsk), N_DESC);
    frame_zone_get_usage(xsk->zone, &usage);
    CHECK(usage.list + usage.caches >= usage.total / 2);

    /* Nothing is copied any more as soon as they are given back. */
    for (int i = 0; i < N_HELD; i++) {
        dp_packet_delete(held[i]);
    }
    CHECK_ACCOUNT(xsk, 0);
    atomic_read_relaxed(&xsk->rx_copied, &n_copied);
    for (int i = 0; i < 1000; i++) {
        fake_receive(xsk, FRAME_RX_OFFSET, LEN, NULL);
        dp_packet_delete(receive_one(xsk));
    }
    CHECK_COUNTER(xsk, rx_copied, n_copied);
    xsk_close(xsk);
    CHECK(!frame_zone_next(NULL));
}

static void
wakeups(void)
{
    struct xsk *xsk = fake_xsk_open(&opts);

    receive(xsk);
    fake_receive(xsk, FRAME_RX_OFFSET, LEN, NULL);
    dp_packet_delete(receive_one(xsk));
    CHECK_INT(fake_kernel.n_wakeups, 0);

    fake_set_flag(&xsk->fill, true);
    receive(xsk);
    CHECK_INT(fake_kernel.n_wakeups, 1);
    fake_receive(xsk, FRAME_RX_OFFSET, LEN, NULL);
    dp_packet_delete(receive_one(xsk));
    CHECK_INT(fake_kernel.n_wakeups, 2);
    CHECK_COUNTER(xsk, rx_wakeups, 2);
    xsk_close(xsk);
}

/* With busy polling nobody else runs the driver. */
static void
busy_polls(void)
{
    struct xsk *xsk = fake_xsk_open(&opts);

    atomic_store_relaxed(&xsk->busy_poll.on, true);
    fake_receive(xsk, FRAME_RX_OFFSET, LEN, NULL);
    dp_packet_delete(receive_one(xsk));
    CHECK_INT(fake_kernel.n_wakeups, 0);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(dp_packet_batch_size(receive(xsk)), 0);
    }
    CHECK_INT(fake_kernel.n_wakeups, 3);
    CHECK_COUNTER(xsk, rx_wakeups, 3);

    atomic_store_relaxed(&xsk->busy_poll.on, false);
    receive(xsk);
    CHECK_INT(fake_kernel.n_wakeups, 3);
    xsk_close(xsk);
}

/* Others may have the CPU when 64 polls on end found nothing, and not while
 * frames come now and then. */
static void
yields(void)
{
    struct xsk *xsk = fake_xsk_open(&opts);

    for (int i = 0; i < 10; i++) {
        fake_receive(xsk, FRAME_RX_OFFSET, LEN, NULL);
        dp_packet_delete(receive_one(xsk));
        for (int j = 0; j < 63; j++) {
            receive(xsk);
        }
    }
    CHECK_INT(fake_kernel.n_yields, 0);
    receive(xsk);
    CHECK_INT(fake_kernel.n_yields, 1);
    for (int i = 0; i < 640; i++) {
        receive(xsk);
    }
    CHECK_INT(fake_kernel.n_yields, 11);
    xsk_close(xsk);
}

/* A poller that sleeps between its polls takes long for 64 of them: what was
 * left in the tx ring is looked after each millisecond all the same. */
static void
slow_polls(void)
{
    struct xsk *xsk = fake_xsk_open(&opts);
    struct dp_packet_batch batch;

    fake_kernel.now = 1000;
    fake_receive(xsk, FRAME_RX_OFFSET, LEN, NULL);
    dp_packet_batch_init_packet(&batch, receive_one(xsk));
    xsk_tx(xsk, &batch);
    CHECK_INT(fake_n_in_tx(xsk), 1);
    receive(xsk);
    CHECK_INT(fake_kernel.n_kicks, 2);

    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 10; j++) {
            receive(xsk);
        }
        CHECK_INT(fake_kernel.n_kicks, 2 + i);
        fake_kernel.now += 2;
        receive(xsk);
        CHECK_INT(fake_kernel.n_kicks, 3 + i);
    }

    fake_kernel.n_per_kick = 1;
    fake_kernel.now += 2;
    receive(xsk);
    CHECK_INT(fake_n_in_tx(xsk), 0);
    CHECK_ACCOUNT(xsk, 0);
    xsk_close(xsk);
}

/* Hints. */

static const struct xdp_hints hints = {
    .cookie = COOKIE,
    .hash = 0xdeadbeef,
    .flags = XDP_HINT_HASH | XDP_HINT_L3 | XDP_HINT_L4,
};

static struct xdp_hints
hints_with(uint64_t cookie, uint16_t flags)
{
    struct xdp_hints h = hints;

    h.cookie = cookie;
    h.flags = flags;
    return h;
}

static uint64_t
cookie_in_front(struct dp_packet *packet)
{
    struct xdp_hints h;

    memcpy(&h, (uint8_t *) dp_packet_data(packet) - sizeof h, sizeof h);
    return h.cookie;
}

/* Receives a frame with 'h' in front of it.  Returns true if the packet has
 * their hash. */
static bool
takes_hash(struct xsk *xsk, uint32_t ofs, const struct xdp_hints *h)
{
    struct dp_packet *packet;
    bool has;

    fake_receive(xsk, ofs, LEN, h);
    packet = receive_one(xsk);
    has = dp_packet_rss_valid(packet);
    if (has) {
        CHECK_INT(dp_packet_get_rss_hash(packet), h->hash);
    }
    dp_packet_delete(packet);
    return has;
}

static struct xsk *
open_with_hints(int numa_node, uint64_t cookie)
{
    struct fake_opts o = opts;
    struct xsk *xsk;

    o.numa_node = numa_node;
    xsk = fake_xsk_open(&o);
    xsk_set_cookie(xsk, cookie);
    return xsk;
}

static void
right_cookie_only(void)
{
    static const uint64_t wrong[] = {
        0, 1, ~0ULL, COOKIE + 1, COOKIE ^ 1ULL << 63, COOKIE ^ 1ULL << 32,
        COOKIE >> 32, COOKIE << 32, (uint32_t) COOKIE,
    };
    struct xsk *xsk = open_with_hints(0, COOKIE);

    CHECK(takes_hash(xsk, FRAME_RX_OFFSET, &hints));
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct xdp_hints h = hints_with(wrong[i], hints.flags);

        CHECK(!takes_hash(xsk, FRAME_RX_OFFSET, &h));
    }
    CHECK_COUNTER(xsk, rx_hints, 1);
    CHECK_COUNTER(xsk, rx_packets, 1 + ARRAY_SIZE(wrong));
    xsk_close(xsk);
}

static void
cleared(void)
{
    struct xsk *xsk = open_with_hints(0, COOKIE);
    struct dp_packet *packet;
    uint8_t before[FRAME_RX_OFFSET];
    uint8_t *data;

    data = fake_receive(xsk, FRAME_RX_OFFSET, LEN, &hints);
    memset(data, 0x77, LEN);
    memset(data - FRAME_RX_OFFSET, 0x55,
           FRAME_RX_OFFSET - sizeof(struct xdp_hints));
    memcpy(before, data - FRAME_RX_OFFSET, sizeof before);
    packet = receive_one(xsk);
    CHECK_INT(cookie_in_front(packet), 0);

    /* And nothing else is. */
    memset(before + FRAME_RX_OFFSET - sizeof hints, 0, sizeof hints.cookie);
    CHECK(!memcmp(data - FRAME_RX_OFFSET, before, sizeof before));
    for (size_t i = 0; i < LEN; i++) {
        CHECK_INT(data[i], 0x77);
    }
    dp_packet_delete(packet);
    xsk_close(xsk);
}

static void
flag_only(void)
{
    struct xsk *xsk = open_with_hints(0, COOKIE);

    for (uint16_t flags = 0; flags < 16; flags++) {
        struct xdp_hints h = hints_with(COOKIE, flags);

        CHECK(takes_hash(xsk, FRAME_RX_OFFSET, &h)
              == (flags & XDP_HINT_HASH));
    }
    CHECK_COUNTER(xsk, rx_hints, 16);
    xsk_close(xsk);
}

static void
any_address(void)
{
    struct xsk *xsk = open_with_hints(0, COOKIE);

    for (uint32_t ofs = 256; ofs < 512; ofs++) {
        struct xdp_hints stale = hints_with(COOKIE + 1, hints.flags);

        CHECK(takes_hash(xsk, ofs, &hints));
        CHECK(!takes_hash(xsk, ofs, &stale));
    }
    xsk_close(xsk);
}

static void
no_hints_wanted(void)
{
    struct xsk *xsk = open_with_hints(0, 0);
    struct xdp_hints zero = hints_with(0, hints.flags);

    CHECK(!takes_hash(xsk, FRAME_RX_OFFSET, &hints));
    CHECK(!takes_hash(xsk, FRAME_RX_OFFSET, &zero));
    CHECK_COUNTER(xsk, rx_hints, 0);
    xsk_close(xsk);
}

/* A frame goes from one port to another whose program writes no hints, and
 * back to the first after its program was replaced by one of another cookie:
 * neither may take what it finds. */
static void
stale(void)
{
    struct xsk *a = open_with_hints(0, COOKIE);
    struct xsk *b = open_with_hints(0, COOKIE + 1);

    /* Frames come back to a queue's fill ring last in, first out. */
    for (int i = 0; i < 1000; i++) {
        CHECK(takes_hash(a, FRAME_RX_OFFSET, &hints));
        CHECK(!takes_hash(b, FRAME_RX_OFFSET, NULL));
        CHECK(!takes_hash(a, FRAME_RX_OFFSET, NULL));
    }
    /* Hints that were never looked at, since the port wanted none then. */
    xsk_set_cookie(a, 0);
    for (int i = 0; i < 1000; i++) {
        CHECK(!takes_hash(a, FRAME_RX_OFFSET, &hints));
    }
    CHECK_INT(a->zone == b->zone, true);
    for (int i = 0; i < 1000; i++) {
        CHECK(!takes_hash(b, FRAME_RX_OFFSET, NULL));
    }
    xsk_set_cookie(a, COOKIE + 2);
    for (int i = 0; i < 1000; i++) {
        CHECK(!takes_hash(a, FRAME_RX_OFFSET, NULL));
    }
    xsk_close(a);
    xsk_close(b);
}

int
main(void)
{
    unit_run("frames come in order, whole, in batches of at most 32", batches);
    unit_run("a frame's packet has no memory of its last use",
             no_memory_of_before);
    unit_run("fill and rx ring together always hold as many frames as each "
             "takes", refill_bounds);
    unit_run("a queue that is never empty has its ring shortened, until its "
             "poller has time to spare", overload);
    unit_run("without free frames nothing is lost, and the fill ring is "
             "topped up later", no_free_frames);
    unit_run("while OVS holds many frames, what comes is copied, and frames "
             "stay free", held_for_long);
    unit_run("the driver is woken when it asks, and only then", wakeups);
    unit_run("with busy polling each empty poll runs the driver, no other",
             busy_polls);
    unit_run("others have the CPU when nothing comes", yields);
    unit_run("a poller that sleeps looks after what was left", slow_polls);
    unit_run("hints with another cookie are not taken", right_cookie_only);
    unit_run("the cookie is cleared, and nothing else", cleared);
    unit_run("the hash is taken only with its flag", flag_only);
    unit_run("hints are taken at any address", any_address);
    unit_run("a port without hints takes none, not even with cookie 0",
             no_hints_wanted);
    unit_run("stale hints are not taken after a frame has moved", stale);
    return unit_exit_status();
}
