/* SPDX-License-Identifier: Apache-2.0 */

#ifndef XSK_RING_H
#define XSK_RING_H 1

/* The four rings between an AF_XDP socket and the kernel.
 *
 *              producer   consumer   entry
 *     fill     we         kernel     uint64_t address
 *     rx       kernel     we         struct xdp_desc
 *     tx       we         kernel     struct xdp_desc
 *     compl.   kernel     we         uint64_t address
 *
 * Indexes run freely and are masked at use; a ring holds at most 'mask' + 1
 * entries.  Each side writes its own index and reads the other's
 * (Documentation/networking/af_xdp.rst in the kernel).
 *
 * Thread rule: one thread at a time a ring. */

#include <linux/if_xdp.h>
#include <stdbool.h>
#include <stdint.h>

#include "util.h"

struct xsk_ring {
    uint32_t local;             /* Our index. */
    uint32_t seen;              /* The kernel's index when last looked at. */
    uint32_t mask;
    uint32_t *ours;             /* Shared: written by us. */
    uint32_t *theirs;           /* Shared: written by the kernel. */
    const uint32_t *flags;      /* Shared: XDP_RING_NEED_WAKEUP. */
    void *entries;
    void *map;                  /* The mapping and its size in bytes. */
    size_t map_size;
};

static inline uint32_t
xsk_ring_size(const struct xsk_ring *ring)
{
    return ring->mask + 1;
}

/* Returns true if the kernel asks to be woken by a system call.  After
 * xsk_ring_submit() ask only behind a full barrier: the kernel sets the flag
 * and then looks at the ring once more. */
static inline bool
xsk_ring_needs_wakeup(const struct xsk_ring *ring)
{
    return (__atomic_load_n(ring->flags, __ATOMIC_RELAXED)
            & XDP_RING_NEED_WAKEUP);
}

/* Entries are written and read by their distance from our index, which moves
 * once for all of them: a loop that counted in memory would wait for that
 * memory at each entry. */

/* Producer's side: fill and tx. */

/* Writes the entry of the fill ring 'i' places on; the caller's account of
 * frames says that there is room. */
static inline void
xsk_ring_put_addr(struct xsk_ring *ring, uint32_t i, uint64_t addr)
{
    uint64_t *addrs = ring->entries;

    addrs[(ring->local + i) & ring->mask] = addr;
}

/* Writes the entry of the tx ring 'i' places on, likewise. */
static inline void
xsk_ring_put_desc(struct xsk_ring *ring, uint32_t i, uint64_t addr,
                  uint32_t len)
{
    struct xdp_desc *descs = ring->entries;
    struct xdp_desc *desc = &descs[(ring->local + i) & ring->mask];

    desc->addr = addr;
    desc->len = len;
    desc->options = 0;
}

/* Hands the next 'n' entries, which are written, to the kernel. */
static inline void
xsk_ring_submit(struct xsk_ring *ring, uint32_t n)
{
    ring->local += n;
    __atomic_store_n(ring->ours, ring->local, __ATOMIC_RELEASE);
}

/* Returns how many entries the kernel has not taken yet. */
static inline uint32_t
xsk_ring_pending(struct xsk_ring *ring)
{
    ring->seen = __atomic_load_n(ring->theirs, __ATOMIC_ACQUIRE);
    return ring->local - ring->seen;
}

/* Consumer's side: rx and completion. */

/* Returns how many entries are there to be taken, up to 'n'. */
static inline uint32_t
xsk_ring_available(struct xsk_ring *ring, uint32_t n)
{
    uint32_t available = ring->seen - ring->local;

    if (available < n) {
        ring->seen = __atomic_load_n(ring->theirs, __ATOMIC_ACQUIRE);
        available = ring->seen - ring->local;
    }
    return MIN(available, n);
}

/* Returns how many entries wait to be taken, at some moment: for others than
 * the ring's thread.  What that thread did before xsk_ring_release() is to be
 * seen by whoever finds the entries gone. */
static inline uint32_t
xsk_ring_waiting(const struct xsk_ring *ring)
{
    uint32_t ours = __atomic_load_n(ring->ours, __ATOMIC_ACQUIRE);

    return __atomic_load_n(ring->theirs, __ATOMIC_ACQUIRE) - ours;
}

/* Returns the entry of the completion ring 'i' places on; it is known to be
 * there. */
static inline const uint64_t *
xsk_ring_addr(const struct xsk_ring *ring, uint32_t i)
{
    const uint64_t *addrs = ring->entries;

    return &addrs[(ring->local + i) & ring->mask];
}

/* Returns the entry of the rx ring 'i' places on, likewise. */
static inline const struct xdp_desc *
xsk_ring_desc(const struct xsk_ring *ring, uint32_t i)
{
    const struct xdp_desc *descs = ring->entries;

    return &descs[(ring->local + i) & ring->mask];
}

/* Gives the next 'n' entries back to the kernel; they may be written over. */
static inline void
xsk_ring_release(struct xsk_ring *ring, uint32_t n)
{
    ring->local += n;
    __atomic_store_n(ring->ours, ring->local, __ATOMIC_RELEASE);
}

#endif /* xsk-ring.h */
