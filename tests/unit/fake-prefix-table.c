/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-table.h"

#include <string.h>

#include "bridge-info.h"
#include "netdev-afxdp-fast-private.h"
#include "netdev-provider.h"
#include "smap.h"
#include "timeval.h"
#include "util.h"
#include "xdp-port.h"
#include "xdp-program.h"
#include "xdp-targets.h"

#include "fake-prefix-table.h"

struct fake_version {
    struct prefix_set *set;
    enum prefix_source source;
    long long int when_ms;
    bool pinned;
};

struct prefix_table {
    char *name;
    char *file;                     /* Of the option, or NULL. */
    char *error;
    struct fake_version versions[PREFIX_HISTORY];       /* Newest first. */
    size_t n;                       /* Of them; the first one is in force. */

    /* A change that waits. */
    struct prefix_set *next;        /* Or NULL, with 'next_error'. */
    enum prefix_source next_source;
    char *next_error;
    bool next_pinned;
    prefix_done_cb *cb;             /* NULL: none. */
    void *aux;
};

static bool deferred;
static unsigned int n_dry_runs;

/* Tables. */

struct prefix_table *
prefix_table_create(const char *name)
{
    struct prefix_table *t = xzalloc(sizeof *t);

    t->name = xstrdup(name);
    return t;
}

void
prefix_table_destroy(struct prefix_table *t)
{
    if (t->cb) {
        t->cb(t, "the port is gone", t->aux);
        prefix_set_unref(t->next);
        free(t->next_error);
    }
    for (size_t i = 0; i < t->n; i++) {
        prefix_set_unref(t->versions[i].set);
    }
    free(t->error);
    free(t->file);
    free(t->name);
    free(t);
}

static void
put_in_force(struct prefix_table *t)
{
    struct fake_version *v = t->versions;

    if (t->n == PREFIX_HISTORY) {
        prefix_set_unref(v[--t->n].set);
    }
    memmove(&v[1], &v[0], t->n++ * sizeof *v);
    v[0] = (struct fake_version) {
        .set = t->next,
        .source = t->next_source,
        .when_ms = time_wall_msec(),
        .pinned = t->next_pinned,
    };
    t->next = NULL;
    t->next_pinned = false;
}

static void
finish(struct prefix_table *t)
{
    prefix_done_cb *cb = t->cb;
    char *error = t->next_error;

    free(t->error);
    t->error = nullable_xstrdup(error);
    if (!error) {
        put_in_force(t);
    }
    t->cb = NULL;
    t->next_error = NULL;
    cb(t, error, t->aux);
    free(error);
}

/* Has 'set' put in force, or 'error' told, now or later. */
static void
change(struct prefix_table *t, struct prefix_set *set,
       enum prefix_source source, char *error, prefix_done_cb *cb, void *aux)
{
    if (t->cb) {
        cb(t, "another change is under way", aux);
        prefix_set_unref(set);
        free(error);
        return;
    }
    t->next = set;
    t->next_source = source;
    t->next_error = error;
    t->cb = cb;
    t->aux = aux;
    if (!deferred) {
        finish(t);
    }
}

const struct prefix_set *
prefix_table_get_set(const struct prefix_table *t)
{
    return t->n ? t->versions[0].set : NULL;
}

static const char *pin_error;           /* Of all tables, or NULL. */

const char *
prefix_table_pin_error(const struct prefix_table *t OVS_UNUSED)
{
    return pin_error;
}

void
fake_ports_set_pin_error(const char *error)
{
    pin_error = error;
}

const char *
prefix_table_error(const struct prefix_table *t)
{
    return t->error;
}

/* Entry I has met I packets of 100 bytes, the last one I * 1.5 s ago; entry 0
 * has met none. */
void
prefix_table_get_hits(const struct prefix_table *t, struct prefix_hits *hits)
{
    for (size_t i = 0; i < prefix_table_get_set(t)->n; i++) {
        hits[i] = (struct prefix_hits) {
            .packets = i,
            .bytes = i * 100,
            .last_ms = i ? (long long int) i * 1500 : -1,
        };
    }
}

size_t
prefix_table_get_history(const struct prefix_table *t,
                         struct prefix_version versions[PREFIX_HISTORY])
{
    for (size_t i = 0; i < t->n; i++) {
        const struct fake_version *v = &t->versions[i];

        versions[i] = (struct prefix_version) {
            .version = v->set->version,
            .source = v->source,
            .when_ms = v->when_ms,
            .n = v->set->n,
            .in_force = !i,
            .pinned = v->pinned,
        };
    }
    return t->n;
}

/* Ports. */

static const char *const port_names[] = { "eth0", "eth1", "eth2", "far0" };
static struct netdev_afxdp_fast ports[ARRAY_SIZE(port_names)];
static bool is_there[ARRAY_SIZE(port_names)];

static struct netdev_afxdp_fast *
find_port(const char *name)
{
    struct netdev_afxdp_fast *dev = NULL;

    while ((dev = netdev_afxdp_fast_next(dev)) != NULL) {
        if (!strcmp(dev->lin.up.name, name)) {
            return dev;
        }
    }
    return NULL;
}

struct netdev_afxdp_fast *
netdev_afxdp_fast_next(const struct netdev_afxdp_fast *dev)
{
    for (size_t i = dev ? dev - ports + 1 : 0; i < ARRAY_SIZE(ports); i++) {
        if (is_there[i]) {
            return &ports[i];
        }
    }
    return NULL;
}

char *
prefix_table_explain(const struct prefix_table *t OVS_UNUSED,
                     const struct prefix_entry *entry)
{
    return (entry->action == PREFIX_REDIRECT && !find_port(entry->target)
            ? xasprintf("there is no afxdp-fast port %s", entry->target)
            : NULL);
}

char *
prefix_table_check_set(const struct prefix_table *t,
                       const struct prefix_set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        const struct prefix_entry *entry = &set->entries[i];
        char *why = prefix_table_explain(t, entry);

        if (why) {
            return why;
        }
        if (entry->action == PREFIX_REDIRECT
            && !strcmp(entry->target, t->name)) {
            return xasprintf("%s is the port itself", t->name);
        }
    }
    return NULL;
}

char *
prefix_table_check_version(const struct prefix_table *t,
                           const struct prefix_set *set)
{
    n_dry_runs++;
    return (t->n > 1 && t->versions[0].pinned
            && !strcmp(t->versions[1].set->version, set->version)
            ? xasprintf("version \"%s\" has been rolled back", set->version)
            : NULL);
}

void
prefix_table_apply(struct prefix_table *t, prefix_done_cb *cb, void *aux)
{
    struct prefix_set *set = NULL;
    char *error = (t->file ? prefix_set_from_file(t->file, &set)
                   : xstrdup("options:prefix-file is not set"));

    change(t, set, PREFIX_FILE, error, cb, aux);
}

/* Returns why a command may not change single entries, or NULL. */
static char *
check_change(const struct prefix_table *t)
{
    return t->file ? xasprintf("the file %s is in force", t->file) : NULL;
}

void
prefix_table_add(struct prefix_table *t, const struct prefix_entry *entry,
                 prefix_done_cb *cb, void *aux)
{
    struct prefix_set *set = NULL;
    char *error = check_change(t);

    if (!error) {
        error = prefix_set_with(prefix_table_get_set(t), entry, &set);
    }
    change(t, set, PREFIX_COMMAND, error, cb, aux);
}

void
prefix_table_del(struct prefix_table *t, const struct prefix_entry *entry,
                 prefix_done_cb *cb, void *aux)
{
    struct prefix_set *set = NULL;
    char *error = check_change(t);

    if (!error) {
        error = prefix_set_without(prefix_table_get_set(t), entry, &set);
    }
    change(t, set, PREFIX_COMMAND, error, cb, aux);
}

void
prefix_table_rollback(struct prefix_table *t, prefix_done_cb *cb, void *aux)
{
    if (t->n < 2) {
        cb(t, "there is no version before this one", aux);
    } else {
        t->next_pinned = true;
        change(t, prefix_set_ref(t->versions[1].set), t->versions[1].source,
               NULL, cb, aux);
    }
}

/* Returns true if 'addr' lies inside 'entry'. */
static bool
covers(const struct prefix_entry *entry, const uint8_t *addr)
{
    for (int i = 0; i < entry->key.len; i++) {
        if ((addr[i / 8] ^ entry->key.addr[i / 8]) & (0x80 >> i % 8)) {
            return false;
        }
    }
    return true;
}

/* Not what tables do in all cases: the longest prefix, sources first. */
const struct prefix_entry *
prefix_table_lookup(const struct prefix_table *t,
                    const struct prefix_query *q)
{
    const struct prefix_set *set = prefix_table_get_set(t);
    const struct prefix_entry *best = NULL;

    for (size_t i = 0; set && i < set->n; i++) {
        const struct prefix_entry *e = &set->entries[i];

        if (e->key.ipv6 == q->ipv6 && (q->has_src || !e->key.src)
            && covers(e, e->key.src ? q->src : q->dst)
            && (!e->key.has_vlan || e->key.vlan == q->vlan)
            && (!e->key.has_mac || !memcmp(e->key.mac, q->mac, 6))
            && (!best || e->key.src > best->key.src
                || (e->key.src == best->key.src
                    && e->key.len > best->key.len))) {
            best = e;
        }
    }
    return best;
}

/* What the commands ask besides. */

int
netdev_afxdp_fast_get_status(const struct netdev *netdev, struct smap *status)
{
    smap_add_format(status, "driver_name", "fake \"%s\"", netdev->name);
    return 0;
}

/* Counter I is I. */
bool
xdp_port_read_counters(const struct xdp_port *port,
                       uint64_t counters[XDP_N_COUNTERS])
{
    for (size_t i = 0; i < XDP_N_COUNTERS; i++) {
        counters[i] = i;
    }
    return port->program != NULL;
}

const char *
xdp_counter_name(enum xdp_counter i)
{
    static const char *const names[] = {
#define NAME_OF(ENUM, NAME, DESCRIPTION) NAME,
        XDP_COUNTERS(NAME_OF)
#undef NAME_OF
    };
    return names[i];
}

const char *
xdp_counter_description(enum xdp_counter i)
{
    static const char *const descriptions[] = {
#define DESCRIPTION_OF(ENUM, NAME, DESCRIPTION) DESCRIPTION,
        XDP_COUNTERS(DESCRIPTION_OF)
#undef DESCRIPTION_OF
    };
    return descriptions[i];
}

void
xsk_get_counters(const struct xsk *xsk OVS_UNUSED,
                 uint64_t counters[XSK_N_COUNTERS])
{
    memset(counters, 0, XSK_N_COUNTERS * sizeof *counters);
    counters[0] = 7;
}

const char *
xsk_counter_name(size_t i)
{
    return i ? "tx_packets" : "rx_packets";
}

bool
xdp_target_ref(const char *name, uint32_t *index)
{
    *index = !strcmp(name, "eth1") ? 1 : 2;
    return true;
}

void
xdp_target_unref(uint32_t index OVS_UNUSED)
{
}

bool
xdp_target_get_info(uint32_t index, struct xdp_target_info *info)
{
    *info = (struct xdp_target_info) {
        .name = index == 1 ? "eth1" : "eth2",
        .target.ready = index == 1,
        .reason = index == 1 ? NULL : "eth2 is down",
        .lost = index * 10,
        .failures = index,
    };
    return index == 1 || index == 2;
}

static struct bridge_info br0 = { .mirrors = false };

void
bridge_info_of_port(const char *port, struct bridge_info *info)
{
    *info = br0;
    info->name = xstrdup(strcmp(port, "far0") ? "br0" : "br1");
}

void
bridge_info_uninit(struct bridge_info *info)
{
    free(info->name);
}

void
fake_bridge_set_blind(bool mirrors, bool sflow, bool ipfix, bool netflow)
{
    br0 = (struct bridge_info) {
        .mirrors = mirrors,
        .sflow = sflow,
        .ipfix = ipfix,
        .netflow = netflow,
    };
}

/* The fake itself.  eth0 has a program and a queue. */

static struct frame_zone zone = { .id = 3 };
static struct xsk queue = { .zone = &zone };
static struct xsk *queues[] = { &queue };
static struct xdp_port xdp_port = {
    .program = (struct xdp_program *) &xdp_port,
    .queues = queues,
    .n_queues = ARRAY_SIZE(queues),
};

void
fake_ports_create(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
        ports[i].lin.up.name = CONST_CAST(char *, port_names[i]);
        ports[i].prefixes = prefix_table_create(port_names[i]);
        is_there[i] = true;
    }
    ports[0].port = &xdp_port;
}

void
fake_ports_destroy(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
        fake_port_remove(port_names[i]);
    }
    deferred = false;
}

void
fake_port_remove(const char *name)
{
    struct netdev_afxdp_fast *dev = find_port(name);

    if (dev) {
        is_there[dev - ports] = false;
        prefix_table_destroy(dev->prefixes);
    }
}

void
fake_port_set_file(const char *port, const char *path)
{
    struct prefix_table *t = find_port(port)->prefixes;

    free(t->file);
    t->file = nullable_xstrdup(path);
}

void
fake_ports_defer(bool defer)
{
    deferred = defer;
}

unsigned int
fake_ports_dry_runs(void)
{
    return n_dry_runs;
}

bool
fake_ports_run(void)
{
    struct netdev_afxdp_fast *dev = NULL;

    while ((dev = netdev_afxdp_fast_next(dev)) != NULL) {
        if (dev->prefixes->cb) {
            finish(dev->prefixes);
            return true;
        }
    }
    return false;
}
