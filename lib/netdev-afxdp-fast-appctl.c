/* SPDX-License-Identifier: Apache-2.0 */

/* Commands of the daemon's control socket: afxdp-fast/show, /memory and
 * /features. */

#include <config.h>
#include "netdev-afxdp-fast-private.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <numa.h>
#include <sys/utsname.h>

#include "kernel-features.h"
#include "netdev.h"
#include "netdev-provider.h"
#include "openvswitch/dynamic-string.h"
#include "smap.h"
#include "unixctl.h"
#include "util.h"
#include "xdp-port.h"
#include "xdp-program.h"

/* Traffic moves frames while they are counted.  So many tries, a millisecond
 * apart, to find all of them at once. */
#define COUNT_TRIES 20

/* afxdp-fast/show. */

static void
put_counter(struct ds *ds, const char *name, uint64_t value)
{
    if (value) {
        ds_put_format(ds, "    %s: %"PRIu64"\n", name, value);
    }
}

static void
show_queue(const struct xsk *xsk, struct ds *ds)
{
    uint64_t counters[XSK_N_COUNTERS];
    uint32_t n_rx, n_tx;

    atomic_read_relaxed(CONST_CAST(atomic_uint32_t *, &xsk->user.n_rx),
                        &n_rx);
    atomic_read_relaxed(CONST_CAST(atomic_uint32_t *, &xsk->user.n_tx),
                        &n_tx);
    ds_put_format(ds, "  queue %"PRIu32": zone %"PRIu32", frames reserved "
                  "%"PRIu32", in rx rings %"PRIu32", in tx rings %"PRIu32"\n",
                  xsk->queue, xsk->zone->id, xsk->user.n_reserved, n_rx,
                  n_tx);
    xsk_get_counters(xsk, counters);
    for (size_t i = 0; i < XSK_N_COUNTERS; i++) {
        put_counter(ds, xsk_counter_name(i), counters[i]);
    }
}

static void
show_port(const struct netdev_afxdp_fast *dev, struct ds *ds)
{
    const struct netdev *netdev = &dev->lin.up;
    const struct xdp_port *port = dev->port;
    struct smap status = SMAP_INITIALIZER(&status);
    const struct smap_node **nodes;

    ds_put_format(ds, "%s:\n", netdev_get_name(netdev));
    netdev_afxdp_fast_get_status(netdev, &status);
    nodes = smap_sort(&status);
    for (size_t i = 0; i < smap_count(&status); i++) {
        ds_put_format(ds, "  %s: %s\n", nodes[i]->key, nodes[i]->value);
    }
    free(nodes);
    smap_destroy(&status);

    if (port && port->program) {
        uint64_t counters[XDP_N_COUNTERS];

        ds_put_cstr(ds, "  program:\n");
        xdp_program_read_counters(port->program, counters);
        for (size_t i = 0; i < XDP_N_COUNTERS; i++) {
            put_counter(ds, xdp_counter_name(i), counters[i]);
        }
    }
    for (uint32_t i = 0; port && i < port->n_queues; i++) {
        show_queue(port->queues[i], ds);
    }
}

static void
appctl_show(struct unixctl_conn *conn, int argc, const char *argv[],
            void *aux OVS_UNUSED)
{
    struct netdev_afxdp_fast *dev = NULL;
    struct ds ds = DS_EMPTY_INITIALIZER;
    bool found = argc == 1;

    while ((dev = netdev_afxdp_fast_next(dev)) != NULL) {
        if (argc == 1 || !strcmp(netdev_get_name(&dev->lin.up), argv[1])) {
            show_port(dev, &ds);
            found = true;
        }
    }
    if (found) {
        unixctl_command_reply(conn, ds_cstr(&ds));
    } else {
        ds_put_format(&ds, "%s: no such afxdp-fast port; there are", argv[1]);
        while ((dev = netdev_afxdp_fast_next(dev)) != NULL) {
            ds_put_format(&ds, " %s", netdev_get_name(&dev->lin.up));
        }
        unixctl_command_reply_error(conn, ds_cstr(&ds));
    }
    ds_destroy(&ds);
}

/* afxdp-fast/memory. */

static void
get_settled_usage(struct frame_zone *zone, struct frame_usage *usage)
{
    for (int i = 0; i < COUNT_TRIES; i++) {
        frame_zone_get_usage(zone, usage);
        if (frame_usage_is_accounted(usage)) {
            break;
        }
        xnanosleep_no_quiesce(1000 * 1000);
    }
}

static void
show_zone(struct frame_zone *zone, struct ds *ds)
{
    struct frame_usage u;

    get_settled_usage(zone, &u);
    ds_put_format(ds, "zone %"PRIu32":\n", zone->id);
    ds_put_format(ds, "  memory: %"PRIuSIZE" MB of %s on node %d\n",
                  zone->memory.size >> 20,
                  frame_memory_kind_to_string(zone->memory.kind),
                  zone->numa_node);
    ds_put_format(ds, "  queues: %"PRIu32"\n", u.n_users);
    ds_put_format(ds, "  frames: %"PRIu32"\n", u.total);
    ds_put_format(ds, "  reserved: %"PRIu32"\n", u.reserved);
    ds_put_format(ds, "  free: %"PRIu32"\n", u.list);
    ds_put_format(ds, "  thread caches: %"PRIu32"\n", u.caches);
    ds_put_format(ds, "  fill and rx rings: %"PRIu32"\n", u.rx);
    ds_put_format(ds, "  tx and completion rings: %"PRIu32"\n", u.tx);
    ds_put_format(ds, "  held by OVS: %"PRId64"\n", u.held);
    ds_put_format(ds, "  accounted: %s\n",
                  frame_usage_is_accounted(&u) ? "yes" : "no");
}

static void
appctl_memory(struct unixctl_conn *conn, int argc OVS_UNUSED,
              const char *argv[] OVS_UNUSED, void *aux OVS_UNUSED)
{
    struct ds ds = DS_EMPTY_INITIALIZER;
    struct frame_zone *zone = NULL;

    while ((zone = frame_zone_next(zone)) != NULL) {
        show_zone(zone, &ds);
    }
    unixctl_command_reply(conn, ds.length ? ds_cstr(&ds) : "no zones\n");
    ds_destroy(&ds);
}

/* afxdp-fast/features. */

static void
appctl_features(struct unixctl_conn *conn, int argc OVS_UNUSED,
                const char *argv[] OVS_UNUSED, void *aux OVS_UNUSED)
{
    struct ds lacks = DS_EMPTY_INITIALIZER;
    struct ds ds = DS_EMPTY_INITIALIZER;
    struct utsname kernel;

    uname(&kernel);
    ds_put_format(&ds, "kernel: %s\n", kernel.release);
    ds_put_format(&ds, "ovs: %s\n", VERSION);
    ds_put_format(&ds, "libbpf: %s\n", libbpf_version_string());
    ds_put_format(&ds, "xdp-layout: %d\n", XDP_LAYOUT_VERSION);
    ds_put_format(&ds, "numa-nodes: %d\n",
                  numa_available() < 0 ? 1 : numa_num_configured_nodes());
    ds_put_format(&ds, "max-frame: %d\n", (int) FRAME_MAX_LEN);
    ds_put_cstr(&ds, "xdp-modes: native-with-zerocopy native generic\n");
    kernel_features_format_lacks(&lacks, ", ");
    ds_put_format(&ds, "kernel-lacks: %s\n",
                  lacks.length ? ds_cstr(&lacks) : "nothing");
    unixctl_command_reply(conn, ds_cstr(&ds));
    ds_destroy(&lacks);
    ds_destroy(&ds);
}

/* Registers the commands.  Main thread, once. */
void
netdev_afxdp_fast_appctl_init(void)
{
    unixctl_command_register("afxdp-fast/show", "[port]", 0, 1, appctl_show,
                             NULL);
    unixctl_command_register("afxdp-fast/memory", "", 0, 0, appctl_memory,
                             NULL);
    unixctl_command_register("afxdp-fast/features", "", 0, 0,
                             appctl_features, NULL);
}
