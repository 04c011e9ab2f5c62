/* SPDX-License-Identifier: Apache-2.0 */

/* What the Interface table shows of a port: status and statistics. */

#include <config.h>
#include "netdev-afxdp-fast-private.h"

#include "bitmap.h"
#include "busy-poll.h"
#include "capabilities.h"
#include "kernel-features.h"
#include "netdev.h"
#include "netdev-provider.h"
#include "openvswitch/dynamic-string.h"
#include "prefix-table.h"
#include "smap.h"
#include "xdp-port.h"
#include "xdp-program.h"

/* Stores the configuration in force in 'args', for dpctl/show. */
int
netdev_afxdp_fast_get_config(const struct netdev *netdev, struct smap *args)
{
    struct netdev_afxdp_fast *dev = netdev_afxdp_fast_cast(netdev);
    const struct xdp_port *port;

    ovs_mutex_lock(&dev->mutex);
    port = dev->port;
    if (port) {
        smap_add_format(args, "n_rxq", "%"PRIu32, port->n_queues);
        smap_add(args, "xdp-mode", xdp_mode_to_string(port->config.xdp_mode));
        smap_add(args, "xdp-mode-in-use", xdp_mode_to_string(port->mode));
        smap_add_format(args, "n_rxq_desc", "%"PRIu32,
                        port->config.n_rxq_desc);
        smap_add_format(args, "n_txq_desc", "%"PRIu32,
                        port->config.n_txq_desc);
        smap_add_format(args, "frames", "%"PRIu32, port->config.n_frames);
        smap_add(args, "xdp-hints",
                 hints_choice_to_string(port->config.hints));
        smap_add(args, "busy-poll",
                 port->config.busy_poll ? "true" : "false");
        smap_add(args, "malformed",
                 port->config.malformed_drop ? "drop" : "userspace");
        smap_add(args, "host-traffic",
                 port->config.host_pass ? "pass" : "refuse");
        smap_add_format(args, "fast-path-share", "%"PRIu32,
                        port->config.fast_path_share);
    }
    ovs_mutex_unlock(&dev->mutex);
    return 0;
}

/* Stores the device's node, and how much of the 'size' bytes of its zones is
 * not on it. */
static void
add_numa(const struct xdp_port *port, size_t size, size_t off_node,
         struct smap *status)
{
    smap_add_format(status, "numa-node", "%d", port->numa_node);
    if (off_node) {
        smap_add_format(status, "numa-warning", "%"PRIuSIZE" of %"PRIuSIZE" "
                        "MB of the frames are not on node %d, which is the "
                        "device's and had no memory to give", off_node >> 20,
                        size >> 20, port->numa_node);
    }
}

/* Stores the zones that the queues of 'port' use, most often one. */
static void
add_zones(const struct xdp_port *port, struct smap *status)
{
    unsigned long *seen = bitmap_allocate(FRAME_N_ZONES);
    struct ds ids = DS_EMPTY_INITIALIZER;
    struct ds kinds = DS_EMPTY_INITIALIZER;
    size_t size = 0, off_node = 0;
    uint32_t n_frames = 0;

    for (uint32_t i = 0; i < port->n_queues; i++) {
        const struct frame_zone *zone = port->queues[i]->zone;
        const char *comma = n_frames ? "," : "";

        if (!bitmap_is_set(seen, zone->id)) {
            bitmap_set1(seen, zone->id);
            n_frames += zone->n_frames;
            size += zone->memory.size;
            off_node += zone->memory.off_node;
            ds_put_format(&ids, "%s%"PRIu32, comma, zone->id);
            ds_put_format(&kinds, "%s%s", comma,
                          frame_memory_kind_to_string(zone->memory.kind));
        }
    }
    smap_add(status, "frame-memory", ds_cstr(&kinds));
    smap_add(status, "frame-zone", ds_cstr(&ids));
    smap_add_format(status, "frame-zone-size", "%"PRIu32, n_frames);
    add_numa(port, size, off_node, status);
    ds_destroy(&kinds);
    ds_destroy(&ids);
    free(seen);
}

/* Says so if the device lets through what no frame of ours can hold. */
static void
add_mtu(const struct netdev *netdev, struct smap *status)
{
    int mtu;

    smap_add_format(status, "max-frame", "%d", (int) FRAME_MAX_LEN);
    if (!netdev_get_mtu(netdev, &mtu) && mtu > PORT_MAX_MTU) {
        smap_add_format(status, "mtu-warning", "the MTU is %d, frames for "
                        "more than %d are dropped; mend it with \"ip link "
                        "set dev %s mtu %d\"", mtu, PORT_MAX_MTU,
                        netdev_get_name(netdev), PORT_MAX_MTU);
    }
}

static void
add_program(const struct xdp_port *port, struct smap *status)
{
    if (port->program) {
        smap_add_format(status, "xdp-program-id", "%"PRIu32,
                        xdp_program_id(port->program));
        if (xdp_program_has_front(port->program)) {
            smap_add_format(status, "xdp-program-behind-id", "%"PRIu32,
                            xdp_program_port_id(port->program));
        }
        smap_add(status, "xdp-program-variant",
                 xdp_program_variant(port->program));
        smap_add(status, "xdp-hints",
                 xdp_program_settings(port->program)->hints ? "on" : "off");
    }
}

/* Stores the state of busy polling: once, if all queues have the same. */
static void
add_busy_poll(const struct xdp_port *port, struct smap *status)
{
    struct ds ds = DS_EMPTY_INITIALIZER;
    bool same = true;

    for (uint32_t i = 0; i < port->n_queues; i++) {
        const char *s = busy_poll_status(port->queues[i]);

        same = same && !strcmp(s, busy_poll_status(port->queues[0]));
        ds_put_format(&ds, "%squeue %"PRIu32": %s", i ? "; " : "", i, s);
    }
    smap_add(status, "busy-poll", (same && port->n_queues
                                   ? busy_poll_status(port->queues[0])
                                   : ds_cstr(&ds)));
    ds_destroy(&ds);
}

/* Stores what best-effort would do otherwise, had it the choice again. */
static void
add_mode_warning(const struct xdp_port *port, struct smap *status)
{
    if (port->table && port->copy_mode == XSK_ZEROCOPY
        && port->config.xdp_mode == XDP_MODE_BEST_EFFORT) {
        smap_add_format(status, "xdp-mode-warning", "the prefix table came "
                        "after the port had taken zero copy, in which each "
                        "frame that is redirected is copied; where most are, "
                        "mend it with \"ovs-vsctl set interface %s "
                        "options:xdp-mode=native\"", port->ifname);
    }
}

/* Stores the state of the prefix table, and what it suffers from. */
static void
add_table(const struct netdev_afxdp_fast *dev, struct smap *status)
{
    prefix_table_get_status(dev->prefixes, status);
    if (dev->port && dev->port->table && xdp_port_hides_tags(dev->port)) {
        const char *name = netdev_get_name(&dev->lin.up);

        smap_add_format(status, "vlan-warning", "VLAN tags may be beside the "
                        "frames, where the program does not see them: nothing "
                        "%sis redirected; turn that off with \"ethtool -K %s "
                        "rxvlan off rx-vlan-stag-hw-parse off\", or "
                        "\"ethtool -K DEV txvlan off tx-vlan-stag-hw-insert "
                        "off\" at the far end of a veth",
                        dev->port->mode == XDP_MODE_GENERIC
                        ? "that goes by a VLAN " : "", name);
    }
}

/* Stores what the kernel lacks, and what this process may not do. */
static void
add_lacks(struct smap *status)
{
    struct ds lacks = DS_EMPTY_INITIALIZER;

    kernel_features_format_lacks(&lacks, ", ");
    if (lacks.length) {
        smap_add(status, "kernel-lacks", ds_cstr(&lacks));
    }
    ds_clear(&lacks);
    if (capabilities_format_missing(CAPABILITIES_ALL, true, &lacks)) {
        smap_add(status, "process-lacks", ds_cstr(&lacks));
    }
    ds_destroy(&lacks);
}

/* Stores what a person wants to know of the port and what changes seldom; the
 * column is refreshed when netdev_change_seq_changed() is called. */
int
netdev_afxdp_fast_get_status(const struct netdev *netdev, struct smap *status)
{
    struct netdev_afxdp_fast *dev = netdev_afxdp_fast_cast(netdev);
    const struct xdp_port *port;

    /* What the driver tells.  Without a device that is nothing, but an error
     * of ours would make OVS clear the column. */
    netdev_linux_class.get_status(netdev, status);
    add_mtu(netdev, status);
    add_lacks(status);
    ovs_mutex_lock(&dev->mutex);
    port = dev->port;
    if (port) {
        smap_add(status, "xdp-mode", xdp_mode_to_string(port->mode));
        if (port->fallback_reason) {
            smap_add(status, "xdp-mode-reason", port->fallback_reason);
        }
        add_mode_warning(port, status);
        netdev_afxdp_fast_add_queues(port, status);
        smap_add_format(status, "frames-reserved", "%"PRIu32,
                        port->n_queues * port->config.n_frames);
        add_zones(port, status);
        add_program(port, status);
        add_busy_poll(port, status);
    }
    add_table(dev, status);
    netdev_afxdp_fast_get_host_status(dev, status);
    if (dev->port_error) {
        smap_add(status, "port-error", dev->port_error);
    }
    if (dev->config_error) {
        smap_add(status, "config-error", dev->config_error);
    } else if (prefix_table_error(dev->prefixes)) {
        smap_add(status, "config-error", prefix_table_error(dev->prefixes));
    }
    ovs_mutex_unlock(&dev->mutex);
    return 0;
}

/* Reads the device's counters and adds the packets that never reached it
 * because they were dropped on this side of the tx ring.  What the socket
 * drops on receive is not added: a veth counts it too. */
int
netdev_afxdp_fast_get_stats(const struct netdev *netdev,
                            struct netdev_stats *stats)
{
    struct netdev_afxdp_fast *dev = netdev_afxdp_fast_cast(netdev);
    uint64_t counters[XSK_N_COUNTERS], no_queue;
    int error;

    error = netdev_linux_class.get_stats(netdev, stats);
    if (error) {
        return error;
    }
    if (stats->tx_dropped != UINT64_MAX) {
        atomic_read_relaxed(&dev->tx_no_queue, &no_queue);
        stats->tx_dropped += no_queue;
    }
    ovs_mutex_lock(&dev->mutex);
    for (uint32_t i = 0; dev->port && i < dev->port->n_queues; i++) {
        xsk_get_counters(dev->port->queues[i], counters);
        if (stats->tx_dropped != UINT64_MAX) {
            stats->tx_dropped += (counters[XSK_C_tx_ring_full]
                                  + counters[XSK_C_tx_no_frame]
                                  + counters[XSK_C_tx_too_long]
                                  + counters[XSK_C_tx_too_short]);
        }
    }
    ovs_mutex_unlock(&dev->mutex);
    return 0;
}

static void OVS_PRINTF_FORMAT(3, 4)
add_counter(struct netdev_custom_stats *stats, uint64_t value,
            const char *format, ...)
{
    struct netdev_custom_counter *counter = &stats->counters[stats->size++];
    va_list args;

    counter->value = value;
    va_start(args, format);
    vsnprintf(counter->name, sizeof counter->name, format, args);
    va_end(args);
}

/* Stores the program's counters and those of each queue in '*stats'; the
 * caller frees its array.  The names are those of upstream's afxdp where it
 * has the same. */
int
netdev_afxdp_fast_get_custom_stats(const struct netdev *netdev,
                                   struct netdev_custom_stats *stats)
{
    struct netdev_afxdp_fast *dev = netdev_afxdp_fast_cast(netdev);
    uint64_t program[XDP_N_COUNTERS] = { 0 };
    uint32_t n_queues;

    ovs_mutex_lock(&dev->mutex);
    n_queues = dev->port ? dev->port->n_queues : 0;
    stats->size = 0;
    stats->counters = xcalloc(XDP_N_COUNTERS + n_queues * XSK_N_COUNTERS,
                              sizeof *stats->counters);
    if (dev->port) {
        xdp_port_read_counters(dev->port, program);
    }
    for (size_t i = 0; i < XDP_N_COUNTERS; i++) {
        add_counter(stats, program[i], "%s", xdp_counter_name(i));
    }
    for (uint32_t q = 0; q < n_queues; q++) {
        uint64_t counters[XSK_N_COUNTERS];

        xsk_get_counters(dev->port->queues[q], counters);
        for (size_t i = 0; i < XSK_N_COUNTERS; i++) {
            add_counter(stats, counters[i], "xsk_queue_%"PRIu32"_%s", q,
                        xsk_counter_name(i));
        }
    }
    ovs_mutex_unlock(&dev->mutex);
    return 0;
}
