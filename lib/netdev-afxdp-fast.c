/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "netdev-afxdp-fast.h"

#include <errno.h>
#include <net/if.h>

#include "dirs.h"
#include "dp-packet.h"
#include "host-maps.h"
#include "kernel-features.h"
#include "napi-hold.h"
#include "netdev-afxdp-fast-private.h"
#include "netdev-linux.h"
#include "netdev-provider.h"
#include "openvswitch/poll-loop.h"
#include "openvswitch/vlog.h"
#include "packets.h"
#include "prefix-table.h"
#include "smap.h"
#include "timeval.h"
#include "util.h"
#include "xdp-port.h"
#include "xdp-targets.h"

VLOG_DEFINE_THIS_MODULE(netdev_afxdp_fast);

struct afxdp_fast_rxq {
    struct netdev_rxq up;
    struct xsk *xsk;
};

/* All ports, in the order of their making.  Main thread. */
static struct ovs_list all_ports = OVS_LIST_INITIALIZER(&all_ports);

/* When busy polling is to be looked after again, see busy_poll_update().  Main
 * thread. */
#define BUSY_POLL_INTERVAL_MS 1000
static long long int busy_poll_next;

/* How long, in seconds, to wait at most until options that the device has
 * refused are tried again.  Much longer than for a port that is down: trying
 * may cost frames of one that works. */
#define CONFIG_RETRY_MAX_S 1024

/* netdev_linux_class with our functions over its own. */
static struct netdev_class afxdp_fast_class;

/* Returns the port that 'netdev' of our class is. */
struct netdev_afxdp_fast *
netdev_afxdp_fast_cast(const struct netdev *netdev)
{
    ovs_assert(netdev_get_class(netdev) == &afxdp_fast_class);
    return CONTAINER_OF(netdev, struct netdev_afxdp_fast, lin.up);
}

/* Returns the port after 'dev', the first one for NULL, NULL at the end.
 * Main thread. */
struct netdev_afxdp_fast *
netdev_afxdp_fast_next(const struct netdev_afxdp_fast *dev)
{
    const struct ovs_list *next = dev ? dev->node.next : all_ports.next;

    return (next == &all_ports
            ? NULL : CONTAINER_OF(next, struct netdev_afxdp_fast, node));
}

/* Life. */

static struct netdev *
afxdp_fast_alloc(void)
{
    struct netdev_afxdp_fast *dev = xzalloc(sizeof *dev);

    return &dev->lin.up;
}

static int
afxdp_fast_construct(struct netdev *netdev)
{
    struct netdev_afxdp_fast *dev = netdev_afxdp_fast_cast(netdev);
    int error;

    error = netdev_linux_class.construct(netdev);
    if (error) {
        netdev_afxdp_fast_note_refusal(netdev_get_name(netdev),
                                       ovs_strerror(error));
        return error;
    }
    /* netdev-linux promises what its own send does; ours takes frames as they
     * are, so that OVS must segment and sum up before. */
    netdev->ol_flags = 0;
    netdev->n_rxq = 0;
    netdev->n_txq = 0;
    dev->requested_n_txq = 1;
    dev->prefixes = prefix_table_create(netdev_get_name(netdev));
    ovs_mutex_init(&dev->mutex);
    atomic_init(&dev->tx_no_queue, 0);
    ovs_list_push_back(&all_ports, &dev->node);
    return 0;
}

static void
afxdp_fast_destruct(struct netdev *netdev)
{
    struct netdev_afxdp_fast *dev = netdev_afxdp_fast_cast(netdev);

    ovs_list_remove(&dev->node);
    xdp_target_port_down(netdev_get_name(netdev));
    prefix_table_destroy(dev->prefixes);
    xdp_port_close(dev->port);
    free(dev->config_error);
    free(dev->port_error);
    free(dev->host_addresses);
    free(dev->host_warning);
    host_maps_destroy(dev->host_maps);
    ovs_mutex_destroy(&dev->mutex);
    netdev_linux_class.destruct(netdev);
}

static void
afxdp_fast_dealloc(struct netdev *netdev)
{
    free(netdev_afxdp_fast_cast(netdev));
}

/* Options. */

/* Makes 'error', of which it takes ownership, the port's config-error; NULL
 * clears it. */
void
netdev_afxdp_fast_set_config_error(struct netdev_afxdp_fast *dev, char *error)
{
    struct netdev *netdev = &dev->lin.up;

    if (!nullable_string_is_equal(error, dev->config_error)) {
        if (error) {
            VLOG_WARN("%s: %s", netdev_get_name(netdev), error);
        }
        ovs_mutex_lock(&dev->mutex);
        free(dev->config_error);
        dev->config_error = nullable_xstrdup(error);
        ovs_mutex_unlock(&dev->mutex);
        netdev_change_seq_changed(netdev);
    }
    free(error);
}

/* Brings the new port 'dev' up.  That is done here and not in reconfigure()
 * because OVS makes "Invalid argument" of the latter's errors and puts the
 * text of this one's into the Interface table. */
static int
open_port(struct netdev_afxdp_fast *dev, const struct port_config *config,
          char **errp)
{
    struct netdev *netdev = &dev->lin.up;
    const char *name = netdev_get_name(netdev);
    struct xdp_port *port;
    int ifindex = if_nametoindex(name);
    int error;

    error = port_retry_check(name, ifindex, config, errp);
    if (error) {
        return error;
    }
    error = netdev_afxdp_fast_open_host(dev, ifindex, config, errp);
    if (!error) {
        error = xdp_port_open(name, ifindex, netdev_get_numa_id(netdev),
                              config, prefix_table_is_wanted(dev->prefixes),
                              dev->host_maps, &port, errp);
    }
    if (error) {
        if (port_retry_failed(name, ifindex, config, error, *errp)) {
            VLOG_WARN("%s", *errp);
        }
        return error;
    }
    port_retry_forget(name);
    ovs_mutex_lock(&dev->mutex);
    dev->port = port;
    dev->requested = *config;
    ovs_mutex_unlock(&dev->mutex);
    netdev_afxdp_fast_look_at_tx(dev);
    netdev_afxdp_fast_connect_table(dev);
    xdp_target_port_up(name, port->ifindex);
    VLOG_INFO("%s: %s mode, %"PRIu32" queue%s", name,
              xdp_mode_to_string(port->mode), port->n_queues,
              port->n_queues == 1 ? "" : "s");
    return 0;
}

/* Brings the live port 'dev' to 'config', at once or by a reconfiguration,
 * during which OVS drops what goes to the port.  Returns NULL or what is
 * wrong, which the caller frees. */
static char *
change_port(struct netdev_afxdp_fast *dev, const struct port_config *config)
{
    struct netdev *netdev = &dev->lin.up;
    char *error;

    error = netdev_afxdp_fast_set_host(dev, dev->port->ifindex, config);
    if (error) {
        return error;
    }
    error = netdev_afxdp_fast_change_program(dev, config);
    dev->requested.hints = config->hints;
    dev->requested.malformed_drop = config->malformed_drop;
    port_config_copy_host(&dev->requested, config);
    dev->requested.fast_path_share = config->fast_path_share;
    dev->port->config.fast_path_share = config->fast_path_share;
    if (config->busy_poll != dev->port->config.busy_poll) {
        ovs_mutex_lock(&dev->mutex);
        xdp_port_set_busy_poll(dev->port, config->busy_poll);
        ovs_mutex_unlock(&dev->mutex);
        netdev_change_seq_changed(netdev);
    }
    dev->requested.busy_poll = config->busy_poll;
    if (!port_config_equal(config, &dev->requested)) {
        dev->requested = *config;
        dev->config_pending = true;
        dev->config_refused = false;
        retry_reset(&dev->config_retry);
        netdev_request_reconfigure(netdev);
    } else if (!error && !port_config_equal(config, &dev->port->config)) {
        /* The device has refused these options before, and said why. */
        error = nullable_xstrdup(dev->config_error);
    }
    return error;
}

static int
configure(struct netdev *netdev, const struct smap *options, char **errp)
{
    struct netdev_afxdp_fast *dev = netdev_afxdp_fast_cast(netdev);
    struct port_config config;
    char *error = NULL, *table_error;

    if (dev->port) {
        /* OVS comes here whenever something of a device has changed. */
        netdev_afxdp_fast_look(dev);
    }
    if (!port_config_parse(options, &config, &error)
        || (dev->port && (!xdp_port_check(dev->port, &config, &error)
                          || !netdev_afxdp_fast_check_host(dev, &config,
                                                           &error)))) {
        if (!dev->port) {
            *errp = xasprintf("%s: %s", netdev_get_name(netdev), error);
            free(error);
            VLOG_WARN("%s", *errp);
            return EINVAL;
        }
        netdev_afxdp_fast_set_config_error(dev, error);
        return 0;
    }
    /* Before the table, which may be in force at once.  A wrong table is no
     * reason to keep the port down. */
    prefix_table_set_share(dev->prefixes, config.fast_path_share);
    table_error = prefix_table_configure(dev->prefixes,
                                         smap_get(options, "prefixes"),
                                         smap_get(options, "prefix-file"));
    if (!dev->port) {
        int retval = open_port(dev, &config, errp);

        if (retval) {
            free(table_error);
            return retval;
        }
    } else {
        error = change_port(dev, &config);
    }
    if (error) {
        free(table_error);
    } else {
        error = table_error;
    }
    netdev_afxdp_fast_set_config_error(
        dev, error ? error : port_config_unknown_options(options));
    return 0;
}

/* OVS deletes a port whose set_config() fails.  So it does only while the
 * port is being made; afterwards a wrong option changes nothing, returns 0
 * and stands in status:config-error. */
static int
afxdp_fast_set_config(struct netdev *netdev, const struct smap *options,
                      char **errp)
{
    int error = configure(netdev, options, errp);

    netdev_afxdp_fast_note_refusal(netdev_get_name(netdev),
                                   error ? *errp : NULL);
    return error;
}

static int
afxdp_fast_set_tx_multiq(struct netdev *netdev, unsigned int n_txq)
{
    struct netdev_afxdp_fast *dev = netdev_afxdp_fast_cast(netdev);

    if (dev->requested_n_txq != n_txq) {
        dev->requested_n_txq = n_txq;
        netdev_request_reconfigure(netdev);
    }
    return 0;
}

/* Brings the port to the options that wait.  Returns NULL or what is wrong,
 * which the caller frees; what may pass is tried again later. */
static char *
reconfigure_port(struct netdev_afxdp_fast *dev)
{
    char *text = NULL;
    int error;

    dev->config_pending = false;
    error = xdp_port_reconfigure(dev->port, &dev->requested, &text);
    dev->config_refused = error && retry_may_help(error);
    if (dev->config_refused) {
        retry_later(&dev->config_retry, CONFIG_RETRY_MAX_S);
    }
    return text;
}

static int
afxdp_fast_reconfigure(struct netdev *netdev)
{
    struct netdev_afxdp_fast *dev = netdev_afxdp_fast_cast(netdev);
    bool was_refused = dev->config_refused && dev->config_pending;
    char *error = NULL;

    ovs_mutex_lock(&dev->mutex);
    if (dev->device_pending) {
        xdp_target_port_down(netdev_get_name(netdev));
        xdp_port_release(dev->port);
    }
    if (dev->config_pending) {
        error = reconfigure_port(dev);
    }
    ovs_mutex_unlock(&dev->mutex);
    if (dev->device_pending) {
        dev->device_pending = false;
        netdev_afxdp_fast_bring_back(dev);
    } else if (!dev->port->n_queues) {
        xdp_target_port_down(netdev_get_name(netdev));
    }
    /* As many tx queues as OVS has threads, whatever the device has: each
     * thread then has its own id and OVS takes no lock around send().  No
     * queues at all, for a device that is not there, are no error: OVS would
     * remove the port. */
    netdev->n_rxq = dev->port->n_queues;
    netdev->n_txq = dev->requested_n_txq;
    netdev_afxdp_fast_look_at_tx(dev);
    netdev_afxdp_fast_connect_table(dev);

    if (error || was_refused) {
        netdev_afxdp_fast_set_config_error(dev, error);
    }
    netdev_change_seq_changed(netdev);
    return 0;
}

static int
afxdp_fast_set_mtu(struct netdev *netdev, int mtu)
{
    if (mtu > PORT_MAX_MTU) {
        VLOG_WARN("%s: mtu_request=%d: at most %d, a frame has to fit into "
                  "%d bytes", netdev_get_name(netdev), mtu, PORT_MAX_MTU,
                  FRAME_MAX_LEN);
        return EINVAL;
    }
    return netdev_linux_class.set_mtu(netdev, mtu);
}

/* Busy polling: what may change by itself. */

/* Returns true if a port needs to be looked after. */
static bool
busy_poll_is_in_use(void)
{
    const struct netdev_afxdp_fast *dev = NULL;

    while ((dev = netdev_afxdp_fast_next(dev)) != NULL) {
        if (dev->port && dev->port->config.busy_poll) {
            return true;
        }
    }
    return false;
}

static void
look_after_busy_poll(void)
{
    struct netdev_afxdp_fast *dev = NULL;

    while ((dev = netdev_afxdp_fast_next(dev)) != NULL) {
        bool changed;

        ovs_mutex_lock(&dev->mutex);
        changed = dev->port && xdp_port_update_busy_poll(dev->port);
        ovs_mutex_unlock(&dev->mutex);
        if (changed) {
            netdev_change_seq_changed(&dev->lin.up);
        }
    }
    napi_holds_settle();
    busy_poll_next = time_msec() + BUSY_POLL_INTERVAL_MS;
}

/* Once in each round of the main loop, before it sleeps.  This would be work
 * for run(), but that is what OVS tells netdev-linux's classes by
 * (is_netdev_linux_class()), and so has to stay theirs. */
static void
afxdp_fast_wait(const struct netdev_class *class)
{
    netdev_linux_class.wait(class);
    netdev_afxdp_fast_run_tables();
    netdev_afxdp_fast_run_devices();
    netdev_afxdp_fast_run_host();
    port_retry_run();
    if (napi_holds_are_waiting() || busy_poll_is_in_use()) {
        if (time_msec() >= busy_poll_next) {
            look_after_busy_poll();
        }
        poll_timer_wait_until(busy_poll_next);
    }
}

/* Says what becomes of the state file that cannot be used because of
 * 'reason'. */
static void
keep_busy_poll_state(const char *reason)
{
    char *kept;
    int error = napi_holds_set_aside(&kept);

    if (error) {
        VLOG_WARN("%s; nothing is put back, and busy polling stays off: the "
                  "file cannot be kept as %s (%s)", reason, kept,
                  ovs_strerror(error));
    } else {
        VLOG_WARN("%s; nothing is put back, and the file is kept as %s",
                  reason, kept);
    }
    free(kept);
}

/* Puts back what an earlier daemon that did not end in order has changed. */
static void
busy_poll_init(void)
{
    char *path = xasprintf("%s/%s", ovs_rundir(), NAPI_HOLDS_FILE);
    char *reason = napi_holds_load(path);

    if (reason) {
        keep_busy_poll_state(reason);
        free(reason);
    }
    napi_holds_settle();
    free(path);
}

/* Packets. */

static struct afxdp_fast_rxq *
rxq_cast(const struct netdev_rxq *rxq)
{
    return CONTAINER_OF(rxq, struct afxdp_fast_rxq, up);
}

static struct netdev_rxq *
afxdp_fast_rxq_alloc(void)
{
    struct afxdp_fast_rxq *rxq = xzalloc(sizeof *rxq);

    return &rxq->up;
}

static int
afxdp_fast_rxq_construct(struct netdev_rxq *rxq)
{
    struct netdev_afxdp_fast *dev = netdev_afxdp_fast_cast(rxq->netdev);

    rxq_cast(rxq)->xsk = dev->port->queues[rxq->queue_id];
    return 0;
}

static void
afxdp_fast_rxq_destruct(struct netdev_rxq *rxq OVS_UNUSED)
{
    /* The socket stays with the port. */
}

static void
afxdp_fast_rxq_dealloc(struct netdev_rxq *rxq)
{
    free(rxq_cast(rxq));
}

static int
afxdp_fast_rxq_recv(struct netdev_rxq *rxq, struct dp_packet_batch *batch,
                    int *qfill)
{
    xsk_rx(rxq_cast(rxq)->xsk, batch);
    if (qfill) {
        *qfill = -ENOTSUP;
    }
    return dp_packet_batch_is_empty(batch) ? EAGAIN : 0;
}

static void
afxdp_fast_rxq_wait(struct netdev_rxq *rxq)
{
    poll_fd_wait(rxq_cast(rxq)->xsk->fd, POLLIN);
}

static int
afxdp_fast_rxq_drain(struct netdev_rxq *rxq)
{
    struct dp_packet_batch batch;

    dp_packet_batch_init(&batch);
    while (!afxdp_fast_rxq_recv(rxq, &batch, NULL)) {
        dp_packet_delete_batch(&batch, true);
    }
    return 0;
}

/* 'qid' is the sending thread's own, see afxdp_fast_reconfigure(). */
static int
afxdp_fast_send(struct netdev *netdev, int qid, struct dp_packet_batch *batch,
                bool concurrent_txq OVS_UNUSED)
{
    struct netdev_afxdp_fast *dev = netdev_afxdp_fast_cast(netdev);
    const struct xdp_port *port = dev->port;

    if (OVS_UNLIKELY(!port->n_queues)) {
        uint64_t orig;

        atomic_add_relaxed(&dev->tx_no_queue, dp_packet_batch_size(batch),
                           &orig);
        dp_packet_delete_batch(batch, true);
        return 0;
    }
    xsk_tx(xdp_port_tx_socket(port, qid), batch);
    return 0;
}

/* The class. */

/* Puts our functions over those of a regular device.  Gone is what belongs to
 * tc, which sees none of our traffic: OVS answers EOPNOTSUPP for it. */
static void
class_init(struct netdev_class *class)
{
    *class = netdev_linux_class;
    class->type = "afxdp-fast";
    class->is_pmd = true;
    class->wait = afxdp_fast_wait;

    class->alloc = afxdp_fast_alloc;
    class->construct = afxdp_fast_construct;
    class->destruct = afxdp_fast_destruct;
    class->dealloc = afxdp_fast_dealloc;

    class->get_config = netdev_afxdp_fast_get_config;
    class->set_config = afxdp_fast_set_config;
    class->get_numa_id = netdev_afxdp_class.get_numa_id;
    class->reconfigure = afxdp_fast_reconfigure;
    class->set_tx_multiq = afxdp_fast_set_tx_multiq;
    class->set_mtu = afxdp_fast_set_mtu;
    class->update_flags = netdev_afxdp_fast_update_flags;

    class->get_status = netdev_afxdp_fast_get_status;
    class->get_stats = netdev_afxdp_fast_get_stats;
    class->get_custom_stats = netdev_afxdp_fast_get_custom_stats;

    class->send = afxdp_fast_send;
    class->send_wait = NULL;
    class->rxq_alloc = afxdp_fast_rxq_alloc;
    class->rxq_construct = afxdp_fast_rxq_construct;
    class->rxq_destruct = afxdp_fast_rxq_destruct;
    class->rxq_dealloc = afxdp_fast_rxq_dealloc;
    class->rxq_recv = afxdp_fast_rxq_recv;
    class->rxq_wait = afxdp_fast_rxq_wait;
    class->rxq_drain = afxdp_fast_rxq_drain;

    class->set_policing = NULL;
    class->get_qos_types = NULL;
    class->get_qos_capabilities = NULL;
    class->get_qos = NULL;
    class->set_qos = NULL;
    class->get_queue = NULL;
    class->set_queue = NULL;
    class->delete_queue = NULL;
    class->get_queue_stats = NULL;
    class->queue_dump_start = NULL;
    class->queue_dump_next = NULL;
    class->queue_dump_done = NULL;
    class->dump_queue_stats = NULL;
    class->get_block_id = NULL;
}

/* Makes interfaces of type "afxdp-fast" possible, and their commands.  Main
 * thread, once, before the bridge starts. */
void
netdev_afxdp_fast_register(void)
{
    kernel_features_probe();
    busy_poll_init();
    class_init(&afxdp_fast_class);
    netdev_register_provider(&afxdp_fast_class);
    netdev_afxdp_fast_appctl_init();
}
