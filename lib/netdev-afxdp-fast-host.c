/* SPDX-License-Identifier: Apache-2.0 */

/* The host's own traffic: a port on a device that the host has addresses on.
 *
 * Without options:host-traffic=pass such a port is not made, since the host
 * would be cut off.  With it, the port's program hands the host what is its
 * own (bpf/host.h), by maps that follow its addresses. */

#include <config.h>
#include "netdev-afxdp-fast-private.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "host-addresses.h"
#include "host-maps.h"
#include "host-ports.h"
#include "netdev-probe.h"
#include "netdev-provider.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/vlog.h"
#include "smap.h"
#include "util.h"
#include "xdp-port.h"

VLOG_DEFINE_THIS_MODULE(netdev_afxdp_fast_host);

/* How many addresses 'status' names: a line of it is to be read. */
#define MAX_NAMED 8

/* What tells the host of new lifetimes of its addresses: answers to DHCP
 * (RFC 2131), and router advertisements. */
#define PORT_DHCP XDP_HOST_PORT(IPPROTO_UDP, 68)
#define PORT_RA XDP_HOST_PORT(IPPROTO_ICMPV6, 134)

/* Returns what to say about 'claim', which host-traffic=pass or the command
 * 'remove' is the answer to, and what 'follows' from it otherwise.  Takes over
 * the first two. */
static char *
explain(const char *name, char *claim, char *remove, const char *follows)
{
    char *text;

    text = xasprintf("%s, and %s: remove it with \"%s\", or hand them to the "
                     "host with \"ovs-vsctl set interface %s "
                     "options:host-traffic=pass\"", claim, follows, remove,
                     name);
    free(claim);
    free(remove);
    return text;
}

/* Returns 0 if the host has no need of device 'ifindex', called 'name':
 * neither an address, link-local ones aside, nor its default route is there.
 * Otherwise returns EADDRINUSE, or EAGAIN if the kernel does not tell, and
 * what is there in '*errp', which the caller frees. */
static int
check_need(const char *name, int ifindex, char **errp)
{
    char *claim, *remove, *text;
    int error;

    if (!ifindex) {
        return 0;               /* Others say that there is no such device. */
    }
    host_addresses_start();
    error = host_addresses_refresh();
    if (error) {
        *errp = xasprintf("%s: cannot tell whether the host needs the device: "
                          "%s", name, ovs_strerror(error));
        return EAGAIN;
    }
    claim = host_addresses_claim(ifindex, &remove);
    if (!claim) {
        claim = host_addresses_default_route(ifindex, &remove);
    }
    if (!claim) {
        return 0;
    }
    text = explain(name, claim, remove,
                   "frames for the host would go to OVS");
    *errp = xasprintf("%s: %s", name, text);
    free(text);
    return EADDRINUSE;
}

/* Takes over 'text', which may be NULL, into '*memberp' of 'dev'. */
static void
replace_text(struct netdev_afxdp_fast *dev, char **memberp, char *text)
{
    if (nullable_string_is_equal(*memberp, text)) {
        free(text);
        return;
    }
    ovs_mutex_lock(&dev->mutex);
    free(*memberp);
    *memberp = text;
    ovs_mutex_unlock(&dev->mutex);
    netdev_change_seq_changed(&dev->lin.up);
}

static void
set_warning(struct netdev_afxdp_fast *dev, char *warning)
{
    if (warning && !nullable_string_is_equal(dev->host_warning, warning)) {
        VLOG_INFO("%s: %s", netdev_get_name(&dev->lin.up), warning);
    }
    replace_text(dev, &dev->host_warning, warning);
}

static bool
has_port(const struct port_config *config, uint32_t port)
{
    for (uint32_t i = 0; i < config->n_host_ports; i++) {
        if (config->host_ports[i] == port) {
            return true;
        }
    }
    return false;
}

/* Returns what to say if addresses of 'view' end when what renews them goes to
 * OVS, or NULL. */
static char *
check_lifetimes(const char *name, const struct host_view *view,
                const struct port_config *config)
{
    bool dhcp = view->lifetime_ipv4 && !has_port(config, PORT_DHCP);
    bool ra = view->lifetime_ipv6 && !has_port(config, PORT_RA);
    struct ds ports = DS_EMPTY_INITIALIZER;
    char *text;

    if (!dhcp && !ra) {
        return NULL;
    }
    host_ports_format(config->host_ports, config->n_host_ports, &ports);
    ds_put_format(&ports, "%s%s%s%s", ports.length ? "," : "",
                  dhcp ? "udp:68" : "", dhcp && ra ? "," : "",
                  ra ? "icmpv6:134" : "");
    text = xasprintf("an address of the host lasts only as long as %s renew "
                     "it, which may go to OVS; hand them to the host with "
                     "\"ovs-vsctl set interface %s options:host-ports=%s\"",
                     dhcp && ra ? "DHCP and router advertisements"
                     : dhcp ? "answers to DHCP" : "router advertisements",
                     name, ds_cstr(&ports));
    ds_destroy(&ports);
    return text;
}

static char *
format_addresses(const struct host_view *view)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    for (size_t i = 0; i < MIN(view->n_addresses, MAX_NAMED); i++) {
        ds_put_cstr(&ds, i ? " " : "");
        host_address_format(&view->addresses[i], &ds);
    }
    if (view->n_addresses > MAX_NAMED) {
        ds_put_format(&ds, " and %"PRIuSIZE" more",
                      view->n_addresses - MAX_NAMED);
    }
    return ds_steal_cstr(&ds);
}

/* Brings the maps of 'dev' to what the host is on device 'ifindex' now. */
static void
update_maps(struct netdev_afxdp_fast *dev, int ifindex,
            const struct port_config *config)
{
    const char *name = netdev_get_name(&dev->lin.up);
    struct host_view view;
    char *warning = NULL;
    int error, error2;

    host_addresses_view(ifindex, &view);
    error = host_maps_set_places(dev->host_maps, view.places, view.n_places);
    error2 = host_maps_set_addresses(dev->host_maps, view.addresses,
                                     view.n_addresses);
    if (error || error2) {
        warning = xasprintf("not all of the host's %"PRIuSIZE" addresses are "
                            "known to the program, and frames for the others "
                            "go to OVS: %s", view.n_addresses,
                            ovs_strerror(error ? error : error2));
    } else {
        warning = check_lifetimes(name, &view, config);
    }
    set_warning(dev, warning);
    replace_text(dev, &dev->host_addresses, format_addresses(&view));
    host_view_uninit(&view);
}

/* Prepares 'dev', whose device is 'ifindex', for a program that does with the
 * host's traffic what 'config' says.  Returns NULL or what is wrong, which the
 * caller frees. */
char *
netdev_afxdp_fast_set_host(struct netdev_afxdp_fast *dev, int ifindex,
                           const struct port_config *config)
{
    uint32_t ports[PORT_MAX_HOST_PORTS];
    char *error = NULL;

    if (dev->port && port_config_same_host(config, &dev->port->config)) {
        return NULL;
    }
    dev->host_seq = 0;
    if (!config->host_pass) {
        return NULL;
    }
    if (!dev->host_maps && host_maps_create(&dev->host_maps, &error)) {
        return error;
    }
    if (dev->port) {
        ovs_mutex_lock(&dev->mutex);
        dev->port->host = dev->host_maps;
        ovs_mutex_unlock(&dev->mutex);
    }
    host_addresses_start();
    host_addresses_refresh();
    memcpy(ports, config->host_ports, sizeof ports);
    host_maps_set_ports(dev->host_maps, ports, config->n_host_ports);
    update_maps(dev, ifindex, config);
    return NULL;
}

/* Makes sure that the host does not lose what it needs of device 'ifindex'
 * when 'dev' comes up there with 'config'.  Returns 0, or a positive errno and
 * why in '*errp', which the caller frees: EADDRINUSE if that is so. */
int
netdev_afxdp_fast_open_host(struct netdev_afxdp_fast *dev, int ifindex,
                            const struct port_config *config, char **errp)
{
    const char *name = netdev_get_name(&dev->lin.up);

    if (!config->host_pass) {
        /* A loopback or tun device is refused for what it is: to be told of
         * its addresses would lead nowhere. */
        return (netdev_probe_is_ethernet(name)
                ? check_need(name, ifindex, errp) : 0);
    }
    *errp = netdev_afxdp_fast_set_host(dev, ifindex, config);
    return *errp ? ENOMEM : 0;
}

/* Returns true if 'config' does not take from the host what it needs of the
 * live port 'dev'; otherwise false, and what in '*errp', which the caller
 * frees. */
bool
netdev_afxdp_fast_check_host(const struct netdev_afxdp_fast *dev,
                             const struct port_config *config, char **errp)
{
    const struct xdp_port *port = dev->port;

    return (!port->config.host_pass || config->host_pass
            || !check_need(port->ifname, port->ifindex, errp));
}

/* Does for 'dev' what follows from the host's addresses as they are now. */
static void
follow(struct netdev_afxdp_fast *dev)
{
    const struct xdp_port *port = dev->port;
    char *claim, *remove;

    dev->host_seq = host_addresses_seq();
    if (port->config.host_pass) {
        update_maps(dev, port->ifindex, &port->config);
        return;
    }
    claim = host_addresses_claim(port->ifindex, &remove);
    set_warning(dev, (claim
                      ? explain(port->ifname, claim, remove, "the port, which "
                                "was there before, will be refused when the "
                                "daemon is started again; frames for the host "
                                "go to OVS")
                      : NULL));
    replace_text(dev, &dev->host_addresses, NULL);
}

/* Follows the host's addresses.  Once a round of the main loop, before it
 * sleeps. */
void
netdev_afxdp_fast_run_host(void)
{
    struct netdev_afxdp_fast *dev = NULL;

    host_addresses_run();
    while ((dev = netdev_afxdp_fast_next(dev)) != NULL) {
        if (dev->port && dev->host_seq != host_addresses_seq()) {
            follow(dev);
        }
    }
    host_addresses_wait();
}

/* Stores what goes to the host, and what is wrong with that.  The caller holds
 * the mutex of 'dev'. */
void
netdev_afxdp_fast_get_host_status(const struct netdev_afxdp_fast *dev,
                                  struct smap *status)
{
    if (dev->port && dev->port->config.host_pass && dev->host_addresses) {
        smap_add(status, "host-addresses", dev->host_addresses);
    }
    if (dev->host_warning) {
        smap_add(status, "host-warning", dev->host_warning);
    }
}
