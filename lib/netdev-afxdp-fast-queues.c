/* SPDX-License-Identifier: Apache-2.0 */

/* What becomes of a port whose device gets more receive queues, or fewer, as
 * by ethtool -L.
 *
 * The kernel does not announce every such change (queue-watch.h), so we also
 * count each second.  A port that has not been
 * told a number follows; the kernel refuses to take a queue from under a
 * socket, so it is only a tap that goes down by itself. */

#include <config.h>
#include "netdev-afxdp-fast-private.h"

#include "netdev-provider.h"
#include "openvswitch/vlog.h"
#include "smap.h"
#include "util.h"
#include "xdp-port.h"

VLOG_DEFINE_THIS_MODULE(netdev_afxdp_fast_queues);

static struct vlog_rate_limit rl = VLOG_RATE_LIMIT_INIT(1, 5);

/* Counts the queues of the device of 'dev', which is the right one, and has
 * the port follow where it should.  Each number is tried once: what fails then
 * for a reason that may pass is tried again as other options are.  Main
 * thread. */
void
netdev_afxdp_fast_look_at_queues(struct netdev_afxdp_fast *dev)
{
    struct xdp_port *port = dev->port;
    uint32_t n_before = port->n_device_queues;
    char *error = NULL;
    bool changed;

    ovs_mutex_lock(&dev->mutex);
    changed = xdp_port_look_at_queues(port);
    if (port->n_device_queues > n_before
        && xdp_port_cover_queues(port, &error)) {
        port->n_device_queues = n_before;       /* To be tried again. */
        changed = false;
    }
    ovs_mutex_unlock(&dev->mutex);
    if (error) {
        VLOG_WARN_RL(&rl, "%s: frames of new queues go to the host: %s",
                     port->ifname, error);
        free(error);
    }
    if (changed) {
        VLOG_INFO("%s: the device has %"PRIu32" receive queues now, it had "
                  "%"PRIu32, port->ifname, port->n_device_queues, n_before);
        netdev_change_seq_changed(&dev->lin.up);
    }
    if (xdp_port_queues_fit(port)) {
        dev->tried_queues = 0;
    } else if (!dev->config_pending
               && dev->tried_queues != port->n_device_queues) {
        dev->tried_queues = port->n_device_queues;
        dev->config_pending = true;
        netdev_request_reconfigure(&dev->lin.up);
    }
}

/* Stores how many queues the device of 'port' has, and what follows from it if
 * the port has another number of sockets. */
void
netdev_afxdp_fast_add_queues(const struct xdp_port *port, struct smap *status)
{
    uint32_t n = port->n_queues, n_device = port->n_device_queues;

    smap_add_format(status, "n_rxq", "%"PRIu32, n);
    if (!n) {
        return;
    }
    smap_add_format(status, "device-queues", "%"PRIu32, n_device);
    if (n < n_device) {
        char *command = (port->config.n_rxq
                         ? xasprintf("ovs-vsctl remove interface %s options "
                                     "n_rxq", port->ifname)
                         : xasprintf("ethtool -L %s combined %"PRIu32,
                                     port->ifname, n));

        smap_add_format(status, "queues-warning", "the device has %"PRIu32" "
                        "receive queues, the port sockets on the first "
                        "%"PRIu32": frames on the others are dropped, counted "
                        "in xdp_drop_no_socket; mend it with \"%s\"", n_device,
                        n, command);
        free(command);
    } else if (n > n_device) {
        smap_add_format(status, "queues-warning", "the port has %"PRIu32" "
                        "sockets, the device only %"PRIu32" queues: frames "
                        "that are sent by way of the others are lost; mend it "
                        "with \"ovs-vsctl set interface %s options:n_rxq=%"
                        PRIu32"\"", n, n_device, port->ifname, n_device);
    }
}
