/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "port-retry.h"

#include <errno.h>
#include <limits.h>

#include "if-notifier.h"
#include "openvswitch/poll-loop.h"
#include "openvswitch/shash.h"
#include "port-config.h"
#include "timeval.h"
#include "util.h"

/* A port that could not be opened. */
struct failed_port {
    int ifindex;
    struct port_config config;
    int error;
    char *text;
    struct retry retry;
    long long int asked;        /* When OVS was made to try, in ms; 0 while it
                                 * has not been since the last failure. */
};

/* By name. */
static struct shash failed_ports = SHASH_INITIALIZER(&failed_ports);

/* How long, in ms, OVS may take to try a port that it was made to try.  One
 * that it has not tried then is not in the database any more. */
#define FORGET_MS 60000

/* Returns true if 'error', a positive errno, may pass by itself. */
bool
retry_may_help(int error)
{
    return (error == EBUSY || error == EAGAIN || error == ENOMEM
            || error == ENOBUFS || error == ENOSPC || error == EMFILE
            || error == ENFILE || error == EADDRINUSE);
}

bool
retry_is_due(const struct retry *retry)
{
    return time_msec() >= retry->next;
}

/* Puts off the next try, for twice as long as the last time: from 1 to
 * 'max_seconds'. */
void
retry_later(struct retry *retry, int max_seconds)
{
    retry->seconds = MIN(retry->seconds ? 2 * retry->seconds : 1,
                         max_seconds);
    retry->next = time_msec() + retry->seconds * 1000LL;
}

/* Makes the next try one to be made at once. */
void
retry_reset(struct retry *retry)
{
    retry->next = 0;
    retry->seconds = 0;
}

/* Returns 0 if opening the port 'name' on device 'ifindex' with 'config' is to
 * be tried.  OVS does so whenever a device of the machine changes; where
 * memory was the reason, returns the errno of the last time, before its turn
 * comes, with its text in '*errp', for the caller to free(). */
int
port_retry_check(const char *name, int ifindex,
                 const struct port_config *config, char **errp)
{
    const struct failed_port *port = shash_find_data(&failed_ports, name);

    if (!port || port->ifindex != ifindex || port->error == EBUSY
        || port->error == EADDRINUSE
        || !port_config_equal(&port->config, config)
        || retry_is_due(&port->retry)) {
        return 0;
    }
    *errp = xstrdup(port->text);
    return port->error;
}

/* Says that port 'name' could not be opened because of 'error', a positive
 * errno, and 'text'.  If that may pass, port_retry_run() makes OVS try again.
 * Returns true if it is another failure than the last one, to be logged. */
bool
port_retry_failed(const char *name, int ifindex,
                  const struct port_config *config, int error,
                  const char *text)
{
    struct failed_port *port = shash_find_data(&failed_ports, name);
    bool another = (!port || port->ifindex != ifindex
                    || !port_config_equal(&port->config, config)
                    || strcmp(port->text, text));

    if (another) {
        port_retry_forget(name);
    }
    if (another && retry_may_help(error)) {
        port = xzalloc(sizeof *port);
        port->ifindex = ifindex;
        port->config = *config;
        port->error = error;
        port->text = xstrdup(text);
        shash_add(&failed_ports, name, port);
        retry_later(&port->retry, RETRY_MAX_S);
    } else if (!another && retry_is_due(&port->retry)) {
        retry_later(&port->retry, RETRY_MAX_S);
        port->asked = 0;
    }
    return another;
}

static void
delete_port(struct shash_node *node)
{
    struct failed_port *port = node->data;

    free(port->text);
    free(port);
    shash_delete(&failed_ports, node);
}

/* Says that port 'name' is open, or not to be tried again by itself. */
void
port_retry_forget(const char *name)
{
    struct shash_node *node = shash_find(&failed_ports, name);

    if (node) {
        delete_port(node);
    }
}

/* Makes OVS look at its ports again when the turn of one has come, and wakes
 * the poll loop for the next.  Once a round of the main loop. */
void
port_retry_run(void)
{
    long long int now = time_msec(), next = LLONG_MAX;
    struct shash_node *node;
    bool report = false;

    SHASH_FOR_EACH_SAFE (node, &failed_ports) {
        struct failed_port *port = node->data;

        if (port->asked) {
            if (now >= port->asked + FORGET_MS) {
                delete_port(node);
            }
        } else if (retry_is_due(&port->retry)) {
            port->asked = now;
            report = true;
        } else {
            next = MIN(next, port->retry.next);
        }
    }
    if (report) {
        if_notifier_manual_report();
        poll_immediate_wake();
    }
    if (next != LLONG_MAX) {
        poll_timer_wait_until(next);
    }
}
