/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "xdp-port-queues.h"

#include <errno.h>
#include <net/if.h>

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

/* Stores in '*n' how many queues 'config' means for the device.  Returns 0,
 * or a positive errno and why in '*errp'. */
int
xdp_port_resolve_queues(const struct xdp_port *port,
                        const struct port_config *config, uint32_t *n,
                        char **errp)
{
    uint32_t n_device;

    if (if_nametoindex(port->ifname) != port->ifindex) {
        /* What could be asked about that name is not about our device. */
        *n = port->n_queues;
        return 0;
    }
    n_device = netdev_probe_n_rx_queues(port->ifname);
    *n = config->n_rxq ? config->n_rxq : MIN(n_device, PORT_MAX_RXQ);
    if (*n > n_device) {
        *errp = xasprintf("n_rxq=%"PRIu32": %s has %"PRIu32" receive queue%s; "
                          "see \"ethtool -l %s\"", *n, port->ifname, n_device,
                          n_device == 1 ? "" : "s", port->ifname);
        return EINVAL;
    }
    return 0;
}

/* Asks how many receive queues the device has now.  Returns true if it is
 * another number than at the last look.  Main thread; others may receive and
 * send meanwhile. */
bool
xdp_port_look_at_queues(struct xdp_port *port)
{
    uint32_t n_before = port->n_device_queues;

    if (if_nametoindex(port->ifname) == port->ifindex) {
        port->n_device_queues = netdev_probe_n_rx_queues(port->ifname);
    }
    return port->n_device_queues != n_before;
}

/* Has the device give frames of queues that it has got since the program came
 * to that program.  Returns 0, or a positive errno and why in '*errp', which
 * the caller frees.  Main thread; others may receive and send meanwhile. */
int
xdp_port_cover_queues(struct xdp_port *port, char **errp)
{
    int error;

    *errp = NULL;
    if (!port->program || port->mode == XDP_MODE_GENERIC
        || xdp_program_link_state(port->program) != XDP_LINK_OURS) {
        return 0;
    }
    error = xdp_program_renew(port->program, errp);
    for (uint32_t i = 0; !error && i < port->n_queues; i++) {
        xdp_port_accept_hints(port, port->queues[i]);
    }
    return error;
}

/* Returns true if the port has as many queues as it can have of those that the
 * device had at the last look, or as many as it was told to. */
bool
xdp_port_queues_fit(const struct xdp_port *port)
{
    return (port->config.n_rxq
            || port->n_queues == MIN(port->n_device_queues, PORT_MAX_RXQ));
}

/* Looks what the device can send: as many bytes as 'mtu' says behind an
 * Ethernet header, on as many queues as it has now.  A tap has fewer than the
 * port when its process has detached some, a veth may have fewer than it has
 * rx queues; what is sent on one that is not there is lost, or waits in the
 * ring for ever.  Main thread; others may send meanwhile. */
void
xdp_port_look_at_tx(struct xdp_port *port, uint32_t mtu)
{
    for (uint32_t i = 0; i < port->n_queues; i++) {
        xsk_set_mtu(port->queues[i], mtu);
    }
    atomic_store_relaxed(&port->n_tx_queues,
                         netdev_probe_n_tx_queues(port->ifname));
}

/* Returns the socket for tx queue id 'id' of OVS.  'port' has queues.  Any
 * thread. */
struct xsk *
xdp_port_tx_socket(const struct xdp_port *port, uint32_t id)
{
    uint32_t n;

    atomic_read_relaxed(&CONST_CAST(struct xdp_port *, port)->n_tx_queues, &n);
    return port->queues[id % (n ? MIN(n, port->n_queues) : port->n_queues)];
}
