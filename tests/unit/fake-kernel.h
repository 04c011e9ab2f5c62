/* SPDX-License-Identifier: Apache-2.0 */

#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H 1

/* A socket of our own code whose rings are ordinary memory, and the kernel's
 * side of them.  Frames come from a real zone.  One thread, or several that
 * only send: the kernel is called under the tx lock. */

#include "xdp-layout.h"
#include "xsk.h"

struct fake_opts {
    uint32_t n_rx_desc;         /* Powers of two. */
    uint32_t n_tx_desc;
    int numa_node;              /* Each node has zones of its own. */
};

struct xsk *fake_xsk_open(const struct fake_opts *);

uint8_t *fake_receive(struct xsk *, uint32_t ofs, uint32_t len,
                      const struct xdp_hints *);
uint32_t fake_transmit(struct xsk *, uint32_t n);
void fake_complete(struct xsk *, uint32_t n);
const struct xdp_desc *fake_tx_desc(const struct xsk *, uint32_t i);
uint32_t fake_n_in_fill(const struct xsk *);
uint32_t fake_n_in_rx(const struct xsk *);
uint32_t fake_n_in_tx(const struct xsk *);
void fake_set_flag(struct xsk_ring *, bool needs_wakeup);

/* What the kernel does when it is called to send on the socket that was
 * opened last: it sends and completes up to 'n_per_kick' frames. */
struct fake_kernel {
    struct xsk *xsk;
    uint32_t n_per_kick;
    uint32_t n_kicks;           /* Calls to send. */
    uint32_t n_wakeups;         /* Calls to receive. */
    uint32_t n_yields;          /* Calls that let others have the CPU. */
    long long int now;          /* time_msec(), in tests that wrap it. */

    /* If nonnull: called at the start of a call to send, and for each frame
     * that is sent. */
    void (*on_kick)(struct xsk *);
    void (*on_frame)(const struct xsk *, const struct xdp_desc *);
};
extern struct fake_kernel fake_kernel;

/* Checks that every frame of the zone of 'xsk' is in its place, and that OVS
 * holds 'n_held' of them. */
#define CHECK_ACCOUNT(XSK, N_HELD) \
    fake_check_account(XSK, N_HELD, OVS_SOURCE_LOCATOR)
void fake_check_account(const struct xsk *, int64_t n_held,
                        const char *where);

/* Checks a counter: CHECK_COUNTER(xsk, tx_copied, 1). */
#define CHECK_COUNTER(XSK, MEMBER, N) \
    unit_check_int(fake_counter(&(XSK)->MEMBER), N, OVS_SOURCE_LOCATOR, \
                   #MEMBER)
uint64_t fake_counter(const xsk_counter *);

#endif /* fake-kernel.h */
