/* SPDX-License-Identifier: Apache-2.0 */

/* What becomes of a port whose device or program goes and comes back.
 *
 * The port follows the name: it is on the device that has it, or, while none
 * has, on the one that it is on already.  A device that is deleted, or moved
 * to another network namespace, takes the sockets with it; then the port gives
 * back all it has, stays in OVS without queues, and comes up on the next
 * device of the name.  Nothing tells of a program that another tool has taken
 * off, so we look. */

#include <config.h>
#include "netdev-afxdp-fast-private.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>

#include "netdev-provider.h"
#include "openvswitch/poll-loop.h"
#include "openvswitch/vlog.h"
#include "queue-watch.h"
#include "socket-util.h"
#include "timeval.h"
#include "util.h"
#include "xdp-diagnose.h"
#include "xdp-port.h"
#include "xdp-program.h"
#include "xdp-targets.h"

VLOG_DEFINE_THIS_MODULE(netdev_afxdp_fast_life);

/* How often to look at a device by ourselves, in ms. */
#define LOOK_MS 1000

/* How often to look whether the program is still there, in ms: as long as a
 * detached one may let frames through to the host, at most.  The kernel
 * announces a bpf_link that is detached to nobody (Linux 6.18).  A look is one
 * system call a port, and ten rounds of the main loop a second cost less than
 * a hundredth of a core. */
#define PROGRAM_LOOK_MS 100

/* Makes 'error', of which it takes ownership, the port's port-error; NULL
 * clears it. */
static void
set_port_error(struct netdev_afxdp_fast *dev, char *error)
{
    struct netdev *netdev = &dev->lin.up;

    if (!nullable_string_is_equal(error, dev->port_error)) {
        if (error) {
            VLOG_WARN("%s", error);
        } else {
            VLOG_INFO("%s: device and program are as they should be",
                      netdev_get_name(netdev));
        }
        ovs_mutex_lock(&dev->mutex);
        free(dev->port_error);
        dev->port_error = nullable_xstrdup(error);
        ovs_mutex_unlock(&dev->mutex);
        netdev_change_seq_changed(netdev);
    }
    free(error);
}

/* Asks OVS for a reconfiguration, in which nobody uses the queues, to take the
 * port off what it is on, and bring it back. */
static void
request_device(struct netdev_afxdp_fast *dev)
{
    dev->device_pending = true;
    netdev_request_reconfigure(&dev->lin.up);
}

/* Returns true if the sockets of 'port' are of no more use: its device is gone
 * from here, or was in between, or is not the one of its name any more.  If
 * that has another name now, and no other device has the old one, stores it in
 * 'renamed', otherwise "".  What the kernel does not tell, for lack of file
 * descriptors say, is taken as unchanged. */
static bool
device_is_lost(const struct xdp_port *port, char renamed[IF_NAMESIZE])
{
    int ifindex = if_nametoindex(port->ifname);
    bool no_name = !ifindex && errno == ENODEV;

    renamed[0] = '\0';
    if (ifindex && ifindex != port->ifindex) {
        return true;
    }
    for (uint32_t i = 0; i < port->n_queues; i++) {
        if (xsk_is_lost(port->queues[i])) {
            return true;
        }
    }
    if (no_name && !if_indextoname(port->ifindex, renamed)) {
        renamed[0] = '\0';
        return errno == ENXIO;
    }
    return false;
}

/* Puts the program back that somebody has taken off the device, unless there
 * is another in its place. */
static void
reattach(struct netdev_afxdp_fast *dev)
{
    char *error = NULL;

    if (!retry_is_due(&dev->device_retry)) {
        return;
    }
    if (xdp_port_reattach(dev->port, &error)) {
        retry_later(&dev->device_retry, RETRY_MAX_S);
        set_port_error(dev, xasprintf("the XDP program was taken off, and "
                                      "frames do not reach OVS: %s", error));
        free(error);
        return;
    }
    retry_reset(&dev->device_retry);
    VLOG_WARN("%s: somebody has taken the XDP program off; it is attached "
              "again", dev->port->ifname);
    set_port_error(dev, NULL);
    netdev_change_seq_changed(&dev->lin.up);
}

/* Looks at the program of 'dev', whose device is the right one. */
static void
look_at_program(struct netdev_afxdp_fast *dev)
{
    struct xdp_port *port = dev->port;
    char *error = NULL;

    switch (xdp_program_link_state(port->program)) {
    case XDP_LINK_OURS:
        retry_reset(&dev->device_retry);
        set_port_error(dev, NULL);
        break;
    case XDP_LINK_FOREIGN:
        xdp_diagnose_foreign(port->ifname, port->ifindex, &error);
        set_port_error(dev, xasprintf("another program is in the place of "
                                      "ours, and frames do not reach OVS: %s",
                                      error ? error : port->ifname));
        free(error);
        break;
    case XDP_LINK_GONE:
        reattach(dev);
        break;
    }
}

/* Looks for a device for 'dev', which has no queues. */
static void
look_for_device(struct netdev_afxdp_fast *dev)
{
    const char *name = dev->port->ifname;
    int ifindex = if_nametoindex(name);

    if (ifindex && (ifindex != dev->tried_ifindex
                    || retry_is_due(&dev->device_retry))) {
        request_device(dev);
    } else if (!ifindex && errno == ENODEV) {
        dev->tried_ifindex = 0;
        set_port_error(dev, xasprintf("%s: there is no such device; the port "
                                      "comes up when there is", name));
    }
}

/* Tells the queues of 'dev', which has been open, what its device can send.
 * Main thread. */
void
netdev_afxdp_fast_look_at_tx(struct netdev_afxdp_fast *dev)
{
    int mtu;

    if (!netdev_get_mtu(&dev->lin.up, &mtu) && mtu > 0) {
        xdp_port_look_at_tx(dev->port, mtu);
    }
}

/* Looks whether device and program of 'dev', which has been open, are still
 * what they were, and does what is to be done, as far as possible.  Main
 * thread. */
void
netdev_afxdp_fast_look(struct netdev_afxdp_fast *dev)
{
    char renamed[IF_NAMESIZE];

    dev->next_device_look = time_msec() + LOOK_MS;
    netdev_afxdp_fast_look_at_tx(dev);
    if (dev->device_pending) {
        return;
    }
    if (!dev->port->n_queues) {
        look_for_device(dev);
    } else if (device_is_lost(dev->port, renamed)) {
        request_device(dev);
    } else if (renamed[0] && (xdp_program_link_state(dev->port->program)
                              == XDP_LINK_OURS)) {
        set_port_error(dev, xasprintf("%s is called %s now: the port goes on "
                                      "there until a device is called %s",
                                      dev->port->ifname, renamed,
                                      dev->port->ifname));
    } else {
        look_at_program(dev);
        netdev_afxdp_fast_look_at_queues(dev);
    }
    if (dev->config_refused && !dev->config_pending
        && retry_is_due(&dev->config_retry)) {
        dev->config_pending = true;
        netdev_request_reconfigure(&dev->lin.up);
    }
}

/* Makes device 'ifname' take frames for any address, as OVS has made the one
 * before it when the port was added.  Not by way of OVS, which still believes
 * to know the flags. */
static void
make_promiscuous(const char *ifname)
{
    struct ifreq ifr;
    int error;

    memset(&ifr, 0, sizeof ifr);
    ovs_strzcpy(ifr.ifr_name, ifname, sizeof ifr.ifr_name);
    error = af_inet_ioctl(SIOCGIFFLAGS, &ifr);
    if (!error && !(ifr.ifr_flags & IFF_PROMISC)) {
        ifr.ifr_flags |= IFF_PROMISC;
        error = af_inet_ioctl(SIOCSIFFLAGS, &ifr);
    }
    if (error) {
        VLOG_WARN("%s: cannot make it promiscuous (%s)", ifname,
                  ovs_strerror(error));
    }
}

/* Brings 'dev', which has no queues, up on the device of its name, if there is
 * one; if that fails it is tried again later.  Main thread, while nobody
 * receives or sends on the port. */
void
netdev_afxdp_fast_bring_back(struct netdev_afxdp_fast *dev)
{
    struct xdp_port *port = dev->port;
    char *text = NULL;
    int error;

    ovs_mutex_lock(&dev->mutex);
    error = xdp_port_restore(port, &text);
    ovs_mutex_unlock(&dev->mutex);
    if (error) {
        dev->tried_ifindex = port->ifindex;
        retry_later(&dev->device_retry, RETRY_MAX_S);
        set_port_error(dev, xasprintf("the port is down: %s", text));
        free(text);
        return;
    }
    dev->tried_ifindex = 0;
    dev->host_seq = 0;          /* The addresses are those of this one. */
    retry_reset(&dev->device_retry);
    make_promiscuous(port->ifname);
    xdp_target_port_up(port->ifname, port->ifindex);
    VLOG_INFO("%s: up again on ifindex %d, %s mode, %"PRIu32" queue%s",
              port->ifname, port->ifindex, xdp_mode_to_string(port->mode),
              port->n_queues, port->n_queues == 1 ? "" : "s");
    set_port_error(dev, NULL);
}

/* Changes flags of the device, as a class of OVS does.  netdev-linux writes
 * all flags back as it last heard of them, which may be long ago when the main
 * thread was busy: a device that has come up meanwhile would go down again
 * with "promiscuous", when its port is deleted.  So it has to ask first. */
int
netdev_afxdp_fast_update_flags(struct netdev *netdev, enum netdev_flags off,
                               enum netdev_flags on,
                               enum netdev_flags *old_flags)
{
    if (off || on) {
        netdev_linux_class.update_flags(netdev, 0, 0, old_flags);
    }
    return netdev_linux_class.update_flags(netdev, off, on, old_flags);
}

/* Returns true if it is time to look at the device of 'dev', or at its program
 * and that is gone. */
static bool
look_is_due(struct netdev_afxdp_fast *dev)
{
    const struct xdp_port *port = dev->port;
    long long int now = time_msec();

    if (now >= dev->next_device_look) {
        return true;
    }
    if (now < dev->next_program_look) {
        return false;
    }
    dev->next_program_look = now + PROGRAM_LOOK_MS;
    return (port->program && retry_is_due(&dev->device_retry)
            && xdp_program_link_state(port->program) == XDP_LINK_GONE);
}

/* Looks at all ports, each once a second, at their programs more often.  Once
 * a round of the main loop, before it sleeps. */
void
netdev_afxdp_fast_run_devices(void)
{
    struct netdev_afxdp_fast *dev = NULL;
    bool queues_changed;

    if (!netdev_afxdp_fast_next(NULL)) {
        return;
    }
    queues_changed = queue_watch_run();
    queue_watch_wait();
    while ((dev = netdev_afxdp_fast_next(dev)) != NULL) {
        if (!dev->port) {
            continue;
        }
        if (queues_changed || look_is_due(dev)) {
            netdev_afxdp_fast_look(dev);
        }
        poll_timer_wait_until(dev->port->program
                              ? MIN(dev->next_program_look,
                                    dev->next_device_look)
                              : dev->next_device_look);
    }
}
