/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-table-private.h"

#include <string.h>

#include "openvswitch/dynamic-string.h"
#include "prefix-generation.h"
#include "smap.h"
#include "util.h"
#include "xdp-targets.h"

static const char *const source_names[] = {
    [PREFIX_NONE] = "none",
    [PREFIX_OPTION] = "options:prefixes",
    [PREFIX_FILE] = "options:prefix-file",
    [PREFIX_COMMAND] = "commands",
};

/* Returns where a table comes from, for people. */
const char *
prefix_source_to_string(enum prefix_source source)
{
    return source_names[source];
}

const struct prefix_set *
prefix_table_get_set(const struct prefix_table *table)
{
    return table->force.set;
}

enum prefix_source
prefix_table_source(const struct prefix_table *table)
{
    return table->force.set ? table->force.source : PREFIX_NONE;
}

bool
prefix_table_is_pinned(const struct prefix_table *table)
{
    return table->pinned_from != NULL;
}

const char *
prefix_table_pin_error(const struct prefix_table *table)
{
    return table->pin_error;
}

const char *
prefix_table_error(const struct prefix_table *table)
{
    return table->error;
}

/* Returns why frames are not forwarded in the program, or NULL. */
static const char *
why_off(const struct prefix_table *table)
{
    return (!table->force.set
            ? (table->request ? "off: the table is being loaded"
               : "off: no table")
            : !table->force.gen ? "off: the program has no table"
            : !table->share ? "off: fast-path-share=0"
            : NULL);
}

static void
add_waiting(const struct prefix_table *table, struct smap *status)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    prefix_targets_format_waiting(&table->force.targets, table->name, &ds);
    if (ds.length) {
        smap_add(status, "prefix-waiting", ds_cstr(&ds));
    }
    ds_destroy(&ds);
}

static void
add_pin(const struct prefix_table *table, struct smap *status)
{
    if (table->pinned_from) {
        smap_add_format(status, "prefix-pinned",
                        "instead of version \"%s\"%s%s", table->pinned_from,
                        table->pin_error ? "; " : "",
                        table->pin_error ? table->pin_error : "");
    }
    if (table->pin_lost) {
        smap_add(status, "prefix-pin-warning", table->pin_lost);
    }
}

void
prefix_table_get_status(const struct prefix_table *table, struct smap *status)
{
    const struct prefix_set *set = table->force.set;
    const char *off = why_off(table);

    smap_add(status, "fast-path", off ? off : "on");
    add_pin(table, status);
    if (!set) {
        return;
    }
    smap_add(status, "prefix-version", set->version);
    smap_add(status, "prefix-source",
             prefix_source_to_string(table->force.source));
    smap_add_format(status, "prefix-entries", "%"PRIuSIZE, set->n);
    smap_add_format(status, "fast-path-share", "%u", table->share);
    if (table->force.gen) {
        smap_add_format(status, "prefix-memory", "%"PRIuSIZE" KB",
                        prefix_generation_size(table->force.gen) >> 10);
    }
    add_waiting(table, status);
    if (xdp_targets_guard_lack()) {
        smap_add_format(status, "fast-path-warning", "a target that stops "
                        "taking frames is noticed late: %s",
                        xdp_targets_guard_lack());
    }
}

void
prefix_table_get_hits(const struct prefix_table *table,
                      struct prefix_hits *hits)
{
    uint32_t now = prefix_force_now();

    for (size_t i = 0; table->force.set && i < table->force.set->n; i++) {
        struct table_counter c;

        prefix_force_read(&table->force, i, &c);
        hits[i].packets = c.packets;
        hits[i].bytes = c.bytes;
        hits[i].last_ms = c.last ? 1000LL * (now - c.last) : -1;
    }
}

size_t
prefix_table_get_history(const struct prefix_table *table,
                         struct prefix_version versions[PREFIX_HISTORY])
{
    const struct prefix_history *history = &table->history;

    for (size_t i = 0; i < history->n; i++) {
        const struct prefix_history_item *item = &history->items[i];
        bool in_force = table->force.set && i == history->current;

        versions[i] = (struct prefix_version) {
            .version = item->version,
            .source = item->source,
            .when_ms = item->when_ms,
            .n = item->n,
            .in_force = in_force,
            .pinned = in_force && table->pinned_from,
        };
    }
    return history->n;
}

char *
prefix_table_explain(const struct prefix_table *table,
                     const struct prefix_entry *entry)
{
    return (entry->action == PREFIX_REDIRECT
            ? prefix_target_explain(entry->target, table->name) : NULL);
}

char *
prefix_table_check_set(const struct prefix_table *table,
                       const struct prefix_set *set)
{
    for (size_t i = 0; i < set->n_firsts; i++) {
        const struct prefix_entry *e = &set->entries[set->firsts[i]];
        char *reason = prefix_target_refuse(e->target, table->name);

        if (reason) {
            char *text = prefix_set_describe(set, e, reason);

            free(reason);
            return text;
        }
    }
    return NULL;
}

const struct prefix_entry *
prefix_table_lookup(const struct prefix_table *table,
                    const struct prefix_query *query)
{
    uint32_t entry;

    if (!table->force.gen) {
        return NULL;
    }
    entry = prefix_blob_lookup(prefix_generation_lines(table->force.gen),
                               query);
    return (entry == TABLE_NO_ENTRY
            ? NULL : &table->force.set->entries[entry]);
}
