/* SPDX-License-Identifier: Apache-2.0 */

#ifndef BUSY_POLL_H
#define BUSY_POLL_H 1

/* Busy polling: the driver's work for a queue is done in the system calls of
 * the thread that polls it, and interrupts stay off as long as it does.
 *
 * Without it the driver works in interrupts, which under overload leave no
 * time to the thread that shares their core: frames come in only to be dropped
 * behind.  With it the driver takes in what the thread asks for.
 *
 * It is in force on a socket whose NAPI the kernel knows, as its option
 * SO_INCOMING_NAPI_ID says, and only there is anything changed: options of the
 * socket, and two values of the NAPI, or before Linux 6.13 of the whole device
 * (napi-hold.h).  Then a poll that finds no frame has to enter the kernel,
 * since nothing else runs the driver.  Its timer is the backstop.
 *
 * Kernels before 6.13 learn the NAPI from the first frame, later ones when the
 * socket is bound. */

#include <stdbool.h>
#include <stdint.h>

#include "ovs-atomic.h"

struct napi_hold;
struct xsk;

/* Of a socket.  Written by the main thread. */
struct busy_poll {
    atomic_bool on;             /* In force: read by the poller. */
    uint32_t napi_id;           /* When it was last tried, 0: not known. */
    struct napi_hold *hold;     /* NULL if it could not be put in force. */
    char *status;               /* "on" or "off", and why; NULL: not asked
                                 * for. */
};

bool busy_poll_update(struct xsk *, int ifindex, bool wanted);
const char *busy_poll_status(const struct xsk *);

#endif /* busy-poll.h */
