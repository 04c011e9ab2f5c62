/* SPDX-License-Identifier: Apache-2.0 */

/* What busy polling does to a socket and says of it, on kernels that are
 * played by us. */

#include <config.h>
#include "busy-poll.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include "napi-hold.h"
#include "util.h"
#include "xsk.h"

#include "unit.h"

#define IFINDEX 5
#define NAPI 8195

/* The kernel, the queue and the socket. */
static struct {
    const char *release;
    bool own_values;            /* Of NAPIs. */
    bool is_down;               /* The device. */
    uint32_t queue_napi;        /* That the kernel knows for the queue. */
    uint32_t socket_napi;       /* That the socket knows. */
    int prefer, busy_us, budget;
} kernel;

int __wrap_getsockopt(int, int, int, void *, socklen_t *);
int __wrap_setsockopt(int, int, int, const void *, socklen_t);
int __wrap_uname(struct utsname *);

int
__wrap_getsockopt(int fd OVS_UNUSED, int level, int option, void *value,
                  socklen_t *len OVS_UNUSED)
{
    CHECK_INT(level, SOL_SOCKET);
    CHECK_INT(option, SO_INCOMING_NAPI_ID);
    memcpy(value, &kernel.socket_napi, sizeof kernel.socket_napi);
    return 0;
}

int
__wrap_setsockopt(int fd OVS_UNUSED, int level, int option, const void *value,
                  socklen_t len OVS_UNUSED)
{
    int *stored = (option == SO_PREFER_BUSY_POLL ? &kernel.prefer
                   : option == SO_BUSY_POLL ? &kernel.busy_us
                   : &kernel.budget);

    CHECK_INT(level, SOL_SOCKET);
    memcpy(stored, value, sizeof *stored);
    return 0;
}

int
__wrap_uname(struct utsname *u)
{
    ovs_strlcpy(u->release, kernel.release, sizeof u->release);
    return 0;
}

bool
napi_has_own_values(void)
{
    return kernel.own_values;
}

uint32_t
napi_of_rx_queue(int ifindex, uint32_t queue)
{
    CHECK_INT(ifindex, IFINDEX);
    CHECK_INT(queue, 1);
    return kernel.is_down ? 0 : kernel.queue_napi;
}

bool
napi_device_is_down(int ifindex)
{
    CHECK_INT(ifindex, IFINDEX);
    return kernel.is_down;
}

static int held;

struct napi_hold *
napi_hold_take(const struct napi_owner *owner,
               const struct napi_values *ours OVS_UNUSED,
               char **errp OVS_UNUSED)
{
    CHECK_INT(owner->ifindex, IFINDEX);
    CHECK_INT(owner->napi_id, NAPI);
    held++;
    return (struct napi_hold *) &held;
}

bool
napi_hold_is_there(const struct napi_hold *hold OVS_UNUSED)
{
    return true;
}

void
napi_hold_release(struct napi_hold *hold)
{
    held -= hold != NULL;
}

static void
check_status(const char *where, const struct xsk *xsk, const char *words)
{
    const char *status = busy_poll_status(xsk);

    if (!strstr(status, words)) {
        unit_fail(where, "the status is \"%s\", and not about \"%s\"", status,
                  words);
    }
}

/* Updates the status, and checks that it has 'words' in it. */
#define CHECK_STATUS(XSK, WORDS)                            \
    (busy_poll_update(XSK, IFINDEX, true),                  \
     check_status(OVS_SOURCE_LOCATOR, XSK, WORDS))

static void
finish(struct xsk *xsk)
{
    busy_poll_update(xsk, IFINDEX, false);
    check_status(OVS_SOURCE_LOCATOR, xsk, "off");
    memset(&kernel, 0, sizeof kernel);
}

static void
options_come_and_go(void)
{
    struct xsk xsk = { .queue = 1 };

    kernel.release = "6.18.1";
    kernel.own_values = true;
    kernel.queue_napi = kernel.socket_napi = NAPI;
    CHECK_STATUS(&xsk, "on: budget 256");
    CHECK_INT(kernel.prefer, 1);
    CHECK(kernel.busy_us > 0);
    CHECK_INT(kernel.budget, 256);
    CHECK_INT(held, 1);

    busy_poll_update(&xsk, IFINDEX, false);
    CHECK_INT(kernel.prefer, 0);
    CHECK_INT(kernel.busy_us, 0);
    CHECK_INT(kernel.budget, 0);
    CHECK_INT(held, 0);
    finish(&xsk);
}

/* Checks what is said of a socket without a NAPI, of a queue that has one. */
static void
check_kernel(const char *release, enum xsk_copy_mode mode, const char *words)
{
    struct xsk xsk = { .queue = 1, .copy_mode = mode };

    kernel.release = release;
    kernel.own_values = true;
    kernel.queue_napi = NAPI;
    CHECK_STATUS(&xsk, words);
    finish(&xsk);
}

static void
why_a_socket_has_no_napi(void)
{
    static const char told_zero_copy_only[] =
        "does not tell a copy-mode socket the NAPI of its queue";
    static const char too_late[] =
        "did not know the NAPI of the queue yet when the socket was bound";

    check_kernel("6.13.0", XSK_COPY, told_zero_copy_only);
    check_kernel("6.14.11-1-amd64", XSK_COPY, told_zero_copy_only);
    check_kernel("6.15-rc7", XSK_COPY, too_late);
    check_kernel("6.18.44", XSK_COPY, too_late);
    check_kernel("7.0.0", XSK_COPY, too_late);
    check_kernel("6.13.0", XSK_ZEROCOPY, too_late);
    check_kernel("6.18.44", XSK_ZEROCOPY, too_late);
}

static void
reasons_change(void)
{
    struct xsk xsk = { .queue = 1 };

    kernel.release = "6.1.0-30-amd64";
    CHECK_STATUS(&xsk, "off until the first frame");
    CHECK(!busy_poll_update(&xsk, IFINDEX, true));
    finish(&xsk);

    kernel.release = "6.18.1";
    kernel.own_values = kernel.is_down = true;
    kernel.queue_napi = NAPI;
    CHECK_STATUS(&xsk, "while the device is down");
    CHECK(!busy_poll_update(&xsk, IFINDEX, true));
    kernel.is_down = false;
    CHECK(busy_poll_update(&xsk, IFINDEX, true));
    CHECK_STATUS(&xsk, "yet when the socket was bound");
    kernel.queue_napi = 0;
    CHECK_STATUS(&xsk, "since the driver does not tell it");
    kernel.queue_napi = kernel.socket_napi = NAPI;
    CHECK_STATUS(&xsk, "on: ");
    CHECK(!busy_poll_update(&xsk, IFINDEX, true));
    finish(&xsk);
}

int
main(void)
{
    unit_run("the options of the socket are set, and cleared in the end",
             options_come_and_go);
    unit_run("what is said of a socket without a NAPI is so for its mode and "
             "kernel", why_a_socket_has_no_napi);
    unit_run("... and follows what changes", reasons_change);
    return unit_exit_status();
}
