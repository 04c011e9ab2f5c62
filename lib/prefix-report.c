/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-report.h"

#include <string.h>

#include "bridge-info.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/json.h"
#include "openvswitch/shash.h"
#include "prefix-show.h"
#include "prefix-table.h"
#include "svec.h"
#include "util.h"

/* Entries that are named as examples of a reason to stay on userspace. */
#define N_EXAMPLES 5

/* Entries that stay on userspace for one reason. */
struct stay {
    size_t n;
    struct svec examples;
};

struct report {
    bool json;
    const char *port;
    const char *path;
    const struct prefix_table *table;
    const struct prefix_set *set;
    unsigned int limit;

    struct svec warnings;
    struct svec notices;
    struct shash stays;             /* "struct stay"s, by reason. */
    size_t n_stays;                 /* Entries in all of them. */
    char *refused;                  /* Or NULL. */
    size_t n_added, n_removed, n_changed;
    struct ds changes;              /* Lines, or elements of an array. */
};

/* Gathering. */

static void
add_warning(struct report *r, const char *bridge, bool is_there,
            const char *what)
{
    if (is_there) {
        svec_add_nocopy(&r->warnings, xasprintf(
            "bridge %s has %s: traffic that entries redirect, drop or hand "
            "to the host is not seen there", bridge, what));
    }
}

static void
gather_warnings(struct report *r)
{
    struct bridge_info info;

    bridge_info_of_port(r->port, &info);
    add_warning(r, info.name, info.mirrors, "mirrors");
    add_warning(r, info.name, info.sflow, "sFlow");
    add_warning(r, info.name, info.ipfix, "IPFIX");
    add_warning(r, info.name, info.netflow, "NetFlow");
    bridge_info_uninit(&info);
}

static void
gather_notices(struct report *r)
{
    if (r->set->notices) {
        char *copy = xstrdup(r->set->notices);
        char *save = NULL;

        for (char *line = strtok_r(copy, "\n", &save); line;
             line = strtok_r(NULL, "\n", &save)) {
            svec_add(&r->notices, line);
        }
        free(copy);
    }
}

static void
add_stay(struct report *r, const struct prefix_entry *entry,
         const char *reason)
{
    struct stay *stay = shash_find_data(&r->stays, reason);

    if (!stay) {
        stay = xzalloc(sizeof *stay);
        svec_init(&stay->examples);
        shash_add(&r->stays, reason, stay);
    }
    if (stay->n++ < N_EXAMPLES) {
        struct ds ds = DS_EMPTY_INITIALIZER;

        prefix_entry_format(entry, &ds);
        svec_add_nocopy(&stay->examples, ds_steal_cstr(&ds));
    }
    r->n_stays++;
}

static void
gather_stays(struct report *r)
{
    struct prefix_reasons reasons;

    prefix_reasons_init(&reasons, r->table);
    for (size_t i = 0; i < r->set->n; i++) {
        const struct prefix_entry *entry = &r->set->entries[i];
        const char *reason = prefix_reasons_get(&reasons, entry);

        if (reason) {
            add_stay(r, entry, reason);
        }
    }
    prefix_reasons_uninit(&reasons);
}

static void
put_change_text(const struct prefix_entry *old,
                const struct prefix_entry *new, struct ds *ds)
{
    if (old) {
        ds_put_cstr(ds, "  - ");
        prefix_entry_format(old, ds);
        ds_put_char(ds, '\n');
    }
    if (new) {
        ds_put_cstr(ds, "  + ");
        prefix_entry_format(new, ds);
        ds_put_char(ds, '\n');
    }
}

static void
put_change_json(const struct prefix_entry *old,
                const struct prefix_entry *new, struct ds *ds)
{
    struct json *json = json_object_create();

    json_put_text(json, "change", (!old ? "add" : !new ? "remove"
                                   : "change"));
    if (old) {
        json_object_put(json, "old", prefix_entry_to_json(old));
    }
    if (new) {
        json_object_put(json, "new", prefix_entry_to_json(new));
    }
    appctl_put_element(ds, json);
}

static void
gather_change(const struct prefix_entry *old, const struct prefix_entry *new,
              void *r_)
{
    struct report *r = r_;

    if (r->n_added + r->n_removed + r->n_changed < r->limit) {
        (r->json ? put_change_json : put_change_text)(old, new, &r->changes);
    }
    *(!old ? &r->n_added : !new ? &r->n_removed : &r->n_changed) += 1;
}

/* Nobody could tell the two apart in history and status. */
static void
warn_of_version(struct report *r)
{
    const struct prefix_set *live = prefix_table_get_set(r->table);

    if (live && !strcmp(live->version, r->set->version)
        && r->n_added + r->n_removed + r->n_changed) {
        svec_add_nocopy(&r->warnings, xasprintf(
            "version \"%s\" is in force with other entries: change the "
            "version string with the file", live->version));
    }
}

static void
report_init(struct report *r)
{
    svec_init(&r->warnings);
    svec_init(&r->notices);
    shash_init(&r->stays);
    ds_init(&r->changes);
    gather_warnings(r);
    gather_notices(r);
    gather_stays(r);
    r->refused = prefix_table_check_set(r->table, r->set);
    if (!r->refused) {
        r->refused = prefix_table_check_version(r->table, r->set);
    }
    prefix_set_diff(prefix_table_get_set(r->table), r->set, gather_change,
                    r);
    warn_of_version(r);
}

static void
report_uninit(struct report *r)
{
    struct shash_node *node;

    SHASH_FOR_EACH (node, &r->stays) {
        struct stay *stay = node->data;

        svec_destroy(&stay->examples);
    }
    shash_destroy_free_data(&r->stays);
    svec_destroy(&r->warnings);
    svec_destroy(&r->notices);
    ds_destroy(&r->changes);
    free(r->refused);
}

/* In text. */

static void
put_lines(struct ds *ds, const char *heading, const struct svec *lines)
{
    const char *line;
    size_t i;

    SVEC_FOR_EACH (i, line, lines) {
        ds_put_format(ds, "  %s: %s\n", heading, line);
    }
}

static void
put_stays(const struct report *r, struct ds *ds)
{
    const struct shash_node **nodes = shash_sort(&r->stays);

    for (size_t i = 0; i < shash_count(&r->stays); i++) {
        const struct stay *stay = nodes[i]->data;
        const char *example;
        size_t j;

        ds_put_format(ds, "  stay on userspace: %"PRIuSIZE" of %"PRIuSIZE
                      " entries: %s\n", stay->n, r->set->n, nodes[i]->name);
        SVEC_FOR_EACH (j, example, &stay->examples) {
            ds_put_format(ds, "    %s\n", example);
        }
        if (stay->n > stay->examples.n) {
            ds_put_format(ds, "    and %"PRIuSIZE" more\n",
                          stay->n - stay->examples.n);
        }
    }
    free(nodes);
}

static void
reply_text(struct appctl_asker asker, const struct report *r)
{
    size_t n = r->n_added + r->n_removed + r->n_changed;
    struct ds ds = DS_EMPTY_INITIALIZER;

    ds_put_format(&ds, "%s:\n  version: %s\n  entries: %"PRIuSIZE"\n",
                  r->path, r->set->version, r->set->n);
    put_lines(&ds, "notice", &r->notices);
    put_lines(&ds, "warning", &r->warnings);
    put_stays(r, &ds);
    ds_put_format(&ds, "%s:\n", r->port);
    prefix_show_head(r->table, &ds);
    ds_put_format(&ds, "  would be added: %"PRIuSIZE", removed: %"PRIuSIZE
                  ", changed: %"PRIuSIZE"\n", r->n_added, r->n_removed,
                  r->n_changed);
    if (r->changes.length) {
        ds_put_buffer(&ds, r->changes.string, r->changes.length);
    }
    if (n > r->limit) {
        ds_put_format(&ds, "  and %"PRIuSIZE" more; see more of them with "
                      "limit=N\n", n - r->limit);
    }
    if (r->refused) {
        ds_put_format(&ds, "refused: %s\n", r->refused);
        appctl_reply_error(asker, ds_cstr(&ds));
    } else {
        appctl_reply(asker, ds_cstr(&ds));
    }
    ds_destroy(&ds);
}

/* In JSON. */

static struct json *
svec_to_json(const struct svec *lines)
{
    struct json *array = json_array_create_empty();
    const char *line;
    size_t i;

    SVEC_FOR_EACH (i, line, lines) {
        json_array_add(array, json_string_create(line));
    }
    return array;
}

static struct json *
stays_to_json(const struct report *r)
{
    const struct shash_node **nodes = shash_sort(&r->stays);
    struct json *array = json_array_create_empty();

    for (size_t i = 0; i < shash_count(&r->stays); i++) {
        const struct stay *stay = nodes[i]->data;
        struct json *json = json_object_create();

        json_put_text(json, "reason", nodes[i]->name);
        json_put_integer(json, "n_entries", stay->n);
        json_object_put(json, "examples", svec_to_json(&stay->examples));
        json_array_add(array, json);
    }
    free(nodes);
    return array;
}

static void
reply_json(struct appctl_asker asker, const struct report *r)
{
    struct json *object = json_object_create();
    struct json *live = json_object_create();
    struct json *file = json_object_create();

    json_put_text(file, "name", r->path);
    json_put_text(file, "version", r->set->version);
    json_put_integer(file, "n_entries", r->set->n);
    json_object_put(object, "file", file);
    prefix_show_put_head(r->port, r->table, live);
    json_object_put(object, "live", live);
    json_object_put(object, "notices", svec_to_json(&r->notices));
    json_object_put(object, "warnings", svec_to_json(&r->warnings));
    json_object_put(object, "stay_on_userspace", stays_to_json(r));
    json_put_integer(object, "n_stay_on_userspace", r->n_stays);
    json_put_integer(object, "n_added", r->n_added);
    json_put_integer(object, "n_removed", r->n_removed);
    json_put_integer(object, "n_changed", r->n_changed);
    json_object_put(object, "changes", json_null_create());
    if (r->refused) {
        json_put_text(object, "error", r->refused);
    }
    appctl_reply_long_json(asker, r->refused != NULL, object, "changes",
                           &r->changes);
}

void
prefix_report(struct appctl_asker asker, const char *port,
              const struct prefix_table *table, const char *path,
              const struct prefix_set *set, unsigned int limit)
{
    struct report r = {
        .json = asker.json,
        .port = port,
        .path = path,
        .table = table,
        .set = set,
        .limit = limit,
    };

    report_init(&r);
    (asker.json ? reply_json : reply_text)(asker, &r);
    report_uninit(&r);
}
