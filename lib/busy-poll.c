/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "busy-poll.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include "napi-hold.h"
#include "util.h"
#include "xsk.h"

/* SO_BUSY_POLL, in microseconds.  Any number but 0 will do: a call that does
 * not wait runs the driver once and returns. */
#define BUSY_POLL_US 20

/* Frames that a system call lets the driver take in.  The kernel's default is
 * 8.  Published figures are 10 % better with 256 than with 64, since fewer
 * calls are made; and what a ring holds above 256 is not in the cache any more
 * when its turn comes (see xsk-rx.c). */
#define BUSY_POLL_BUDGET 256

/* What the kernel's documentation of AF_XDP and its authors take.  The timer
 * has to be longer than a thread is away from the queue, or the driver works
 * in interrupts all the same: a burst of 32 frames takes a thread some 15 us,
 * so it may have ten such queues.  When the thread stops, interrupts are on
 * again after the timer has come twice in vain. */
static const struct napi_values busy_values = {
    .defer_hard_irqs = 2,
    .gro_flush_timeout = 200 * 1000,
};

/* Returns the id of the NAPI that the socket knows, 0 for none. */
static uint32_t
socket_napi_id(int fd)
{
    unsigned int id = 0;
    socklen_t len = sizeof id;

    return getsockopt(fd, SOL_SOCKET, SO_INCOMING_NAPI_ID, &id, &len) ? 0 : id;
}

/* Sets or clears the options of the socket.  Returns 0 or a positive errno and
 * the option in '*name'.  With a budget of 0, as a new socket has it, the
 * kernel takes its default (sk_busy_loop()). */
static int
set_socket_options(int fd, bool on, const char **name)
{
    const struct {
        int option;
        int value;
        const char *name;
    } options[] = {
        { SO_PREFER_BUSY_POLL, on, "SO_PREFER_BUSY_POLL" },
        { SO_BUSY_POLL, on ? BUSY_POLL_US : 0, "SO_BUSY_POLL" },
        { SO_BUSY_POLL_BUDGET, on ? BUSY_POLL_BUDGET : 0,
          "SO_BUSY_POLL_BUDGET" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
        *name = options[i].name;
        if (setsockopt(fd, SOL_SOCKET, options[i].option, &options[i].value,
                       sizeof options[i].value)) {
            return errno;
        }
    }
    return 0;
}

static void
clear_socket_options(int fd)
{
    const char *name;

    set_socket_options(fd, false, &name);
}

/* Returns true if the kernel says so itself.  Nothing else tells one that has
 * kernel commit b95ed5517354, and it is for a message only. */
static bool
kernel_is_before_6_15(void)
{
    struct utsname kernel;
    int major, minor;

    return (!uname(&kernel)
            && ovs_scan(kernel.release, "%d.%d", &major, &minor)
            && (major < 6 || (major == 6 && minor < 15)));
}

/* Returns why the socket does not know the NAPI of its queue now.  Linux 6.13
 * tells it when the socket is bound, if the driver has called
 * netif_queue_set_napi() by then: first to sockets in zero-copy mode only
 * (kernel commit 5ef44b3cb43b), since 6.15 to all (b95ed5517354). */
static const char *
explain_unknown_napi(const struct xsk *xsk, int ifindex)
{
    if (!napi_has_own_values()) {
        return "off until the first frame, from which the kernel learns the "
               "NAPI of the queue";
    } else if (napi_device_is_down(ifindex)) {
        return "off: the kernel does not know the NAPI of the queue while the "
               "device is down";
    } else if (!napi_of_rx_queue(ifindex, xsk->queue)) {
        return "off: the kernel does not know the NAPI of the queue, since "
               "the driver does not tell it (Linux 6.13 and newer)";
    } else if (xsk->copy_mode == XSK_COPY && kernel_is_before_6_15()) {
        return "off: the kernel does not tell a copy-mode socket the NAPI of "
               "its queue (Linux 6.13 and 6.14)";
    }
    return "off: the kernel did not know the NAPI of the queue yet when the "
           "socket was bound; a change of xdp-mode or of a ring size makes a "
           "new one";
}

static char *
describe_success(bool own_values)
{
    return xasprintf("on: budget %d, defer-hard-irqs %"PRIu32" and "
                     "gro-flush-timeout %"PRIu64" %s", BUSY_POLL_BUDGET,
                     busy_values.defer_hard_irqs,
                     busy_values.gro_flush_timeout,
                     own_values ? "of the queue's NAPI"
                     : "of the whole device (Linux before 6.13)");
}

/* Puts busy polling in force on 'xsk', if its NAPI is known.  Returns the
 * status. */
static char *
start(struct xsk *xsk, int ifindex)
{
    struct busy_poll *bp = &xsk->busy_poll;
    bool own_values = napi_has_own_values();
    const struct napi_owner owner = {
        .ifindex = ifindex,
        .napi_id = own_values ? bp->napi_id : 0,
    };
    char *status, *reason = NULL;
    const char *option;
    int error;

    if (!bp->napi_id) {
        return xstrdup(explain_unknown_napi(xsk, ifindex));
    }
    error = set_socket_options(xsk->fd, true, &option);
    if (error) {
        reason = xasprintf("%s failed (%s)%s", option, ovs_strerror(error),
                           error == ENOPROTOOPT
                           ? ": it takes Linux 5.11 or newer"
                           : error == EPERM
                           ? ": the daemon lacks CAP_NET_ADMIN" : "");
    } else {
        bp->hold = napi_hold_take(&owner, &busy_values, &reason);
    }
    if (!bp->hold) {
        clear_socket_options(xsk->fd);
        status = xasprintf("off: %s", reason);
        free(reason);
        return status;
    }
    atomic_store_relaxed(&bp->on, true);
    return describe_success(own_values);
}

static void
stop(struct xsk *xsk)
{
    struct busy_poll *bp = &xsk->busy_poll;

    atomic_store_relaxed(&bp->on, false);
    if (bp->hold) {
        clear_socket_options(xsk->fd);
        napi_hold_release(bp->hold);
        bp->hold = NULL;
    }
}

/* Looks whether the NAPI that is held is still there, and gives the poller no
 * work in vain if it is not.  Returns the status, NULL if it is as before. */
static char *
look_after_hold(struct busy_poll *bp)
{
    bool there = napi_hold_is_there(bp->hold);
    bool on;

    atomic_read_relaxed(&bp->on, &on);
    if (there == on) {
        return NULL;
    }
    atomic_store_relaxed(&bp->on, there);
    return (there ? describe_success(napi_has_own_values())
            : xstrdup("off: the NAPI of the queue is not there, as when the "
                      "device is down"));
}

/* Looks after a socket that still has the same NAPI, or none: why it has none
 * may change.  Returns the status, NULL if it is as before. */
static char *
look_after(struct xsk *xsk, int ifindex)
{
    struct busy_poll *bp = &xsk->busy_poll;
    const char *status;

    if (bp->hold) {
        return look_after_hold(bp);
    } else if (bp->napi_id) {
        return NULL;
    }
    status = explain_unknown_napi(xsk, ifindex);
    return strcmp(status, bp->status) ? xstrdup(status) : NULL;
}

/* Brings busy polling on the bound socket 'xsk' of a device to what is
 * 'wanted', or, where it is, looks after what may have changed: to be called
 * every second, since a NAPI may become known, or go.  What has failed is
 * tried again with another NAPI only.  Returns true if the status is another
 * one than before.  Main thread; others may receive and send meanwhile. */
bool
busy_poll_update(struct xsk *xsk, int ifindex, bool wanted)
{
    struct busy_poll *bp = &xsk->busy_poll;
    uint32_t napi_id = wanted ? socket_napi_id(xsk->fd) : 0;
    char *status = NULL;

    if (!wanted && !bp->status) {
        return false;
    } else if (wanted && bp->status && napi_id == bp->napi_id) {
        status = look_after(xsk, ifindex);
        if (!status) {
            return false;
        }
    } else {
        stop(xsk);
        bp->napi_id = napi_id;
        status = wanted ? start(xsk, ifindex) : NULL;
    }
    free(bp->status);
    bp->status = status;
    return true;
}

/* Returns "on" or "off", with what was set or why not. */
const char *
busy_poll_status(const struct xsk *xsk)
{
    return xsk->busy_poll.status ? xsk->busy_poll.status : "off";
}
