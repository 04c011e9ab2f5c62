/* SPDX-License-Identifier: Apache-2.0 */

/* Commands of the daemon's control socket: afxdp-fast/memory and
 * afxdp-fast/features; and the registration of all commands. */

#include <config.h>
#include "netdev-afxdp-fast-private.h"

#include <bpf/libbpf.h>
#include <numa.h>
#include <sys/utsname.h>

#include "appctl-command.h"
#include "capabilities.h"
#include "kernel-features.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/json.h"
#include "prefix-appctl.h"
#include "util.h"

/* Traffic moves frames while they are counted.  So many tries, a millisecond
 * apart, to find all of them at once. */
#define COUNT_TRIES 20

/* afxdp-fast/memory. */

/* Stores where the frames of 'zone' are in '*usage', all found at once if that
 * can be had.  Main thread. */
void
netdev_afxdp_fast_get_settled_usage(struct frame_zone *zone,
                                    struct frame_usage *usage)
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

    netdev_afxdp_fast_get_settled_usage(zone, &u);
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

static struct json *
zone_to_json(struct frame_zone *zone)
{
    struct json *json = json_object_create();
    struct frame_usage u;

    netdev_afxdp_fast_get_settled_usage(zone, &u);
    json_put_integer(json, "zone", zone->id);
    json_put_integer(json, "bytes", zone->memory.size);
    json_put_text(json, "pages",
                  frame_memory_kind_to_string(zone->memory.kind));
    json_put_integer(json, "numa_node", zone->numa_node);
    json_put_integer(json, "queues", u.n_users);
    json_put_integer(json, "frames", u.total);
    json_put_integer(json, "reserved", u.reserved);
    json_put_integer(json, "free", u.list);
    json_put_integer(json, "thread_caches", u.caches);
    json_put_integer(json, "fill_and_rx_rings", u.rx);
    json_put_integer(json, "tx_and_completion_rings", u.tx);
    json_put_integer(json, "held_by_ovs", u.held);
    json_put_bool(json, "accounted", frame_usage_is_accounted(&u));
    return json;
}

static void
show_memory(struct appctl_asker asker, int argc OVS_UNUSED,
            const char *argv[] OVS_UNUSED)
{
    struct frame_zone *zone = NULL;

    if (asker.json) {
        struct json *object = json_object_create();
        struct json *zones = json_array_create_empty();

        while ((zone = frame_zone_next(zone)) != NULL) {
            json_array_add(zones, zone_to_json(zone));
        }
        json_object_put(object, "zones", zones);
        appctl_reply_json(asker, object);
    } else {
        struct ds ds = DS_EMPTY_INITIALIZER;

        while ((zone = frame_zone_next(zone)) != NULL) {
            show_zone(zone, &ds);
        }
        appctl_reply(asker, ds.length ? ds_cstr(&ds) : "no zones\n");
        ds_destroy(&ds);
    }
}

/* afxdp-fast/features. */

static int
count_numa_nodes(void)
{
    return numa_available() < 0 ? 1 : numa_num_configured_nodes();
}

static void
show_features_json(struct appctl_asker asker, const char *kernel,
                   const char *lacks, const char *process_lacks)
{
    struct json *object = json_object_create();

    json_put_text(object, "kernel", kernel);
    json_put_text(object, "ovs", VERSION);
    json_put_text(object, "libbpf", libbpf_version_string());
    json_put_integer(object, "xdp_layout", XDP_LAYOUT_VERSION);
    json_put_integer(object, "numa_nodes", count_numa_nodes());
    json_put_integer(object, "max_frame", FRAME_MAX_LEN);
    json_object_put(object, "xdp_modes", json_array_create_3(
        json_string_create("native-with-zerocopy"),
        json_string_create("native"), json_string_create("generic")));
    json_put_text(object, "kernel_lacks", lacks);
    json_put_text(object, "process_lacks", process_lacks);
    appctl_reply_json(asker, object);
}

static void
show_features_text(struct appctl_asker asker, const char *kernel,
                   const char *lacks, const char *process_lacks)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    ds_put_format(&ds, "kernel: %s\n", kernel);
    ds_put_format(&ds, "ovs: %s\n", VERSION);
    ds_put_format(&ds, "libbpf: %s\n", libbpf_version_string());
    ds_put_format(&ds, "xdp-layout: %d\n", XDP_LAYOUT_VERSION);
    ds_put_format(&ds, "numa-nodes: %d\n", count_numa_nodes());
    ds_put_format(&ds, "max-frame: %d\n", (int) FRAME_MAX_LEN);
    ds_put_cstr(&ds, "xdp-modes: native-with-zerocopy native generic\n");
    ds_put_format(&ds, "kernel-lacks: %s\n", lacks ? lacks : "nothing");
    ds_put_format(&ds, "process-lacks: %s\n",
                  process_lacks ? process_lacks : "nothing");
    appctl_reply(asker, ds_cstr(&ds));
    ds_destroy(&ds);
}

static void
show_features(struct appctl_asker asker, int argc OVS_UNUSED,
              const char *argv[] OVS_UNUSED)
{
    struct ds lacks = DS_EMPTY_INITIALIZER;
    struct ds process_lacks = DS_EMPTY_INITIALIZER;
    struct utsname kernel;

    uname(&kernel);
    kernel_features_format_lacks(&lacks, ", ");
    (asker.json ? show_features_json : show_features_text)(
        asker, kernel.release, lacks.length ? ds_cstr(&lacks) : NULL,
        capabilities_format_missing(CAPABILITIES_ALL, true, &process_lacks)
        ? ds_cstr(&process_lacks) : NULL);
    ds_destroy(&process_lacks);
    ds_destroy(&lacks);
}

/* Registers the commands.  Main thread, once. */
void
netdev_afxdp_fast_appctl_init(void)
{
    static const struct appctl_command commands[] = {
        { "afxdp-fast/show", "[PORT]", 0, 1, netdev_afxdp_fast_show },
        { "afxdp-fast/stats", "[PORT]", 0, 1, netdev_afxdp_fast_stats },
        { "afxdp-fast/memory", "", 0, 0, show_memory },
        { "afxdp-fast/features", "", 0, 0, show_features },
        { "afxdp-fast/doctor", "[PORT]", 0, 1, netdev_afxdp_fast_doctor },
    };

    appctl_commands_register(commands, ARRAY_SIZE(commands));
    prefix_appctl_init();
}
