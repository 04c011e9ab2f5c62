/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "xdp-port-queues.h"

#include "busy-poll.h"
#include "netdev-probe.h"
#include "util.h"
#include "xdp-port.h"
#include "xdp-program.h"
#include "xsk.h"

/* How long, in milliseconds, a driver in zero-copy mode may still write to
 * frames after the socket is closed: it is told by a work item after an RCU
 * grace period, up to 20 ms later (measured on Linux 6.18). */
#define ZEROCOPY_STOP_MS 100

/* Lets 'xsk' believe the program's hints, if it writes any. */
void
xdp_port_accept_hints(const struct xdp_port *port, struct xsk *xsk)
{
    xsk_set_cookie(xsk, (xdp_program_settings(port->program)->hints
                         ? xdp_program_cookie(port->program) : 0));
}

/* Lets the program's frames of queue 'i' go to its socket, and the socket
 * believe the program's hints. */
int
xdp_port_enter_queue(struct xdp_port *port, uint32_t i, char **errp)
{
    struct xsk *xsk = port->queues[i];
    int error;

    xdp_port_accept_hints(port, xsk);
    error = xdp_program_set_socket(port->program, i, xsk->fd);
    if (error) {
        *errp = xasprintf("%s: queue %"PRIu32": entering the socket into the "
                          "program's map failed (%s)", port->ifname, i,
                          ovs_strerror(error));
    }
    return error;
}

/* Closes queues until 'n' are left.  First none of them gets frames any more,
 * then they are drained, then closed. */
void
xdp_port_close_queues(struct xdp_port *port, uint32_t n)
{
    /* Draining takes interrupts: nobody polls meanwhile. */
    for (uint32_t i = n; i < port->n_queues; i++) {
        busy_poll_update(port->queues[i], port->ifindex, false);
    }
    for (uint32_t i = n; port->program && i < port->n_queues; i++) {
        xdp_program_clear_socket(port->program, i);
    }
    for (uint32_t i = n; i < port->n_queues; i++) {
        xsk_tx_drain(port->queues[i]);
        xsk_shut(port->queues[i]);
    }
    if (port->n_queues > n && port->copy_mode == XSK_ZEROCOPY) {
        xnanosleep_no_quiesce(ZEROCOPY_STOP_MS * 1000LL * 1000);
    }
    while (port->n_queues > n) {
        xsk_close(port->queues[--port->n_queues]);
    }
}

/* Opens one more queue and, if the program is there, enters it. */
static int
open_queue(struct xdp_port *port, char **errp)
{
    uint32_t queue = port->n_queues;
    const struct xsk_opts opts = {
        .ifname = port->ifname,
        .ifindex = port->ifindex,
        .queue = queue,
        .copy_mode = port->copy_mode,
        .checksums = netdev_probe_leaves_checksums(port->ifname),
        .n_rx_desc = port->config.n_rxq_desc,
        .n_tx_desc = port->config.n_txq_desc,
        .n_frames = port->config.n_frames,
        .numa_node = port->numa_node,
    };
    struct xsk *xsk;
    int error;

    error = xsk_open(&opts, &xsk, errp);
    if (error) {
        return error;
    }
    port->queues = xrealloc(port->queues,
                            (port->n_queues + 1) * sizeof *port->queues);
    port->queues[port->n_queues++] = xsk;
    return port->program ? xdp_port_enter_queue(port, queue, errp) : 0;
}

/* Opens or closes queues until 'n' are there.  On failure those that were
 * there before are still there. */
int
xdp_port_set_n_queues(struct xdp_port *port, uint32_t n, char **errp)
{
    uint32_t n_before = port->n_queues;

    xdp_port_close_queues(port, MIN(n, n_before));
    while (port->n_queues < n) {
        int error = open_queue(port, errp);

        if (error) {
            xdp_port_close_queues(port, n_before);
            return error;
        }
    }
    return 0;
}
