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

struct prefix_report {
    bool json;
    char *port;
    char *path;
    struct prefix_set *set;         /* Both: until it is written. */
    struct prefix_set *live;        /* In force when it was made, or NULL. */
    unsigned int limit;

    struct json *head;              /* Of the table then, in JSON, */
    struct ds head_text;            /* or in text. */
    struct prefix_reasons reasons;
    struct svec warnings;
    struct svec notices;
    struct shash stays;             /* "struct stay"s, by reason. */
    size_t n_stays;                 /* Entries in all of them. */
    char *refused;                  /* Or NULL. */
    size_t n_added, n_removed, n_changed;
    struct ds changes;              /* Lines, or elements of an array. */

    char *text;                     /* The answer, once it is written. */
};

/* What is so when the report is made. */

static void
add_warning(struct prefix_report *r, const char *bridge, bool is_there,
            const char *what)
{
    if (is_there) {
        svec_add_nocopy(&r->warnings, xasprintf(
            "bridge %s has %s: traffic that entries redirect, drop or hand "
            "to the host is not seen there", bridge, what));
    }
}

static void
gather_warnings(struct prefix_report *r)
{
    struct bridge_info info;

    bridge_info_of_port(r->port, &info);
    add_warning(r, info.name, info.mirrors, "mirrors");
    add_warning(r, info.name, info.sflow, "sFlow");
    add_warning(r, info.name, info.ipfix, "IPFIX");
    add_warning(r, info.name, info.netflow, "NetFlow");
    bridge_info_uninit(&info);
}

struct prefix_report *
prefix_report_create(bool json, const char *port,
                     const struct prefix_table *table, const char *path,
                     struct prefix_set *set, unsigned int limit)
{
    struct prefix_report *r = xzalloc(sizeof *r);

    r->json = json;
    r->port = xstrdup(port);
    r->path = xstrdup(path);
    r->set = set;
    r->live = prefix_set_ref(prefix_table_get_set(table));
    r->limit = limit;
    svec_init(&r->warnings);
    svec_init(&r->notices);
    shash_init(&r->stays);
    ds_init(&r->changes);
    ds_init(&r->head_text);
    if (json) {
        r->head = json_object_create();
        prefix_show_put_head(port, table, r->head);
    } else {
        prefix_show_head(table, &r->head_text);
    }
    gather_warnings(r);
    prefix_reasons_init(&r->reasons, table, set);
    r->refused = prefix_table_check_set(table, set);
    if (!r->refused) {
        r->refused = prefix_table_check_version(table, set);
    }
    return r;
}

void
prefix_report_destroy(struct prefix_report *r)
{
    struct shash_node *node;

    SHASH_FOR_EACH (node, &r->stays) {
        struct stay *stay = node->data;

        svec_destroy(&stay->examples);
    }
    shash_destroy_free_data(&r->stays);
    prefix_reasons_uninit(&r->reasons);
    svec_destroy(&r->warnings);
    svec_destroy(&r->notices);
    ds_destroy(&r->changes);
    ds_destroy(&r->head_text);
    json_destroy(r->head);
    prefix_set_unref_aside(r->set);
    prefix_set_unref_aside(r->live);
    free(r->refused);
    free(r->port);
    free(r->path);
    free(r->text);
    free(r);
}

/* Comparing. */

static void
gather_notices(struct prefix_report *r)
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
add_stay(struct prefix_report *r, const struct prefix_entry *entry,
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
gather_stays(struct prefix_report *r)
{
    for (size_t i = 0; i < r->set->n; i++) {
        const struct prefix_entry *entry = &r->set->entries[i];
        const char *reason = prefix_reasons_get(&r->reasons, entry);

        if (reason) {
            add_stay(r, entry, reason);
        }
    }
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
    struct prefix_report *r = r_;

    if (r->n_added + r->n_removed + r->n_changed < r->limit) {
        (r->json ? put_change_json : put_change_text)(old, new, &r->changes);
    }
    *(!old ? &r->n_added : !new ? &r->n_removed : &r->n_changed) += 1;
}

/* Nobody could tell the two apart in history and status. */
static void
warn_of_version(struct prefix_report *r)
{
    if (r->live && !strcmp(r->live->version, r->set->version)
        && r->n_added + r->n_removed + r->n_changed) {
        svec_add_nocopy(&r->warnings, xasprintf(
            "version \"%s\" is in force with other entries: change the "
            "version string with the file", r->live->version));
    }
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
put_stays(const struct prefix_report *r, struct ds *ds)
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

static char *
format_text(struct prefix_report *r)
{
    size_t n = r->n_added + r->n_removed + r->n_changed;
    struct ds ds = DS_EMPTY_INITIALIZER;

    ds_put_format(&ds, "%s:\n  version: %s\n  entries: %"PRIuSIZE"\n",
                  r->path, r->set->version, r->set->n);
    put_lines(&ds, "notice", &r->notices);
    put_lines(&ds, "warning", &r->warnings);
    put_stays(r, &ds);
    ds_put_format(&ds, "%s:\n", r->port);
    ds_put_buffer(&ds, r->head_text.string, r->head_text.length);
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
    }
    return ds_steal_cstr(&ds);
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
stays_to_json(const struct prefix_report *r)
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

static char *
format_json(struct prefix_report *r)
{
    struct json *object = json_object_create();
    struct json *file = json_object_create();

    json_put_text(file, "name", r->path);
    json_put_text(file, "version", r->set->version);
    json_put_integer(file, "n_entries", r->set->n);
    json_object_put(object, "file", file);
    json_object_put(object, "live", r->head);
    r->head = NULL;
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
    return appctl_format_long_json(object, "changes", &r->changes);
}

void
prefix_report_write(struct prefix_report *r)
{
    gather_notices(r);
    gather_stays(r);
    prefix_set_diff(r->live, r->set, gather_change, r);
    warn_of_version(r);
    r->text = (r->json ? format_json : format_text)(r);
    prefix_set_unref(r->set);
    prefix_set_unref(r->live);
    r->set = r->live = NULL;
    ds_destroy(&r->changes);
    ds_init(&r->changes);
}

void
prefix_report_reply(struct appctl_asker asker, const struct prefix_report *r)
{
    appctl_reply_ready(asker, r->refused != NULL, r->text);
}
