/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "xsk.h"

#include <errno.h>
#include <linux/if_xdp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel-constants.h"
#include "openvswitch/vlog.h"
#include "util.h"

VLOG_DEFINE_THIS_MODULE(xsk);

/* After a socket is closed, its queue stays taken for up to 20 ms (measured
 * on Linux 6.18: the pool goes through an RCU grace period and a work
 * queue).  Ten times that, in steps of one millisecond. */
#define BIND_TRIES 200

/* Bytes that the kernel may hold of ours in flight.  The default of some 200
 * KB stops copy mode at 90 small frames, since each is charged a whole skb;
 * this lets a ring of 4,096 frames of 4 KB go. */
#define SEND_BUFFER (16 << 20)

static const struct {
    const char *name;
    const char *description;
} counter_docs[XSK_N_COUNTERS] = {
#define OWN_DOCS(MEMBER, NAME, DESCRIPTION) { NAME, DESCRIPTION },
    XSK_COUNTERS(OWN_DOCS)
#undef OWN_DOCS
#define KERNEL_DOCS(NAME, DESCRIPTION) { NAME, DESCRIPTION },
    XSK_KERNEL_COUNTERS(KERNEL_DOCS)
#undef KERNEL_DOCS
};

static int
set_ring_size(int fd, int option, uint32_t size)
{
    return setsockopt(fd, SOL_XDP, option, &size, sizeof size) ? errno : 0;
}

/* Registers the whole zone as the socket's UMEM and sizes the rings. */
static int
register_memory(struct xsk *xsk, const struct xsk_opts *opts)
{
    struct xdp_umem_reg reg = {
        .addr = (uintptr_t) xsk->zone->memory.base,
        .len = (uint64_t) xsk->zone->n_frames << FRAME_SHIFT,
        .chunk_size = FRAME_SIZE,
        .headroom = FRAME_UMEM_HEADROOM,
    };
    int error;

    if (setsockopt(xsk->fd, SOL_XDP, XDP_UMEM_REG, &reg, sizeof reg)) {
        return errno;
    }
    error = set_ring_size(xsk->fd, XDP_UMEM_FILL_RING, opts->n_rx_desc);
    if (!error) {
        error = set_ring_size(xsk->fd, XDP_UMEM_COMPLETION_RING,
                              opts->n_tx_desc);
    }
    if (!error) {
        error = set_ring_size(xsk->fd, XDP_RX_RING, opts->n_rx_desc);
    }
    if (!error) {
        error = set_ring_size(xsk->fd, XDP_TX_RING, opts->n_tx_desc);
    }
    return error;
}

static int
map_ring(int fd, struct xsk_ring *ring, uint64_t pgoff, uint32_t n,
         size_t entry_size, const struct xdp_ring_offset *off, bool producer)
{
    size_t size = off->desc + n * entry_size;
    uint8_t *map = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_POPULATE, fd, pgoff);
    void *head, *tail;

    if (map == MAP_FAILED) {
        return errno;
    }
    head = map + off->producer;
    tail = map + off->consumer;
    ring->map = map;
    ring->map_size = size;
    ring->mask = n - 1;
    ring->ours = producer ? head : tail;
    ring->theirs = producer ? tail : head;
    ring->flags = (const void *) (map + off->flags);
    ring->entries = map + off->desc;
    return 0;
}

static int
map_rings(struct xsk *xsk, const struct xsk_opts *opts)
{
    struct xdp_mmap_offsets off;
    socklen_t len = sizeof off;
    int error;

    if (getsockopt(xsk->fd, SOL_XDP, XDP_MMAP_OFFSETS, &off, &len)) {
        return errno;
    }
    error = map_ring(xsk->fd, &xsk->fill, XDP_UMEM_PGOFF_FILL_RING,
                     opts->n_rx_desc, sizeof(uint64_t), &off.fr, true);
    if (!error) {
        error = map_ring(xsk->fd, &xsk->completion,
                         XDP_UMEM_PGOFF_COMPLETION_RING, opts->n_tx_desc,
                         sizeof(uint64_t), &off.cr, false);
    }
    if (!error) {
        error = map_ring(xsk->fd, &xsk->rx, XDP_PGOFF_RX_RING,
                         opts->n_rx_desc, sizeof(struct xdp_desc), &off.rx,
                         false);
    }
    if (!error) {
        error = map_ring(xsk->fd, &xsk->tx, XDP_PGOFF_TX_RING,
                         opts->n_tx_desc, sizeof(struct xdp_desc), &off.tx,
                         true);
    }
    return error;
}

static void
unmap_ring(struct xsk_ring *ring)
{
    if (ring->map) {
        munmap(ring->map, ring->map_size);
        ring->map = NULL;
    }
}

/* Lets one system call send as much as the ring holds.  What an older kernel
 * does not know is left at its default: it costs system calls, no frame. */
static void
raise_tx_limits(const struct xsk *xsk, const struct xsk_opts *opts)
{
    int bytes = SEND_BUFFER;
    uint32_t budget = opts->n_tx_desc;

    if (setsockopt(xsk->fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes,
                   sizeof bytes)) {
        VLOG_DBG("%s: queue %"PRIu32": SO_SNDBUFFORCE: %s", opts->ifname,
                 opts->queue, ovs_strerror(errno));
    }
    if (setsockopt(xsk->fd, SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &budget,
                   sizeof budget)) {
        VLOG_DBG("%s: queue %"PRIu32": XDP_MAX_TX_SKB_BUDGET: %s",
                 opts->ifname, opts->queue, ovs_strerror(errno));
    }
}

static int
bind_queue(struct xsk *xsk, const struct xsk_opts *opts)
{
    struct sockaddr_xdp address = {
        .sxdp_family = AF_XDP,
        .sxdp_ifindex = opts->ifindex,
        .sxdp_queue_id = opts->queue,
        .sxdp_flags = (XDP_USE_NEED_WAKEUP
                       | (opts->copy_mode == XSK_ZEROCOPY
                          ? XDP_ZEROCOPY : XDP_COPY)),
    };

    for (int i = 0; i < BIND_TRIES; i++) {
        if (!bind(xsk->fd, (struct sockaddr *) &address, sizeof address)) {
            return 0;
        } else if (errno != EBUSY) {
            return errno;
        }
        xnanosleep_no_quiesce(1000 * 1000);
    }
    return EBUSY;
}

/* Says what failed, and what helps where that is known. */
static char *
describe_failure(const struct xsk_opts *opts, const char *step, int error)
{
    const char *hint = "";

    if (error == ENOBUFS) {
        hint = "; the memory lock limit is too small: give the daemon "
               "CAP_IPC_LOCK or raise LimitMEMLOCK";
    } else if (error == EBUSY) {
        hint = "; another AF_XDP socket has this queue: \"ss --xdp -p\" "
               "names it where the kernel has CONFIG_XDP_SOCKETS_DIAG";
    } else if (error == EPERM) {
        hint = "; the daemon lacks CAP_NET_RAW or CAP_NET_ADMIN";
    }
    return xasprintf("%s: queue %"PRIu32": %s failed (%s)%s", opts->ifname,
                     opts->queue, step, ovs_strerror(error), hint);
}

/* Makes the socket of 'xsk', up to and with its binding.  Sets '*step' to
 * what was being done.  The fill ring is filled before the socket is bound:
 * some drivers leak buffers otherwise. */
static int
set_up_socket(struct xsk *xsk, const struct xsk_opts *opts, const char **step)
{
    int error;

    *step = "creating an AF_XDP socket";
    xsk->fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (xsk->fd < 0) {
        return errno;
    }
    *step = "registering the frame memory";
    error = register_memory(xsk, opts);
    if (!error) {
        *step = "mapping the rings";
        error = map_rings(xsk, opts);
    }
    if (!error) {
        *step = (opts->copy_mode == XSK_ZEROCOPY
                 ? "binding in zero-copy mode" : "binding in copy mode");
        xsk_refill(xsk);
        raise_tx_limits(xsk, opts);
        error = bind_queue(xsk, opts);
    }
    return error;
}

/* Opens a socket on queue 'opts->queue' of a device, with its rings, and
 * frames in its fill ring.  On success returns 0 and stores the socket in
 * '*xskp'.  On failure returns a positive errno, stores NULL, and stores in
 * '*errp' what failed (the caller frees it): ENOMEM or ENOSPC without frames,
 * EINVAL for a queue that the device has not got, EBUSY for one that another
 * socket has, EOPNOTSUPP for a copy mode that the device cannot do.  Main
 * thread. */
int
xsk_open(const struct xsk_opts *opts, struct xsk **xskp, char **errp)
{
    struct xsk *xsk = xzalloc_cacheline(sizeof *xsk);
    const char *step = "reserving frames";
    int error;

    *xskp = NULL;
    xsk->fd = -1;
    xsk->queue = opts->queue;
    xsk->copy_mode = opts->copy_mode;
    xsk->checksums = opts->checksums;
    atomic_init(&xsk->max_tx_len, FRAME_MAX_LEN);
    xsk->n_rx_desc = opts->n_rx_desc;
    xsk->n_level = opts->n_rx_desc;
    tx_handover_init(&xsk->handover, opts->n_tx_desc);
    xsk->zone = frame_zone_join(&xsk->user, opts->n_frames, opts->numa_node);
    error = xsk->zone ? 0 : errno;
    if (!error) {
        error = set_up_socket(xsk, opts, &step);
    }
    if (error) {
        *errp = describe_failure(opts, step, error);
        xsk_close(xsk);
        return error;
    }
    *xskp = xsk;
    return 0;
}

/* Returns true if the kernel has taken 'xsk' off its device, for good: that
 * has been deleted, or moved to another network namespace, from where it may
 * have come back since.  The kernel says so once.  Main thread. */
bool
xsk_is_lost(struct xsk *xsk)
{
    int error = 0;
    socklen_t len = sizeof error;

    if (!getsockopt(xsk->fd, SOL_SOCKET, SO_ERROR, &error, &len)
        && error == ENETDOWN) {
        xsk->lost = true;
    }
    return xsk->lost;
}

/* Gives the socket and the rings of 'xsk' back to the kernel; the frames stay
 * taken.  The caller has taken it out of the socket map and, if it was
 * sending, drained it.  In copy mode the kernel is done with the frames when
 * this returns (it waits for its receive path); in zero-copy mode the driver
 * stops somewhat later.  Main thread. */
void
xsk_shut(struct xsk *xsk)
{
    /* The queue is free only when the rings are unmapped too. */
    unmap_ring(&xsk->rx);
    unmap_ring(&xsk->tx);
    unmap_ring(&xsk->fill);
    unmap_ring(&xsk->completion);
    if (xsk->fd >= 0) {
        close(xsk->fd);
        xsk->fd = -1;
    }
}

/* Closes 'xsk', shut before or not, and takes its frames back; NULL is
 * allowed.  The kernel does not use the frames any more.  Main thread. */
void
xsk_close(struct xsk *xsk)
{
    if (!xsk) {
        return;
    }
    xsk_shut(xsk);
    if (xsk->zone) {
        frame_zone_reclaim(xsk->zone, &xsk->user);
        frame_zone_leave(xsk->zone, &xsk->user);
    }
    tx_handover_destroy(&xsk->handover);
    free_cacheline(xsk);
}

/* Makes 'xsk' drop, and count, what it is to send that is longer than a frame
 * with 'mtu' bytes behind its Ethernet header and two VLAN tags.  The kernel
 * would count such a frame as sent, and lose it behind that or bring it to who
 * has no room for it.  Until this is called only a frame of ours is the bound.
 * Any thread. */
void
xsk_set_mtu(struct xsk *xsk, uint32_t mtu)
{
    uint32_t headers = ETH_HEADER_LEN + 2 * VLAN_HEADER_LEN;

    atomic_store_relaxed(&xsk->max_tx_len,
                         MIN(mtu, FRAME_MAX_LEN - headers) + headers);
}

/* Makes 'xsk' accept the hints of the program with 'cookie' only, or none for
 * 0, from the next batch on.  Any thread. */
void
xsk_set_cookie(struct xsk *xsk, uint64_t cookie)
{
    atomic_store_relaxed(&xsk->cookie, cookie);
}

/* Stores in 'counters' what was counted for 'xsk', by us and by the kernel.
 * Kernels before 5.9 know three of the six; the others stay 0.  Any
 * thread. */
void
xsk_get_counters(const struct xsk *xsk, uint64_t counters[XSK_N_COUNTERS])
{
    uint64_t kernel[XSK_N_KERNEL_COUNTERS] = { 0 };
    socklen_t len = sizeof kernel;
    xsk_counter *own[] = {
#define XSK_COUNTER(MEMBER, NAME, DESCRIPTION)          \
        CONST_CAST(xsk_counter *, &xsk->MEMBER),
        XSK_COUNTERS(XSK_COUNTER)
#undef XSK_COUNTER
    };

    for (size_t i = 0; i < XSK_N_OWN_COUNTERS; i++) {
        atomic_read_relaxed(own[i], &counters[i]);
    }
    if (getsockopt(xsk->fd, SOL_XDP, XDP_STATISTICS, kernel, &len)) {
        memset(kernel, 0, sizeof kernel);
    }
    memcpy(&counters[XSK_N_OWN_COUNTERS], kernel, sizeof kernel);
}

/* Returns the name of counter 'i', as in the statistics column. */
const char *
xsk_counter_name(size_t i)
{
    return counter_docs[i].name;
}

/* Returns in one line what counter 'i' counts. */
const char *
xsk_counter_description(size_t i)
{
    return counter_docs[i].description;
}
