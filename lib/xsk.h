/* SPDX-License-Identifier: Apache-2.0 */

#ifndef XSK_H
#define XSK_H 1

/* AF_XDP sockets: one a queue of a device.
 *
 * xsk.c makes, binds and closes them, xsk-rx.c receives, xsk-tx.c sends.
 *
 * Thread rule: xsk_open() to xsk_close() in the main thread while nobody
 * receives or sends; xsk_rx() from one thread at a time, the poller of the
 * queue; the others from any. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "busy-poll.h"
#include "dp-packet.h"
#include "frame-pool.h"
#include "ovs-atomic.h"
#include "try-lock.h"
#include "tx-handover.h"
#include "xsk-ring.h"

/* What is counted by us a queue: X(MEMBER, NAME, DESCRIPTION).  The only
 * place that names them; the statistics column, appctl and the documentation
 * follow from it.  Writers: of "rx" the poller; of tx_packets and tx_kicks the
 * holder of the tx lock; of the other "tx" any thread, with atomic
 * additions. */
#define XSK_COUNTERS(X)                                                     \
    X(rx_packets, "rx_packets",                                             \
      "frames received")                                                    \
    X(rx_batches, "rx_batches",                                             \
      "batches of 1 to 32 frames received")                                 \
    X(rx_hints, "rx_hints_accepted",                                        \
      "frames with hints that the port's current program wrote")            \
    X(rx_checksums, "rx_checksums_finished",                                \
      "frames with a checksum that their sender had left unfinished")       \
    X(rx_no_frame, "rx_no_frame",                                           \
      "times the fill ring could not be topped up for want of frames")      \
    X(rx_copied, "rx_copied",                                               \
      "frames copied into other memory, since OVS held many of the zone")   \
    X(rx_overloads, "rx_overloads",                                         \
      "times the queue stood for so long that its ring was shortened")      \
    X(rx_wakeups, "rx_wakeups",                                             \
      "system calls to wake the driver for receiving")                      \
    X(tx_packets, "tx_packets",                                             \
      "frames handed to the kernel")                                        \
    X(tx_copied, "tx_copied",                                               \
      "packets copied into a frame, since they were not in one of the zone")\
    X(tx_handed_over, "tx_handed_over",                                     \
      "frames left for the thread that was sending")                        \
    X(tx_kicks, "tx_kicks",                                                 \
      "system calls to make the kernel send")                               \
    X(tx_ring_full, "tx_ring_full",                                         \
      "packets dropped, the tx ring was full")                              \
    X(tx_no_frame, "tx_no_frame",                                           \
      "packets dropped, no frame to copy them into")                        \
    X(tx_too_long, "tx_too_long",                                           \
      "packets dropped, longer than the MTU allows or a frame takes")       \
    X(tx_too_short, "tx_too_short",                                         \
      "packets dropped, shorter than an Ethernet header")

/* The kernel's struct xdp_statistics (linux/if_xdp.h) of a socket, in its
 * order: X(NAME, DESCRIPTION). */
#define XSK_KERNEL_COUNTERS(X)                                              \
    X("rx_dropped", "frames dropped by the socket, for other reasons")      \
    X("rx_invalid_descs", "invalid addresses in the fill ring")             \
    X("tx_invalid_descs", "invalid descriptors in the tx ring")             \
    X("rx_ring_full", "frames dropped, the rx ring was full")               \
    X("rx_fill_ring_empty", "frames dropped, the fill ring was empty")      \
    X("tx_ring_empty", "times the kernel found the tx ring empty")

enum {
#define XSK_COUNTER(MEMBER, NAME, DESCRIPTION) XSK_C_##MEMBER,
    XSK_COUNTERS(XSK_COUNTER)
#undef XSK_COUNTER
    XSK_N_OWN_COUNTERS,
    XSK_N_KERNEL_COUNTERS = 6,
    XSK_N_COUNTERS = XSK_N_OWN_COUNTERS + XSK_N_KERNEL_COUNTERS
};

enum xsk_copy_mode {
    XSK_COPY,
    XSK_ZEROCOPY,
};

struct xsk_opts {
    const char *ifname;         /* For messages. */
    int ifindex;
    uint32_t queue;             /* Of the device. */
    enum xsk_copy_mode copy_mode;
    bool checksums;             /* Finish checksums left to hardware? */
    uint32_t n_rx_desc;         /* Powers of two. */
    uint32_t n_tx_desc;
    uint32_t n_frames;          /* To reserve, at least the sum of those. */
    int numa_node;
};

typedef atomic_uint64_t xsk_counter;

/* What tells overload, see xsk-rx.c. */
struct rx_load {
    uint32_t n_frames;          /* Since a poll last found less than a burst;
                                 * while the ring is shortened, of this
                                 * window. */
    uint32_t n_full;            /* Polls in it that found a burst, */
    uint32_t n_small;           /* and others. */
};

struct xsk {
    /* Constant while the socket is open, but for the cookie, the length and
     * busy poll. */
    struct frame_zone *zone;
    int fd;
    uint32_t queue;
    enum xsk_copy_mode copy_mode;
    bool checksums;
    uint32_t n_rx_desc;
    atomic_uint64_t cookie;     /* Of hints to accept, 0 for none.  Changes
                                 * when the program is replaced. */
    atomic_uint32_t max_tx_len; /* Bytes of the longest frame to send, with
                                 * its Ethernet header.  Changes with the
                                 * device's MTU. */
    struct busy_poll busy_poll;
    bool lost;                  /* See xsk_is_lost(). */

    /* Receive: written by the poller. */
    OVS_ALIGNED_VAR(CACHE_LINE_SIZE) struct xsk_ring rx;
    struct xsk_ring fill;
    uint32_t n_idle_polls;      /* Empty polls since the last frame. */
    uint32_t n_busy_polls;      /* Other polls. */
    long long int looked_after; /* When frames under way were, in ms. */
    uint32_t n_level;           /* Frames that the fill and rx rings are to
                                 * hold together. */
    struct rx_load load;
    xsk_counter rx_packets, rx_batches, rx_hints, rx_no_frame, rx_overloads;
    xsk_counter rx_wakeups, rx_checksums, rx_copied;

    /* Transmit: written under 'tx_lock'. */
    OVS_ALIGNED_VAR(CACHE_LINE_SIZE) struct try_lock tx_lock;
    struct xsk_ring tx;
    struct xsk_ring completion;
    xsk_counter tx_packets, tx_kicks;

    /* Transmit: written by all that send. */
    struct tx_handover handover;
    xsk_counter tx_handed_over, tx_copied, tx_ring_full, tx_no_frame;
    xsk_counter tx_too_long, tx_too_short;

    /* Frames in the rings, for the zone's account. */
    OVS_ALIGNED_VAR(CACHE_LINE_SIZE) struct frame_user user;
};

int xsk_open(const struct xsk_opts *, struct xsk **, char **errp);
bool xsk_is_lost(struct xsk *);
void xsk_shut(struct xsk *);
void xsk_close(struct xsk *);
void xsk_set_mtu(struct xsk *, uint32_t mtu);
void xsk_set_cookie(struct xsk *, uint64_t cookie);

void xsk_refill(struct xsk *);
void xsk_rx(struct xsk *, struct dp_packet_batch *);
void xsk_tx(struct xsk *, struct dp_packet_batch *);
bool xsk_tx_is_under_way(const struct xsk *);
void xsk_tx_poll(struct xsk *);
void xsk_tx_drain(struct xsk *);

void xsk_get_counters(const struct xsk *, uint64_t counters[XSK_N_COUNTERS]);
const char *xsk_counter_name(size_t);
const char *xsk_counter_description(size_t);

/* Adds 'n' to a counter that one thread at a time writes. */
static inline void
xsk_count(xsk_counter *counter, uint64_t n)
{
    uint64_t value;

    atomic_read_relaxed(counter, &value);
    atomic_store_relaxed(counter, value + n);
}

/* Likewise for the zone's account. */
static inline void
xsk_account(atomic_uint32_t *n, int delta)
{
    uint32_t value;

    atomic_read_relaxed(n, &value);
    atomic_store_relaxed(n, value + delta);
}

#endif /* xsk.h */
