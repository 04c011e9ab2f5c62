/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PORT_RETRY_H
#define PORT_RETRY_H 1

/* What has failed and may work later: when to try it again.
 *
 * Ports that could not be opened are kept here by name, because OVS deletes
 * the netdev of such a port.  Main thread, all of it. */

#include <stdbool.h>

struct port_config;

/* When to try something again.  All zeros: at once. */
struct retry {
    long long int next;         /* In ms. */
    int seconds;                /* Waited before 'next', 0 for none. */
};

bool retry_may_help(int error);
bool retry_is_due(const struct retry *);
void retry_later(struct retry *, int max_seconds);
void retry_reset(struct retry *);

/* The longest wait, in seconds, for what is down: no frame is lost by trying,
 * and an operator who has made room is not kept waiting. */
#define RETRY_MAX_S 16

int port_retry_check(const char *name, int ifindex, const struct port_config *,
                     char **errp);
bool port_retry_failed(const char *name, int ifindex,
                       const struct port_config *, int error,
                       const char *text);
void port_retry_forget(const char *name);
void port_retry_run(void);

#endif /* port-retry.h */
