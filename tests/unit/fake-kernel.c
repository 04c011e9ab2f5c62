/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "fake-kernel.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "bitmap.h"
#include "unit.h"

struct fake_kernel fake_kernel;

/* A ring in memory, as the kernel lays it out: indexes, flags, entries. */
struct ring_head {
    uint32_t producer, consumer, flags;
    uint64_t entries[];
};

/* So that indexes wrap around in each test. */
#define FIRST_INDEX (UINT32_MAX - 70)

static void
make_ring(struct xsk_ring *ring, uint32_t n, size_t entry_size, bool producer)
{
    size_t size = sizeof(struct ring_head) + n * entry_size;
    struct ring_head *head = mmap(NULL, size, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ovs_assert(head != MAP_FAILED);
    head->producer = head->consumer = FIRST_INDEX;
    *ring = (struct xsk_ring) {
        .local = FIRST_INDEX,
        .seen = FIRST_INDEX,
        .mask = n - 1,
        .ours = producer ? &head->producer : &head->consumer,
        .theirs = producer ? &head->consumer : &head->producer,
        .flags = &head->flags,
        .entries = head->entries,
        .map = head,
        .map_size = size,
    };
}

/* Returns a socket with rings as in 'opts' and a filled fill ring, bound to
 * nothing.  xsk_close() closes it. */
struct xsk *
fake_xsk_open(const struct fake_opts *opts)
{
    struct xsk *xsk = xzalloc_cacheline(sizeof *xsk);

    xsk->fd = -1;
    atomic_init(&xsk->max_tx_len, FRAME_MAX_LEN);
    xsk->n_rx_desc = opts->n_rx_desc;
    xsk->n_level = opts->n_rx_desc;
    tx_handover_init(&xsk->handover, opts->n_tx_desc);
    xsk->zone = frame_zone_join(&xsk->user, opts->n_rx_desc + opts->n_tx_desc,
                                opts->numa_node);
    ovs_assert(xsk->zone);
    make_ring(&xsk->fill, opts->n_rx_desc, sizeof(uint64_t), true);
    make_ring(&xsk->rx, opts->n_rx_desc, sizeof(struct xdp_desc), false);
    make_ring(&xsk->tx, opts->n_tx_desc, sizeof(struct xdp_desc), true);
    make_ring(&xsk->completion, opts->n_tx_desc, sizeof(uint64_t), false);
    fake_set_flag(&xsk->tx, true);
    xsk_refill(xsk);
    fake_kernel = (struct fake_kernel) { .xsk = xsk };
    return xsk;
}

/* Sets or clears the kernel's wish to be woken for 'ring'. */
void
fake_set_flag(struct xsk_ring *ring, bool needs_wakeup)
{
    ((struct ring_head *) ring->map)->flags = (needs_wakeup
                                               ? XDP_RING_NEED_WAKEUP : 0);
}

/* Returns how many entries are in a ring that we produce ('ours' ahead of
 * 'theirs'), or that the kernel does. */
static uint32_t
n_in(const struct xsk_ring *ring)
{
    const struct ring_head *head = ring->map;

    return head->producer - head->consumer;
}

uint32_t
fake_n_in_fill(const struct xsk *xsk)
{
    return n_in(&xsk->fill);
}

uint32_t
fake_n_in_rx(const struct xsk *xsk)
{
    return n_in(&xsk->rx);
}

uint32_t
fake_n_in_tx(const struct xsk *xsk)
{
    return n_in(&xsk->tx);
}

/* Receives a frame of 'len' bytes, at byte 'ofs' of the next frame of the
 * fill ring, behind 'hints' where there are any.  Returns its data, NULL if
 * the fill ring is empty or the rx ring is full. */
uint8_t *
fake_receive(struct xsk *xsk, uint32_t ofs, uint32_t len,
             const struct xdp_hints *hints)
{
    struct xdp_desc *descs = xsk->rx.entries;
    uint64_t *addrs = xsk->fill.entries;
    struct xdp_desc *desc;
    uint8_t *data;

    if (!n_in(&xsk->fill) || n_in(&xsk->rx) == xsk_ring_size(&xsk->rx)) {
        return NULL;
    }
    desc = &descs[*xsk->rx.theirs & xsk->rx.mask];
    desc->addr = addrs[*xsk->fill.theirs & xsk->fill.mask] + ofs;
    desc->len = len;
    data = xsk->zone->memory.base + desc->addr;
    if (hints) {
        memcpy(data - sizeof *hints, hints, sizeof *hints);
    }
    ++*xsk->fill.theirs;
    ++*xsk->rx.theirs;
    return data;
}

/* Sends up to 'n' frames: takes them from the tx ring.  Returns how many. */
uint32_t
fake_transmit(struct xsk *xsk, uint32_t n)
{
    n = MIN(n, n_in(&xsk->tx));
    for (uint32_t i = 0; i < n; i++) {
        const struct xdp_desc *descs = xsk->tx.entries;

        if (fake_kernel.on_frame) {
            fake_kernel.on_frame(xsk, &descs[*xsk->tx.theirs & xsk->tx.mask]);
        }
        ++*xsk->tx.theirs;
    }
    return n;
}

/* Completes 'n' frames that were sent, the oldest first. */
void
fake_complete(struct xsk *xsk, uint32_t n)
{
    const struct xdp_desc *descs = xsk->tx.entries;
    uint64_t *addrs = xsk->completion.entries;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t c = *xsk->completion.theirs;

        ovs_assert(n_in(&xsk->completion) < xsk_ring_size(&xsk->completion)
                   && *xsk->tx.theirs - c > 0);
        /* Frames complete in the order in which they were put in. */
        addrs[c & xsk->completion.mask] = descs[c & xsk->tx.mask].addr;
        __atomic_store_n(xsk->completion.theirs, c + 1, __ATOMIC_RELEASE);
    }
}

/* Returns the descriptor of the 'i'th frame ever sent through 'xsk'. */
const struct xdp_desc *
fake_tx_desc(const struct xsk *xsk, uint32_t i)
{
    const struct xdp_desc *descs = xsk->tx.entries;

    return &descs[(FIRST_INDEX + i) & xsk->tx.mask];
}

/* Stand-ins for the system calls (ld --wrap). */

ssize_t __wrap_sendto(int, const void *, size_t, int, const struct sockaddr *,
                      socklen_t);
ssize_t __wrap_recvfrom(int, void *, size_t, int, struct sockaddr *,
                        socklen_t *);
long long int __wrap_time_msec(void);
int __wrap_sched_yield(void);
int __real_sched_yield(void);

ssize_t
__wrap_sendto(int fd OVS_UNUSED, const void *data OVS_UNUSED,
              size_t size OVS_UNUSED, int flags OVS_UNUSED,
              const struct sockaddr *to OVS_UNUSED, socklen_t len OVS_UNUSED)
{
    struct fake_kernel *k = &fake_kernel;

    k->n_kicks++;
    if (k->on_kick) {
        k->on_kick(k->xsk);
    }
    fake_complete(k->xsk, fake_transmit(k->xsk, k->n_per_kick));
    errno = EAGAIN;
    return n_in(&k->xsk->tx) ? -1 : 0;
}

ssize_t
__wrap_recvfrom(int fd OVS_UNUSED, void *data OVS_UNUSED,
                size_t size OVS_UNUSED, int flags OVS_UNUSED,
                struct sockaddr *from OVS_UNUSED, socklen_t *len OVS_UNUSED)
{
    fake_kernel.n_wakeups++;
    errno = EAGAIN;
    return -1;
}

/* Tests with several threads wait by it, too. */
int
__wrap_sched_yield(void)
{
    __atomic_add_fetch(&fake_kernel.n_yields, 1, __ATOMIC_RELAXED);
    return __real_sched_yield();
}

long long int
__wrap_time_msec(void)
{
    return fake_kernel.now;
}

/* Checks. */

uint64_t
fake_counter(const xsk_counter *counter)
{
    uint64_t n;

    atomic_read_relaxed(CONST_CAST(xsk_counter *, counter), &n);
    return n;
}

void
fake_check_account(const struct xsk *xsk, int64_t n_held, const char *where)
{
    struct frame_usage u;

    frame_zone_get_usage(xsk->zone, &u);
    unit_check(frame_usage_is_accounted(&u), where, "the account");
    unit_check_int(u.held, n_held, where, "what OVS holds");
}
