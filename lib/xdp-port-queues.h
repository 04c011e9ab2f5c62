/* SPDX-License-Identifier: Apache-2.0 */

#ifndef XDP_PORT_QUEUES_H
#define XDP_PORT_QUEUES_H 1

/* The sockets of a port and the program's map of them: for xdp-port.c.  Main
 * thread, while nobody receives or sends on the port. */

#include <stdint.h>

struct port_config;
struct xdp_port;
struct xsk;

void xdp_port_accept_hints(const struct xdp_port *, struct xsk *);
int xdp_port_enter_queue(struct xdp_port *, uint32_t queue, char **errp);
void xdp_port_close_queues(struct xdp_port *, uint32_t n);
int xdp_port_resolve_queues(const struct xdp_port *,
                            const struct port_config *, uint32_t *n,
                            char **errp);
int xdp_port_set_n_queues(struct xdp_port *, uint32_t n, char **errp);

#endif /* xdp-port-queues.h */
