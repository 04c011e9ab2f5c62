/* SPDX-License-Identifier: Apache-2.0 */

#include "nic.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "traffic.h"

/* Descriptors that are handled of one ring before the next one's turn: like
 * the budget of NAPI. */
#define BUDGET 64

/* After a round without work the NIC waits for some 0.2 us, so that its
 * looking does not keep taking the rings' cache lines from the program: no
 * driver looks that often.  After so many rounds it sleeps for a moment. */
#define IDLE_PAUSES 4
#define IDLE_ROUNDS 10000
#define IDLE_NS 50000

/* Where others are to have part of its core (XSK_SIM_NAP), the NIC sleeps for
 * 'nap_ns' after so many rounds, whether there was work or not.  What two
 * queues receive in these, bursts of 32, has room in a tx ring of 2048. */
#define NAP_ROUNDS 16
static long nap_ns;

/* How far ahead frames are fetched to be written to. */
#define PREFETCH 8

/* As many as the smaller rings of drivers hold. */
uint32_t nic_depth = 256;

/* The thread.  'pause_wanted' counts who wants it to stand still. */
static bool started;
static int pause_wanted, paused;
static pthread_mutex_t pause_mutex = PTHREAD_MUTEX_INITIALIZER;

uint64_t
nic_now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Owners of frames. */

static const char *
owner_name(enum owner owner)
{
    switch (owner) {
    case OWNER_FILL: return "the NIC, to receive into";
    case OWNER_RX: return "the rx ring";
    case OWNER_TX: return "the NIC, to send";
    default: return "the program";
    }
}

/* Gives the frames that the program has taken out of the rx ring of 's' to
 * it. */
static void
see_consumed(struct sim_socket *s)
{
    struct ring *rx = &s->rings[RING_RX];
    uint32_t consumer, mask = rx->size - 1;

    if (!rx->map) {
        return;
    }
    consumer = __atomic_load_n(rx->consumer, __ATOMIC_ACQUIRE);
    if (rx->index - consumer > rx->size) {
        nic_broken(s, "rx ring: its consumer %u is ahead of its producer %u",
                   consumer, rx->index);
    }
    for (; s->rx_seen != consumer; s->rx_seen++) {
        s->region->owners[s->delivered[s->rx_seen & mask]] = OWNER_APP;
    }
}

/* Makes chunk 'chunk', that the program has put into a ring, the NIC's. */
static inline void
take(struct sim_socket *s, uint32_t chunk, enum owner owner, const char *ring)
{
    struct region *r = s->region;

    if (__builtin_expect(r->owners[chunk] != OWNER_APP, 0)) {
        for (uint32_t i = 0; i < sim_n_sockets; i++) {
            if (sim_sockets[i] && sim_sockets[i]->region == r) {
                see_consumed(sim_sockets[i]);
            }
        }
        if (r->owners[chunk] != OWNER_APP) {
            const struct sim_socket *other = sim_sockets[r->sockets[chunk]];

            nic_broken(s, "%s ring: frame %u (address %#lx) is owned twice: "
                       "by %s of %s queue %u already", ring, chunk,
                       (unsigned long) chunk << r->chunk_shift,
                       owner_name(r->owners[chunk]), other->ifname,
                       other->queue);
        }
    }
    r->owners[chunk] = owner;
    r->sockets[chunk] = s->id;
}

/* Gives all frames that the NIC or the rx ring has for 's' to the program.  To
 * be called while the NIC is paused. */
void
nic_release_frames(struct sim_socket *s)
{
    struct region *r = s->region;

    for (uint32_t i = 0; i < r->len >> r->chunk_shift; i++) {
        if (r->owners[i] != OWNER_APP && r->sockets[i] == s->id) {
            r->owners[i] = OWNER_APP;
        }
    }
}

/* Returns how many entries the program has put into a ring since. */
static inline uint32_t
pending(const struct sim_socket *s, const struct ring *ring, const char *name)
{
    uint32_t n = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE)
                 - ring->index;

    if (__builtin_expect(n > ring->size, 0)) {
        nic_broken(s, "%s ring: its producer is %u entries ahead, it has room "
                   "for %u", name, n, ring->size);
    }
    return n;
}

static inline uint32_t
min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Returns how many entries from 'index' on the program has woken us for. */
static inline uint32_t
allowed(const uint32_t *limit, uint32_t index)
{
    int32_t n = __atomic_load_n(limit, __ATOMIC_ACQUIRE) - index;

    return n > 0 ? n : 0;
}

/* Receiving. */

/* Takes what is in the fill ring, up to what the hardware keeps. */
static uint32_t
take_fill(struct sim_socket *s)
{
    struct ring *fill = &s->rings[RING_FILL];
    const uint64_t *addrs = fill->entries;
    uint32_t depth = s->faults.starve ? SIM_MAX_DEPTH : nic_depth;
    uint32_t held = s->hw_head - s->hw_tail;
    uint32_t i, n;

    if (held >= depth) {
        return 0;
    }
    n = min(pending(s, fill, "fill"), depth - held);
    if (s->wakeup_now >= 2 && !s->look_again) {
        n = min(n, allowed(&s->fill_allowed, fill->index));
    }
    for (i = 0; i < n; i++) {
        uint64_t addr = addrs[fill->index++ & (fill->size - 1)];

        if (__builtin_expect(addr >= s->region->len, 0)) {
            nic_broken(s, "fill ring: address %#lx is beyond the UMEM of %#lx "
                       "bytes", addr, s->region->len);
        }
        take(s, addr >> s->region->chunk_shift, OWNER_FILL, "fill");
        s->hw[s->hw_head++ % SIM_MAX_DEPTH] = addr;
    }
    if (n) {
        __atomic_store_n(fill->consumer, fill->index, __ATOMIC_RELEASE);
    }
    return n;
}

/* Returns how many frames have arrived now.  What has arrived for longer than
 * eight bursts has found no place to go: it is lost on the wire, since the
 * NIC itself was late. */
static uint32_t
n_arrived(struct sim_socket *s)
{
    uint64_t now, gap;

    if (!shape.rate) {
        return shape.burst;
    }
    now = nic_now_ns();
    if (now < s->next_ns) {
        return 0;
    }
    gap = shape.burst * 1000000000ull / shape.rate;
    if (now - s->next_ns > 8 * gap) {
        s->next_ns = now;
    }
    s->next_ns += gap;
    return shape.burst;
}

static void
deliver(struct sim_socket *s, uint32_t n)
{
    struct ring *rx = &s->rings[RING_RX];
    struct xdp_desc *descs = rx->entries;
    struct region *r = s->region;
    uint32_t mask = rx->size - 1;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t entry = rx->index++ & mask;
        uint64_t addr = s->hw[s->hw_tail++ % SIM_MAX_DEPTH];
        uint32_t chunk = addr >> r->chunk_shift;
        uint64_t ahead = s->hw[(s->hw_tail + PREFETCH) % SIM_MAX_DEPTH];
        uint32_t len;

        /* XDP's own headroom, which drivers leave, is behind the UMEM's. */
        __builtin_prefetch(r->base + ahead + s->umem.headroom + 256, 1);
        addr = ((uint64_t) chunk << r->chunk_shift) + s->umem.headroom + 256;
        if (shape.verify) {
            len = stream_write_probe(&s->stream, r->base + addr);
            r->probes[chunk] = probe_id(r->base + addr, len);
        } else {
            len = stream_write(&s->stream, r->base + addr, s->cookie);
        }
        descs[entry] = (struct xdp_desc) { .addr = addr, .len = len };
        s->delivered[entry] = chunk;
        r->owners[chunk] = OWNER_RX;
        s->n.rx_bytes += len;
    }
    __atomic_store_n(rx->producer, rx->index, __ATOMIC_RELEASE);
    s->n.rx_frames += n;
}

/* Delivers what arrives.  With a rate, what finds no frame or no place in the
 * rx ring is lost and counted; without one it waits. */
static uint32_t
receive(struct sim_socket *s)
{
    struct ring *rx = &s->rings[RING_RX];
    uint32_t held, room, arrived, n;

    if (!rx->map || !s->running
        || !__atomic_load_n(&s->map_id, __ATOMIC_ACQUIRE)) {
        return 0;
    }
    arrived = n_arrived(s);
    if (!arrived) {
        return 0;
    }
    see_consumed(s);
    held = s->faults.starve ? 0 : s->hw_head - s->hw_tail;
    room = rx->size - (rx->index - s->rx_seen);
    n = min(arrived, min(held, room));
    s->n.rx_rounds++;
    s->n.rx_rounds_blocked += n < arrived;
    if (shape.rate && n < arrived) {
        if (held < room) {
            s->n.rx_no_fill += arrived - n;
        } else {
            s->n.rx_ring_full += arrived - n;
        }
    }
    if (n) {
        deliver(s, n);
    }
    return n;
}

/* Sending. */

static inline void
check_tx(const struct sim_socket *s, const struct xdp_desc *desc)
{
    const struct region *r = s->region;
    uint32_t chunk_size = 1u << r->chunk_shift;
    uint64_t end = (desc->addr & (chunk_size - 1)) + (uint64_t) desc->len;

    if (__builtin_expect(desc->addr >= r->len, 0)) {
        nic_broken(s, "tx ring: address %#llx is beyond the UMEM of %#lx "
                   "bytes", desc->addr, r->len);
    }
    if (__builtin_expect(end > chunk_size, 0)) {
        nic_broken(s, "tx ring: %u bytes at %#llx cross the end of a chunk of "
                   "%u", desc->len, desc->addr, chunk_size);
    }
    if (__builtin_expect(desc->len < 14 || desc->options, 0)) {
        nic_broken(s, "tx ring: length %u, options %#x", desc->len,
                   desc->options);
    }
}

/* Judges a frame that is sent, and whether it is still where it was delivered
 * to: nobody has copied it. */
static void
check_payload(struct sim_socket *s, const struct xdp_desc *desc)
{
    const struct region *r = s->region;
    const uint8_t *frame = r->base + desc->addr;
    uint64_t id = probe_id(frame, desc->len);

    stream_check(frame, desc->len, &s->verdict);
    s->n.tx_in_place += id && id == r->probes[desc->addr >> r->chunk_shift];
}

/* Puts up to BUDGET frames that were sent into the completion ring. */
static uint32_t
complete(struct sim_socket *s)
{
    struct ring *ring = &s->rings[RING_COMPLETION];
    uint32_t mask = ring->size - 1, n = s->sent_head - s->sent_tail;
    uint32_t last = s->sent_tail;
    uint64_t *addrs = ring->entries;

    if (s->faults.completion_delay) {
        n = n > s->faults.completion_delay
            ? n - s->faults.completion_delay : 0;
    }
    n = min(n, BUDGET);
    if (!n) {
        return 0;
    }
    last += n - 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t from = (s->faults.completion_reverse
                         ? last - i : s->sent_tail + i);
        uint64_t addr = s->sent[from & mask];

        addrs[ring->index++ & mask] = addr;
        s->region->owners[addr >> s->region->chunk_shift] = OWNER_APP;
    }
    s->sent_tail += n;
    __atomic_store_n(ring->producer, ring->index, __ATOMIC_RELEASE);
    s->n.completed += n;
    return n;
}

/* Takes what is in the tx ring, as far as there is room for its completion. */
static uint32_t
transmit(struct sim_socket *s)
{
    struct ring *tx = &s->rings[RING_TX];
    struct ring *completion = &s->rings[RING_COMPLETION];
    const struct xdp_desc *descs = tx->entries;
    uint32_t n, used;

    if (!tx->map) {
        return 0;
    }
    n = min(pending(s, tx, "tx"), BUDGET);
    if (s->wakeup_now && !s->look_again) {
        n = min(n, allowed(&s->tx_allowed, tx->index));
    }
    if (!n) {
        return 0;
    }
    used = (completion->index + s->sent_head - s->sent_tail
            - __atomic_load_n(completion->consumer, __ATOMIC_ACQUIRE));
    n = min(n, completion->size - used);
    for (uint32_t i = 0; i < n; i++) {
        const struct xdp_desc *desc = &descs[tx->index++ & (tx->size - 1)];

        check_tx(s, desc);
        take(s, desc->addr >> s->region->chunk_shift, OWNER_TX, "tx");
        if (shape.verify) {
            check_payload(s, desc);
        }
        s->sent[s->sent_head++ & (completion->size - 1)] = desc->addr;
        s->n.tx_bytes += desc->len;
    }
    __atomic_store_n(tx->consumer, tx->index, __ATOMIC_RELEASE);
    s->n.tx_frames += n;
    return n;
}

/* Waking. */

/* Shows in the rings of 's' whether the NIC asks to be woken.  The flag comes
 * first, then a look at the ring once more: what is put in afterwards has seen
 * the flag. */
static void
show_wakeup(struct sim_socket *s)
{
    uint32_t wakeup = (s->bind_flags & XDP_USE_NEED_WAKEUP
                       ? s->faults.wakeup : 0);
    struct ring *fill = &s->rings[RING_FILL], *tx = &s->rings[RING_TX];

    if (wakeup == s->wakeup_now) {
        return;
    }
    __atomic_store_n(fill->flags, wakeup >= 2 ? XDP_RING_NEED_WAKEUP : 0,
                     __ATOMIC_RELAXED);
    if (tx->map) {
        __atomic_store_n(tx->flags, wakeup ? XDP_RING_NEED_WAKEUP : 0,
                         __ATOMIC_RELAXED);
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    s->wakeup_now = wakeup;
    s->look_again = true;
}

/* Does what a sendto() on 's' asks for.  Returns 0 or a positive errno.  A
 * thread of the program. */
int
nic_kick_tx(struct sim_socket *s)
{
    const struct ring *tx = &s->rings[RING_TX];
    uint32_t budget = s->faults.kick_budget;
    uint32_t producer, from, n;

    s->n.tx_calls++;
    if (s->faults.enxio) {
        s->n.calls_enxio++;
        return ENXIO;
    } else if (!tx->map) {
        return ENOBUFS;
    } else if (s->faults.eagain && !(s->n.tx_calls % s->faults.eagain)) {
        s->n.calls_eagain++;
        return EAGAIN;
    }
    producer = __atomic_load_n(tx->producer, __ATOMIC_ACQUIRE);
    from = __atomic_load_n(tx->consumer, __ATOMIC_ACQUIRE);
    from += allowed(&s->tx_allowed, from);
    n = producer - from;
    if (budget && n > budget) {
        __atomic_store_n(&s->tx_allowed, from + budget, __ATOMIC_RELEASE);
        s->n.calls_eagain++;
        return EAGAIN;
    }
    __atomic_store_n(&s->tx_allowed, producer, __ATOMIC_RELEASE);
    return 0;
}

/* Does what a recvfrom() or poll() on 's' asks for, likewise. */
int
nic_kick_rx(struct sim_socket *s)
{
    const struct ring *fill = &s->rings[RING_FILL];

    s->n.rx_calls++;
    if (s->faults.enxio) {
        s->n.calls_enxio++;
        return ENXIO;
    }
    __atomic_store_n(&s->fill_allowed,
                     __atomic_load_n(fill->producer, __ATOMIC_ACQUIRE),
                     __ATOMIC_RELEASE);
    return 0;
}

/* The thread. */

static uint32_t
serve(struct sim_socket *s)
{
    uint32_t n = 0;

    if (s->faults.enxio) {
        return 0;
    }
    show_wakeup(s);
    n += transmit(s);
    n += complete(s);
    n += take_fill(s);
    n += receive(s);
    s->look_again = false;
    return n;
}

static void
pin(const char *cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu ? atoi(cpu) : 0, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static inline void
relax(void)
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

static void *
nic_main(void *aux __attribute__((unused)))
{
    uint32_t idle = 0, rounds = 0;

    pthread_setname_np(pthread_self(), "xsk-sim-nic");
    pin(getenv("XSK_SIM_CPU"));
    for (;;) {
        uint32_t n = 0;

        if (__builtin_expect(__atomic_load_n(&pause_wanted, __ATOMIC_ACQUIRE),
                             0)) {
            __atomic_store_n(&paused, 1, __ATOMIC_RELEASE);
            while (__atomic_load_n(&pause_wanted, __ATOMIC_ACQUIRE)) {
                sched_yield();
            }
            __atomic_store_n(&paused, 0, __ATOMIC_RELEASE);
        }
        for (uint32_t i = 0; i < sim_n_sockets; i++) {
            if (sim_sockets[i]) {
                n += serve(sim_sockets[i]);
            }
        }
        idle = n ? 0 : idle + 1;
        for (int i = 0; idle && i < IDLE_PAUSES; i++) {
            relax();
        }
        if (nap_ns ? ++rounds % NAP_ROUNDS == 0 : idle > IDLE_ROUNDS) {
            const struct timespec ts = {
                .tv_nsec = nap_ns ? nap_ns : IDLE_NS,
            };

            nanosleep(&ts, NULL);
        }
    }
    return NULL;
}

/* Starts the NIC's and the control thread, unless they run.  Not before the
 * first socket is bound: daemons fork before that. */
void
nic_start(void)
{
    sigset_t all, before;
    pthread_t thread;

    if (!started) {
        started = true;
        shape_init();
        if (getenv("XSK_SIM_DEPTH")) {
            nic_depth = atoi(getenv("XSK_SIM_DEPTH"));
            nic_depth = min(nic_depth ? nic_depth : 1, SIM_MAX_DEPTH);
        }
        if (getenv("XSK_SIM_NAP")) {
            nap_ns = atol(getenv("XSK_SIM_NAP")) * 1000;
        }
        /* Signals are for the program's own threads. */
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        pthread_create(&thread, NULL, nic_main, NULL);
        control_start();
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
}

/* Makes the NIC stand still, until nic_resume(); nobody else can pause it
 * meanwhile. */
void
nic_pause(void)
{
    pthread_mutex_lock(&pause_mutex);
    __atomic_store_n(&pause_wanted, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&paused, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
}

void
nic_resume(void)
{
    __atomic_store_n(&pause_wanted, 0, __ATOMIC_RELEASE);
    while (__atomic_load_n(&paused, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
    pthread_mutex_unlock(&pause_mutex);
}
