/* SPDX-License-Identifier: Apache-2.0 */

/* The command afxdp-fast/doctor: looks for what is wrong with the ports and
 * with what they stand on, and says what mends it. */

#include <config.h>
#include "netdev-afxdp-fast-private.h"

#include <stdio.h>
#include <string.h>

#include "appctl-command.h"
#include "capabilities.h"
#include "findings.h"
#include "netdev.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/json.h"
#include "openvswitch/shash.h"
#include "smap.h"
#include "util.h"
#include "xdp-port.h"
#include "xdp-program.h"
#include "xdp-targets.h"

/* Ports that could not be made: name, and why.  OVS closes such a port, and
 * nothing else here knows of it. */
static struct shash refused = SHASH_INITIALIZER(&refused);

/* Making port 'name' ended with 'error', NULL if it is there.  Main thread. */
void
netdev_afxdp_fast_note_refusal(const char *name, const char *error)
{
    free(shash_find_and_delete(&refused, name));
    if (error) {
        shash_add(&refused, name, xstrdup(error));
    }
}

/* Of the daemon. */

static void
examine_process(struct findings *findings)
{
    struct ds lacks = DS_EMPTY_INITIALIZER;

    if (capabilities_format_missing(CAPABILITIES_ALL, true, &lacks)) {
        findings_add(findings, FINDING_ERROR, NULL, "process-lacks",
                     "systemctl edit ovs-vswitchd", "the daemon lacks %s: add "
                     "it to AmbientCapabilities= and CapabilityBoundingSet=",
                     ds_cstr(&lacks));
    }
    ds_destroy(&lacks);
}

/* Returns how many hugepages of 2 MB are reserved, 0 if that is not known. */
static unsigned long int
read_n_hugepages(void)
{
    FILE *file = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/"
                       "nr_hugepages", "r");
    unsigned long int n = 0;

    if (file) {
        if (fscanf(file, "%lu", &n) != 1) {
            n = 0;
        }
        fclose(file);
    }
    return n;
}

static void
examine_memory(struct findings *findings)
{
    struct frame_zone *zone = NULL;
    size_t n_pages = 0;

    while ((zone = frame_zone_next(zone)) != NULL) {
        struct frame_usage usage;

        netdev_afxdp_fast_get_settled_usage(zone, &usage);
        if (!frame_usage_is_accounted(&usage)) {
            findings_add(findings, FINDING_WARNING, NULL, "accounted", NULL,
                         "zone %"PRIu32": the parts of its %"PRIu32" frames "
                         "do not add up; if they do not without traffic "
                         "either, frames are lost: please report it",
                         zone->id, usage.total);
        }
        if (zone->memory.kind != FRAME_MEMORY_HUGETLB) {
            n_pages += zone->memory.size >> 21;
        }
    }
    if (n_pages) {
        char *command = xasprintf("sysctl -w vm.nr_hugepages=%lu",
                                  read_n_hugepages() + n_pages);

        findings_add(findings, FINDING_NOTE, NULL, "hugepages", command,
                     "%"PRIuSIZE" MB of frames are not in hugepages, of which "
                     "there were not enough; ports get them when they are "
                     "made anew", n_pages << 1);
        free(command);
    }
}

static void
examine_targets(const char *port, struct findings *findings)
{
    for (uint32_t i = 0; i < TABLE_N_TARGETS; i++) {
        struct xdp_target_info info;

        if (!xdp_target_get_info(i, &info)
            || (port && strcmp(info.name, port))) {
            continue;
        }
        if (info.reason) {
            char *message = xasprintf("takes no redirected frames, which go "
                                      "to OVS instead: %s", info.reason);

            findings_add_message(findings, FINDING_WARNING, info.name,
                                 "target", message);
            free(message);
        }
        if (info.lost) {
            findings_add(findings, FINDING_WARNING, info.name, "target-lost",
                         NULL, "%"PRIu64" frames were redirected to it and "
                         "lost", info.lost);
        }
    }
}

/* Of a port. */

/* What stands in the status of a port, and how grave it is.  Keys that are not
 * here are no findings, but for those that end in "-warning". */
static const struct {
    const char *key;
    enum finding_level level;
} status_keys[] = {
    { "config-error", FINDING_ERROR },
    { "port-error", FINDING_ERROR },
    { "xdp-mode-reason", FINDING_NOTE },
    { "kernel-lacks", FINDING_NOTE },
    { "prefix-pinned", FINDING_NOTE },
    { "prefix-waiting", FINDING_WARNING },
};

static bool
is_warning(const char *key)
{
    static const char end[] = "-warning";
    size_t len = strlen(key);

    return len > strlen(end) && !strcmp(key + len - strlen(end), end);
}

/* Returns false if 'key' of the status is no finding. */
static bool
level_of_key(const char *key, enum finding_level *level)
{
    for (size_t i = 0; i < ARRAY_SIZE(status_keys); i++) {
        if (!strcmp(status_keys[i].key, key)) {
            *level = status_keys[i].level;
            return true;
        }
    }
    *level = FINDING_WARNING;
    return is_warning(key);
}

static void
examine_status(const struct netdev *netdev, struct findings *findings)
{
    struct smap status = SMAP_INITIALIZER(&status);
    const struct smap_node **nodes;

    netdev_afxdp_fast_get_status(netdev, &status);
    nodes = smap_sort(&status);
    for (size_t i = 0; i < smap_count(&status); i++) {
        enum finding_level level;

        if (level_of_key(nodes[i]->key, &level)) {
            findings_add_message(findings, level, netdev_get_name(netdev),
                                 nodes[i]->key, nodes[i]->value);
        }
    }
    free(nodes);
    smap_destroy(&status);
}

static void
examine_link(struct netdev *netdev, struct findings *findings)
{
    const char *name = netdev_get_name(netdev);
    enum netdev_flags flags;

    if (!netdev_get_flags(netdev, &flags) && !(flags & NETDEV_UP)) {
        char *command = xasprintf("ip link set dev %s up", name);

        findings_add(findings, FINDING_ERROR, name, "link", command,
                     "the device is down");
        free(command);
    } else if (!netdev_get_carrier(netdev)) {
        findings_add(findings, FINDING_ERROR, name, "link", NULL,
                     "the device has no carrier: look at cable and far end");
    }
}

/* Counters of queues that tell of lost frames, and what helps. */
static const struct {
    const char *counter;
    const char *command;            /* Format, of the port's name, or NULL. */
    const char *text;
} losses[] = {
    { "rx_ring_full", "ovs-vsctl set interface %s options:n_rxq_desc=4096",
      "dropped, the rx ring was full: its PMD thread was too slow, or away "
      "for long" },
    { "rx_fill_ring_empty", "ovs-vsctl set interface %s options:frames=16384",
      "dropped, the fill ring was empty" },
    { "tx_ring_full", "ovs-vsctl set interface %s options:n_txq_desc=4096",
      "not sent, the tx ring was full: the device was slower than OVS" },
    { "tx_no_frame", "ovs-vsctl set interface %s options:frames=16384",
      "not sent, there was no frame to copy them into" },
    { "rx_dropped", NULL,
      "dropped, as a rule since they were longer than a frame: whoever sends "
      "there leaves the cutting into segments to hardware (TSO, GSO, UFO), "
      "turn that off in the guest, \"ethtool -K DEV tso off gso off\", or at "
      "its device (QEMU: host_tso4=off,host_tso6=off,host_ufo=off)" },
    { "tx_too_long", NULL,
      "not sent, they were longer than the MTU, or than a frame: a port with "
      "a larger MTU sends here, or a guest that leaves the cutting into "
      "segments to hardware" },
};

/* Returns counter 'name' of all queues together. */
static uint64_t
sum_queues(const struct xdp_port *port, const char *name)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < port->n_queues; i++) {
        uint64_t counters[XSK_N_COUNTERS];

        xsk_get_counters(port->queues[i], counters);
        for (size_t k = 0; k < XSK_N_COUNTERS; k++) {
            sum += strcmp(xsk_counter_name(k), name) ? 0 : counters[k];
        }
    }
    return sum;
}

static void
examine_queues(const struct netdev_afxdp_fast *dev, struct findings *findings)
{
    const char *name = netdev_get_name(&dev->lin.up);

    for (size_t i = 0; dev->port && i < ARRAY_SIZE(losses); i++) {
        uint64_t n = sum_queues(dev->port, losses[i].counter);

        if (n) {
            char *command = (losses[i].command
                             ? xasprintf(losses[i].command, name) : NULL);

            findings_add(findings, FINDING_WARNING, name, losses[i].counter,
                         command, "%"PRIu64" frames since the port came up: "
                         "%s", n, losses[i].text);
            free(command);
        }
    }
}

/* Verdicts of the program that lose frames which nobody asked to be lost. */
static void
examine_program(const struct netdev_afxdp_fast *dev, struct findings *findings)
{
    uint64_t counters[XDP_N_COUNTERS];

    if (!dev->port || !xdp_port_read_counters(dev->port, counters)) {
        return;
    }
    for (size_t i = 0; i < XDP_N_COUNTERS; i++) {
        const char *name = xdp_counter_name(i);

        if (counters[i] && !strncmp(name, "xdp_drop_", strlen("xdp_drop_"))
            && i != XDP_C_DROP_PREFIX && i != XDP_C_DROP_MALFORMED) {
            findings_add(findings, FINDING_WARNING,
                         netdev_get_name(&dev->lin.up), name, NULL,
                         "%"PRIu64" frames since the port came up: %s",
                         counters[i], xdp_counter_description(i));
        }
    }
}

static void
examine_port(struct netdev_afxdp_fast *dev, struct findings *findings)
{
    examine_status(&dev->lin.up, findings);
    examine_link(&dev->lin.up, findings);
    examine_queues(dev, findings);
    examine_program(dev, findings);
}

static void
examine_refused(const char *port, struct findings *findings)
{
    struct shash_node *node;

    SHASH_FOR_EACH (node, &refused) {
        if (!port || !strcmp(node->name, port)) {
            findings_add_message(findings, FINDING_ERROR, node->name,
                                 "refused", node->data);
        }
    }
}

/* The command. */

static void
reply(struct appctl_asker asker, const struct findings *findings)
{
    if (asker.json) {
        struct json *object = json_object_create();

        json_put_integer(object, "errors",
                         findings_count(findings, FINDING_ERROR));
        json_put_integer(object, "warnings",
                         findings_count(findings, FINDING_WARNING));
        json_put_integer(object, "notes",
                         findings_count(findings, FINDING_NOTE));
        json_object_put(object, "findings", findings_to_json(findings));
        appctl_reply_json(asker, object);
    } else {
        struct ds ds = DS_EMPTY_INITIALIZER;

        findings_format(findings, &ds);
        appctl_reply(asker, ds_cstr(&ds));
        ds_destroy(&ds);
    }
}

void
netdev_afxdp_fast_doctor(struct appctl_asker asker, int argc,
                         const char *argv[])
{
    const char *port = argc > 1 ? argv[1] : NULL;
    struct findings findings = FINDINGS_INITIALIZER;
    struct netdev_afxdp_fast *dev = NULL;

    if (port && !shash_find(&refused, port)
        && !appctl_find_port(asker, port)) {
        return;
    }
    examine_process(&findings);
    examine_memory(&findings);
    examine_refused(port, &findings);
    while ((dev = netdev_afxdp_fast_next(dev)) != NULL) {
        if (!port || !strcmp(netdev_get_name(&dev->lin.up), port)) {
            examine_port(dev, &findings);
        }
    }
    examine_targets(port, &findings);
    reply(asker, &findings);
    findings_destroy(&findings);
}
