/* SPDX-License-Identifier: Apache-2.0 */

/* Commands of the control socket that show ports: afxdp-fast/show and
 * afxdp-fast/stats. */

#include <config.h>
#include "netdev-afxdp-fast-private.h"

#include <string.h>

#include "appctl-command.h"
#include "netdev.h"
#include "netdev-provider.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/json.h"
#include "smap.h"
#include "util.h"
#include "xdp-port.h"
#include "xdp-program.h"
#include "xdp-targets.h"

static const char *
port_name(const struct netdev_afxdp_fast *dev)
{
    return netdev_get_name(&dev->lin.up);
}

/* Reads the program's counters.  Returns false if there is no program. */
static bool
read_program(const struct netdev_afxdp_fast *dev,
             uint64_t counters[XDP_N_COUNTERS])
{
    return dev->port && xdp_port_read_counters(dev->port, counters);
}

/* How many frames are in a ring now. */
static uint32_t
read_ring(const atomic_uint32_t *n)
{
    uint32_t value;

    atomic_read_relaxed(CONST_CAST(atomic_uint32_t *, n), &value);
    return value;
}

/* How a command shows ports. */
struct port_view {
    void (*put_text)(const struct netdev_afxdp_fast *, struct ds *);
    struct json *(*to_json)(const struct netdev_afxdp_fast *);

    /* Adds what is not of one port.  'port' is the one that was asked for, or
     * NULL.  May be NULL. */
    void (*finish)(const char *port, struct ds *, struct json *);
};

/* Answers with the port in argv[1], or with all ports where there is none. */
static void
reply_view(struct appctl_asker asker, int argc, const char *argv[],
           const struct port_view *view)
{
    const char *wanted = argc > 1 ? argv[1] : NULL;
    const struct netdev_afxdp_fast *dev = NULL;
    struct json *object, *ports;
    struct ds ds = DS_EMPTY_INITIALIZER;

    if (wanted && !appctl_find_port(asker, wanted)) {
        return;
    }
    object = json_object_create();
    ports = json_object_create();
    json_object_put(object, "ports", ports);
    while ((dev = netdev_afxdp_fast_next(dev)) != NULL) {
        if (!wanted || !strcmp(port_name(dev), wanted)) {
            if (asker.json) {
                json_object_put(ports, port_name(dev), view->to_json(dev));
            } else {
                view->put_text(dev, &ds);
            }
        }
    }
    if (view->finish) {
        view->finish(wanted, &ds, object);
    }
    if (asker.json) {
        appctl_reply_json(asker, object);
    } else {
        json_destroy(object);
        appctl_reply(asker, ds_cstr(&ds));
    }
    ds_destroy(&ds);
}

/* Queues, in both commands. */

static void
put_counter(struct ds *ds, const char *name, uint64_t value)
{
    if (value) {
        ds_put_format(ds, "    %s: %"PRIu64"\n", name, value);
    }
}

static void
put_queue_counters(const struct xsk *xsk, struct ds *ds)
{
    uint64_t counters[XSK_N_COUNTERS];

    xsk_get_counters(xsk, counters);
    for (size_t i = 0; i < XSK_N_COUNTERS; i++) {
        put_counter(ds, xsk_counter_name(i), counters[i]);
    }
}

static struct json *
queue_counters_to_json(const struct xsk *xsk)
{
    struct json *json = json_object_create();
    uint64_t counters[XSK_N_COUNTERS];

    xsk_get_counters(xsk, counters);
    for (size_t i = 0; i < XSK_N_COUNTERS; i++) {
        json_put_integer(json, xsk_counter_name(i), counters[i]);
    }
    return json;
}

static struct json *
program_counters_to_json(const uint64_t counters[XDP_N_COUNTERS])
{
    struct json *json = json_object_create();

    for (size_t i = 0; i < XDP_N_COUNTERS; i++) {
        json_put_integer(json, xdp_counter_name(i), counters[i]);
    }
    return json;
}

/* afxdp-fast/show. */

static void
show_queue(const struct xsk *xsk, struct ds *ds)
{
    ds_put_format(ds, "  queue %"PRIu32": zone %"PRIu32", frames reserved "
                  "%"PRIu32", in rx rings %"PRIu32", in tx rings %"PRIu32"\n",
                  xsk->queue, xsk->zone->id, xsk->user.n_reserved,
                  read_ring(&xsk->user.n_rx), read_ring(&xsk->user.n_tx));
    put_queue_counters(xsk, ds);
}

static void
show_port(const struct netdev_afxdp_fast *dev, struct ds *ds)
{
    const struct xdp_port *port = dev->port;
    struct smap status = SMAP_INITIALIZER(&status);
    uint64_t counters[XDP_N_COUNTERS];
    const struct smap_node **nodes;

    ds_put_format(ds, "%s:\n", port_name(dev));
    netdev_afxdp_fast_get_status(&dev->lin.up, &status);
    nodes = smap_sort(&status);
    for (size_t i = 0; i < smap_count(&status); i++) {
        ds_put_format(ds, "  %s: %s\n", nodes[i]->key, nodes[i]->value);
    }
    free(nodes);
    smap_destroy(&status);

    if (read_program(dev, counters)) {
        ds_put_cstr(ds, "  program:\n");
        for (size_t i = 0; i < XDP_N_COUNTERS; i++) {
            put_counter(ds, xdp_counter_name(i), counters[i]);
        }
    }
    for (uint32_t i = 0; port && i < port->n_queues; i++) {
        show_queue(port->queues[i], ds);
    }
}

static struct json *
queue_to_json(const struct xsk *xsk)
{
    struct json *json = json_object_create();

    json_put_integer(json, "queue", xsk->queue);
    json_put_integer(json, "zone", xsk->zone->id);
    json_put_integer(json, "frames_reserved", xsk->user.n_reserved);
    json_put_integer(json, "in_rx_rings", read_ring(&xsk->user.n_rx));
    json_put_integer(json, "in_tx_rings", read_ring(&xsk->user.n_tx));
    json_object_put(json, "counters", queue_counters_to_json(xsk));
    return json;
}

static struct json *
port_to_json(const struct netdev_afxdp_fast *dev)
{
    struct smap status = SMAP_INITIALIZER(&status);
    struct json *json = json_object_create();
    struct json *queues = json_array_create_empty();
    uint64_t counters[XDP_N_COUNTERS];

    netdev_afxdp_fast_get_status(&dev->lin.up, &status);
    json_object_put(json, "status", smap_to_json(&status));
    smap_destroy(&status);
    json_object_put(json, "program", (read_program(dev, counters)
                                      ? program_counters_to_json(counters)
                                      : json_null_create()));
    for (uint32_t i = 0; dev->port && i < dev->port->n_queues; i++) {
        json_array_add(queues, queue_to_json(dev->port->queues[i]));
    }
    json_object_put(json, "queues", queues);
    return json;
}

void
netdev_afxdp_fast_show(struct appctl_asker asker, int argc,
                       const char *argv[])
{
    static const struct port_view view = {
        .put_text = show_port,
        .to_json = port_to_json,
    };

    reply_view(asker, argc, argv, &view);
}

/* afxdp-fast/stats. */

/* Headings for the counters of the program, by the word that their
 * descriptions begin with. */
static const struct {
    const char *word, *heading;
} groups[] = {
    { "verdict:", "verdicts, each frame has one" },
    { "bytes", "fast path" },
    { "up:", "why frames went up to userspace" },
    { "parse:", "parsing" },
    { "hints:", "hints" },
};

/* Adds the counters of a group that are not 0, if there are any. */
static void
put_group(const uint64_t counters[XDP_N_COUNTERS], const char *word,
          const char *heading, struct ds *ds)
{
    bool first = true;

    for (size_t i = 0; i < XDP_N_COUNTERS; i++) {
        if (counters[i] && !strncmp(xdp_counter_description(i), word,
                                    strlen(word))) {
            if (first) {
                ds_put_format(ds, "  %s:\n", heading);
                first = false;
            }
            put_counter(ds, xdp_counter_name(i), counters[i]);
        }
    }
}

static void
put_stats(const struct netdev_afxdp_fast *dev, struct ds *ds)
{
    uint64_t counters[XDP_N_COUNTERS];

    ds_put_format(ds, "%s:\n", port_name(dev));
    if (read_program(dev, counters)) {
        for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
            put_group(counters, groups[i].word, groups[i].heading, ds);
        }
    }
    for (uint32_t i = 0; dev->port && i < dev->port->n_queues; i++) {
        ds_put_format(ds, "  queue %"PRIu32":\n",
                      dev->port->queues[i]->queue);
        put_queue_counters(dev->port->queues[i], ds);
    }
}

static struct json *
stats_to_json(const struct netdev_afxdp_fast *dev)
{
    struct json *json = json_object_create();
    struct json *queues = json_array_create_empty();
    uint64_t counters[XDP_N_COUNTERS];

    json_object_put(json, "program", (read_program(dev, counters)
                                      ? program_counters_to_json(counters)
                                      : json_null_create()));
    for (uint32_t i = 0; dev->port && i < dev->port->n_queues; i++) {
        struct json *queue = queue_counters_to_json(dev->port->queues[i]);

        json_put_integer(queue, "queue", dev->port->queues[i]->queue);
        json_array_add(queues, queue);
    }
    json_object_put(json, "queues", queues);
    return json;
}

static void
put_target_text(const struct xdp_target_info *info, struct ds *ds)
{
    ds_put_format(ds, "target %s:\n  ready: %s%s%s\n", info->name,
                  info->target.ready ? "yes" : "no",
                  info->reason ? ", " : "",
                  info->reason ? info->reason : "");
    ds_put_format(ds, "  redirected to it and lost: %"PRIu64"\n"
                  "  times that it stopped: %"PRIu64"\n",
                  info->lost, info->failures);
}

static struct json *
target_to_json(const struct xdp_target_info *info)
{
    struct json *json = json_object_create();

    json_put_bool(json, "ready", info->target.ready);
    json_put_text(json, "reason", info->reason);
    json_put_integer(json, "lost", info->lost);
    json_put_integer(json, "failures", info->failures);
    return json;
}

/* Adds the targets of redirects, whichever ports redirect to them: that
 * called 'port', or all. */
static void
put_targets(const char *port, struct ds *ds, struct json *object)
{
    struct json *targets = json_object_create();

    for (uint32_t i = 0; i < TABLE_N_TARGETS; i++) {
        struct xdp_target_info info;

        if (xdp_target_get_info(i, &info)
            && (!port || !strcmp(info.name, port))) {
            put_target_text(&info, ds);
            json_object_put(targets, info.name, target_to_json(&info));
        }
    }
    json_object_put(object, "targets", targets);
}

void
netdev_afxdp_fast_stats(struct appctl_asker asker, int argc,
                        const char *argv[])
{
    static const struct port_view view = {
        .put_text = put_stats,
        .to_json = stats_to_json,
        .finish = put_targets,
    };

    reply_view(asker, argc, argv, &view);
}
