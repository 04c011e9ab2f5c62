/* SPDX-License-Identifier: Apache-2.0 */

/* Commands of the control socket: afxdp-fast/prefix-show and -history. */

#include <config.h>
#include "prefix-show.h"

#include <string.h>

#include "netdev-afxdp-fast-private.h"
#include "netdev.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/json.h"
#include "prefix-table.h"
#include "timeval.h"
#include "util.h"
#include "xdp-table-layout.h"

static const char *
source_to_string(enum prefix_source source)
{
    switch (source) {
    case PREFIX_OPTION:
        return "option";
    case PREFIX_FILE:
        return "file";
    case PREFIX_COMMAND:
        return "command";
    case PREFIX_NONE:
    default:
        return "none";
    }
}

/* What is in force. */

/* Finds the version of 'table' that is in force.  The strings are those of the
 * table.  Without one, its source is PREFIX_NONE. */
static struct prefix_version
get_version_in_force(const struct prefix_table *table)
{
    struct prefix_version versions[PREFIX_HISTORY];
    size_t n = prefix_table_get_history(table, versions);

    for (size_t i = 0; i < n; i++) {
        if (versions[i].in_force) {
            return versions[i];
        }
    }
    return (struct prefix_version) { .source = PREFIX_NONE };
}

void
prefix_show_head(const struct prefix_table *table, struct ds *ds)
{
    struct prefix_version v = get_version_in_force(table);
    const char *error = prefix_table_error(table);

    ds_put_format(ds, "  version: %s\n", v.version ? v.version : "none");
    ds_put_format(ds, "  source: %s\n", source_to_string(v.source));
    ds_put_format(ds, "  entries: %"PRIuSIZE"\n", v.n);
    ds_put_format(ds, "  pinned: %s\n", v.pinned ? "yes" : "no");
    if (error) {
        ds_put_format(ds, "  error: %s\n", error);
    }
}

void
prefix_show_put_head(const char *port, const struct prefix_table *table,
                     struct json *object)
{
    struct prefix_version v = get_version_in_force(table);
    const char *error = prefix_table_error(table);

    json_put_text(object, "port", port);
    json_put_text(object, "version", v.version);
    json_put_text(object, "source", source_to_string(v.source));
    json_put_integer(object, "n_entries", v.n);
    json_put_bool(object, "pinned", v.pinned);
    json_put_text(object, "table_error", error);
}

/* Reasons. */

void
prefix_reasons_init(struct prefix_reasons *reasons,
                    const struct prefix_table *table,
                    const struct prefix_set *set)
{
    size_t n = MIN(set->n_firsts, TABLE_N_TARGETS);

    shash_init(&reasons->by_target);
    for (size_t i = 0; i < n; i++) {
        const struct prefix_entry *entry = &set->entries[set->firsts[i]];

        shash_add_nocopy(&reasons->by_target, xstrdup(entry->target),
                         prefix_table_explain(table, entry));
    }
}

void
prefix_reasons_uninit(struct prefix_reasons *reasons)
{
    shash_destroy_free_data(&reasons->by_target);
}

const char *
prefix_reasons_get(const struct prefix_reasons *reasons,
                   const struct prefix_entry *entry)
{
    const struct shash_node *node;

    if (!entry->target) {
        return NULL;
    }
    node = shash_find(&reasons->by_target, entry->target);
    return (node ? node->data
            : "all tables together can have "
              OVS_STRINGIZE(TABLE_N_TARGETS) " targets");
}

/* afxdp-fast/prefix-show. */

/* Which entries are to be shown. */
struct selection {
    bool has_prefix;
    struct prefix_entry inside;     /* Those that this prefix covers. */
    unsigned int from;              /* Of those, the first one, from 1. */
    unsigned int limit;             /* At most so many. */
};

/* What has been shown. */
struct shown {
    struct ds text;                 /* Lines, or elements of an array. */
    size_t n_selected;              /* Whether shown or not. */
    size_t n_shown;
};

/* Returns true if the first 'len' bits are the same. */
static bool
prefix_equal(const uint8_t *a, const uint8_t *b, unsigned int len)
{
    unsigned int rest = len % 8;

    return (!memcmp(a, b, len / 8)
            && (!rest || !((a[len / 8] ^ b[len / 8]) >> (8 - rest))));
}

static bool
is_selected(const struct selection *s, const struct prefix_entry *entry)
{
    return (!s->has_prefix
            || (entry->key.ipv6 == s->inside.key.ipv6
                && entry->key.len >= s->inside.key.len
                && prefix_equal(entry->key.addr, s->inside.key.addr,
                                s->inside.key.len)));
}

/* Changes '*s' as the arguments say. */
static bool
parse_selection(struct appctl_asker asker, int argc, const char *argv[],
                struct selection *s)
{
    if (!appctl_check_once(asker, argc, argv, 2)) {
        return false;
    }
    for (int i = 2; i < argc; i++) {
        const char *from = appctl_arg_value(argv[i], "from");
        const char *limit = appctl_arg_value(argv[i], "limit");
        char *error;
        bool masked;

        if (from || limit) {
            if (from ? appctl_parse_range(asker, "from", from, 1,
                                          PREFIX_SET_MAX, &s->from)
                : appctl_parse_number(asker, "limit", limit,
                                      PREFIX_SHOW_MAX, &s->limit)) {
                continue;
            }
            return false;
        }
        if (s->has_prefix) {
            error = xasprintf("%s: must be from=N or limit=N, after one "
                              "PREFIX", argv[i]);
        } else {
            error = prefix_entry_parse_key(argv[i], &s->inside, &masked);
        }
        if (error) {
            appctl_reply_error(asker, error);
            free(error);
            return false;
        }
        s->has_prefix = true;
    }
    return true;
}

static void
put_entry_text(const struct prefix_entry *entry,
               const struct prefix_hits *hits, const char *reason,
               struct ds *ds)
{
    ds_put_format(ds, "  %12"PRIu64" %15"PRIu64" ", hits->packets,
                  hits->bytes);
    if (hits->last_ms < 0) {
        ds_put_format(ds, "%10s", "never");
    } else {
        ds_put_format(ds, "%7lld.%01lld s", hits->last_ms / 1000,
                      hits->last_ms % 1000 / 100);
    }
    ds_put_cstr(ds, "  ");
    prefix_entry_format(entry, ds);
    if (reason) {
        ds_put_format(ds, "  (stays on userspace: %s)", reason);
    }
    ds_put_char(ds, '\n');
}

static void
put_entry_json(const struct prefix_entry *entry,
               const struct prefix_hits *hits, const char *reason,
               struct ds *ds)
{
    struct json *json = prefix_entry_to_json(entry);

    json_put_integer(json, "packets", hits->packets);
    json_put_integer(json, "bytes", hits->bytes);
    if (hits->last_ms >= 0) {
        json_put_time(json, "last_hit", time_wall_msec() - hits->last_ms);
    }
    json_put_text(json, "stays_on_userspace", reason);
    appctl_put_element(ds, json);
}

static void
show_entries(const struct prefix_table *table, const struct selection *s,
             bool json, struct shown *shown)
{
    const struct prefix_set *set = prefix_table_get_set(table);
    struct prefix_reasons reasons;
    struct prefix_hits *hits;

    *shown = (struct shown) { .text = DS_EMPTY_INITIALIZER };
    if (!set || !set->n) {
        return;
    }
    hits = xcalloc(set->n, sizeof *hits);
    prefix_table_get_hits(table, hits);
    prefix_reasons_init(&reasons, table, set);
    for (size_t i = 0; i < set->n; i++) {
        const struct prefix_entry *entry = &set->entries[i];

        if (is_selected(s, entry) && ++shown->n_selected >= s->from
            && shown->n_shown < s->limit) {
            shown->n_shown++;
            (json ? put_entry_json : put_entry_text)(
                entry, &hits[i], prefix_reasons_get(&reasons, entry),
                &shown->text);
        }
    }
    prefix_reasons_uninit(&reasons);
    free(hits);
}

static void
reply_text(struct appctl_asker asker, const char *port,
           const struct prefix_table *table, const struct selection *s,
           const struct shown *shown)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    ds_put_format(&ds, "%s:\n", port);
    prefix_show_head(table, &ds);
    if (shown->n_shown) {
        ds_put_format(&ds, "  %12s %15s %10s  %s\n", "packets", "bytes",
                      "last hit", "entry");
        ds_put_buffer(&ds, shown->text.string, shown->text.length);
    }
    if (shown->n_shown < shown->n_selected || s->has_prefix) {
        ds_put_format(&ds, "  shown: %"PRIuSIZE" of %"PRIuSIZE" entries",
                      shown->n_shown, shown->n_selected);
        if (shown->n_shown < shown->n_selected) {
            ds_put_cstr(&ds, "; narrow it with PREFIX, or see others with "
                             "from=N and more with limit=N");
        }
        ds_put_char(&ds, '\n');
    }
    appctl_reply(asker, ds_cstr(&ds));
    ds_destroy(&ds);
}

static void
show(struct appctl_asker asker, const char *port,
     const struct prefix_table *table, const struct selection *s)
{
    struct shown shown;

    show_entries(table, s, asker.json, &shown);
    if (asker.json) {
        struct json *object = json_object_create();
        char *text;

        prefix_show_put_head(port, table, object);
        json_put_integer(object, "n_selected", shown.n_selected);
        json_put_integer(object, "n_shown", shown.n_shown);
        json_object_put(object, "entries", json_null_create());
        text = appctl_format_long_json(object, "entries", &shown.text);
        appctl_reply_ready(asker, false, text);
        free(text);
    } else {
        reply_text(asker, port, table, s, &shown);
    }
    ds_destroy(&shown.text);
}

void
prefix_show(struct appctl_asker asker, int argc, const char *argv[])
{
    const struct netdev_afxdp_fast *dev = appctl_find_port(asker, argv[1]);
    struct selection s = { .from = 1, .limit = PREFIX_SHOW_LIMIT };

    if (dev && parse_selection(asker, argc, argv, &s)) {
        show(asker, argv[1], dev->prefixes, &s);
    }
    if (s.has_prefix) {
        prefix_entry_uninit(&s.inside);
    }
}

/* afxdp-fast/prefix-history. */

static void
put_version_text(const struct prefix_version *v, struct ds *ds)
{
    char *when = appctl_format_time(v->when_ms);

    ds_put_format(ds, "  %s %8"PRIuSIZE" %-8s %s%s%s\n", when, v->n,
                  source_to_string(v->source), v->version,
                  v->in_force ? "  (in force)" : "",
                  v->pinned ? " (pinned)" : "");
    free(when);
}

static struct json *
version_to_json(const struct prefix_version *v)
{
    struct json *json = json_object_create();

    json_put_text(json, "version", v->version);
    json_put_text(json, "source", source_to_string(v->source));
    json_put_time(json, "when", v->when_ms);
    json_put_integer(json, "n_entries", v->n);
    json_put_bool(json, "in_force", v->in_force);
    json_put_bool(json, "pinned", v->pinned);
    return json;
}

void
prefix_history(struct appctl_asker asker, int argc OVS_UNUSED,
               const char *argv[])
{
    const struct netdev_afxdp_fast *dev = appctl_find_port(asker, argv[1]);
    struct prefix_version versions[PREFIX_HISTORY];
    size_t n;

    if (!dev) {
        return;
    }
    n = prefix_table_get_history(dev->prefixes, versions);
    if (asker.json) {
        struct json *object = json_object_create();
        struct json *array = json_array_create_empty();

        for (size_t i = 0; i < n; i++) {
            json_array_add(array, version_to_json(&versions[i]));
        }
        json_put_text(object, "port", argv[1]);
        json_object_put(object, "history", array);
        appctl_reply_json(asker, object);
    } else {
        struct ds ds = DS_EMPTY_INITIALIZER;

        ds_put_format(&ds, "%s:\n  %-24s %8s %-8s %s\n", argv[1], "when",
                      "entries", "source", "version");
        for (size_t i = 0; i < n; i++) {
            put_version_text(&versions[i], &ds);
        }
        appctl_reply(asker, ds_cstr(&ds));
        ds_destroy(&ds);
    }
}
