/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-set.h"

#include <stdlib.h>
#include <string.h>

#include "openvswitch/dynamic-string.h"
#include "openvswitch/json.h"
#include "openvswitch/shash.h"
#include "ovs-rcu.h"
#include "ovs-thread.h"
#include "prefix-builder.h"
#include "util.h"

/* What separates entries in the option. */
#define BLANKS " \t\r\n"

/* What is freed at once: it takes about a millisecond. */
#define SMALL_SET 4096

/* FNV-1a, 32 bits: versions are written to disk, so they may not depend on the
 * CPU that OVS was built for, as OVS's own hashes do. */
#define FNV_BASIS 0x811c9dc5
#define FNV_PRIME 0x01000193

static uint32_t
fnv1a(uint32_t hash, const char *s)
{
    for (; *s; s++) {
        hash = (hash ^ (unsigned char) *s) * FNV_PRIME;
    }
    return hash;
}

/* Making sets. */

static char *
add_from_option(struct prefix_builder *b, const char *word)
{
    struct prefix_entry e;
    bool masked;
    char *error = prefix_entry_parse(word, &e, &masked);

    if (!error) {
        e.number = b->n + 1;
        error = prefix_builder_add(b, &e, masked);
        if (error) {
            prefix_entry_uninit(&e);
        }
    }
    return error;
}

char *
prefix_set_from_option(const char *option, struct prefix_set **setp)
{
    char *copy = xstrdup(option);
    struct prefix_builder b;
    char *save = NULL;
    char *error = NULL;
    char *version;

    prefix_builder_init(&b, "prefixes");
    for (char *word = strtok_r(copy, BLANKS, &save); word && !error;
         word = strtok_r(NULL, BLANKS, &save)) {
        error = add_from_option(&b, word);
    }
    free(copy);
    if (error) {
        struct ds ds = DS_EMPTY_INITIALIZER;

        prefix_builder_put_place(&b, 0, b.n + 1, &ds);
        ds_put_cstr(&ds, error);
        free(error);
        prefix_builder_destroy(&b);
        return ds_steal_cstr(&ds);
    }
    version = xasprintf("option-%08x", fnv1a(FNV_BASIS, option));
    error = prefix_builder_finish(&b, version, setp);
    free(version);
    return error;
}

/* Returns the version of 'set', which may be NULL, with 'entry' and a 'sign'
 * of what is done with it. */
static char *
changed_version(const struct prefix_set *set, const char *sign,
                const struct prefix_entry *entry)
{
    struct ds ds = DS_EMPTY_INITIALIZER;
    char *version;

    ds_put_format(&ds, "%s%s", set ? set->version : "", sign);
    prefix_entry_format(entry, &ds);
    version = xasprintf("command-%08x", fnv1a(FNV_BASIS, ds_cstr(&ds)));
    ds_destroy(&ds);
    return version;
}

/* Returns the index of the first entry that does not come before 'entry',
 * and in '*found' whether it has the same key. */
static size_t
lower_bound(const struct prefix_set *set, const struct prefix_entry *entry,
            bool *found)
{
    size_t low = 0;
    size_t high = set ? set->n : 0;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (prefix_entry_compare(&set->entries[mid], entry) < 0) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    *found = (set && low < set->n
              && !prefix_entry_compare(&set->entries[low], entry));
    return low;
}

/* Returns a set with room for 'n' entries, without any, that takes over
 * 'version'. */
static struct prefix_set *
set_create(char *version, size_t n)
{
    struct prefix_set *set = xzalloc(sizeof *set);

    ovs_refcount_init(&set->ref);
    set->version = version;
    set->entries = xmalloc(MAX(n, 1) * sizeof *set->entries);
    return set;
}

/* Appends copies of 'n' entries. */
static void
set_append(struct prefix_set *set, const struct prefix_entry *entries,
           size_t n)
{
    for (size_t i = 0; i < n; i++) {
        prefix_entry_clone(&set->entries[set->n++], &entries[i]);
    }
}

void
prefix_set_find_targets(struct prefix_set *set)
{
    struct shash names = SHASH_INITIALIZER(&names);
    const char *last = NULL;
    size_t allocated = 0;

    for (size_t i = 0; i < set->n; i++) {
        const char *target = set->entries[i].target;

        /* Most often it is the one before. */
        if (!target || (last && !strcmp(target, last))) {
            continue;
        }
        last = target;
        if (shash_add_once(&names, target, NULL)) {
            if (set->n_firsts == allocated) {
                set->firsts = x2nrealloc(set->firsts, &allocated,
                                         sizeof *set->firsts);
            }
            set->firsts[set->n_firsts++] = i;
        }
    }
    shash_destroy(&names);
}

char *
prefix_set_describe(const struct prefix_set *set,
                    const struct prefix_entry *entry, const char *wrong)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    if (set->source) {
        ds_put_cstr(&ds, set->source);
        if (entry->line) {
            ds_put_format(&ds, ":%"PRIu32, entry->line);
        }
        ds_put_cstr(&ds, ": ");
    }
    ds_put_format(&ds, "entry %"PRIu32": %s", entry->number, wrong);
    return ds_steal_cstr(&ds);
}

/* Returns an error that says of an entry, or its key only, what is wrong. */
static char *
describe(const struct prefix_entry *entry, bool key_only, const char *wrong)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    if (key_only) {
        prefix_entry_format_key(entry, &ds);
    } else {
        prefix_entry_format(entry, &ds);
    }
    ds_put_format(&ds, ": %s", wrong);
    return ds_steal_cstr(&ds);
}

static char *
describe_present(const struct prefix_entry *old,
                 const struct prefix_entry *entry)
{
    struct ds ds = DS_EMPTY_INITIALIZER;
    char *error;

    if (prefix_entry_same_action(old, entry)) {
        return describe(entry, false, "is there already");
    }
    ds_put_cstr(&ds, "contradicts ");
    prefix_entry_format(old, &ds);
    ds_put_cstr(&ds, ", which must be deleted first");
    error = describe(entry, false, ds_cstr(&ds));
    ds_destroy(&ds);
    return error;
}

char *
prefix_set_with(const struct prefix_set *old, const struct prefix_entry *entry,
                struct prefix_set **setp)
{
    size_t n = old ? old->n : 0;
    struct prefix_set *set;
    bool found;
    size_t i = lower_bound(old, entry, &found);

    if (found) {
        return describe_present(&old->entries[i], entry);
    } else if (n >= PREFIX_SET_MAX) {
        return xasprintf("too many entries; must be at most %d",
                         PREFIX_SET_MAX);
    }
    set = set_create(changed_version(old, "+", entry), n + 1);
    if (i) {
        set_append(set, old->entries, i);
    }
    set_append(set, entry, 1);
    if (i < n) {
        set_append(set, &old->entries[i], n - i);
    }
    set->entries[i].number = n + 1;
    set->entries[i].line = 0;
    prefix_set_find_targets(set);
    *setp = set;
    return NULL;
}

char *
prefix_set_without(const struct prefix_set *old,
                   const struct prefix_entry *entry, struct prefix_set **setp)
{
    struct prefix_set *set;
    bool found;
    size_t i = lower_bound(old, entry, &found);

    if (!found) {
        return describe(entry, true, "no such entry");
    }
    set = set_create(changed_version(old, "-", &old->entries[i]), old->n - 1);
    set_append(set, old->entries, i);
    set_append(set, &old->entries[i + 1], old->n - i - 1);
    prefix_set_find_targets(set);
    *setp = set;
    return NULL;
}

struct prefix_set *
prefix_set_ref(const struct prefix_set *set_)
{
    struct prefix_set *set = CONST_CAST(struct prefix_set *, set_);

    if (set) {
        ovs_refcount_ref(&set->ref);
    }
    return set;
}

void
prefix_set_unref(struct prefix_set *set)
{
    if (set && ovs_refcount_unref(&set->ref) == 1) {
        for (size_t i = 0; i < set->n; i++) {
            prefix_entry_uninit(&set->entries[i]);
        }
        free(set->entries);
        free(set->firsts);
        free(set->version);
        free(set->source);
        free(set->notices);
        free(set);
    }
}

static void *
unref_main(void *set)
{
    ovsrcu_quiesce_start();
    prefix_set_unref(set);
    return NULL;
}

/* Others may let go of it at the same time: then one of the two frees it. */
void
prefix_set_unref_aside(struct prefix_set *set)
{
    if (set && set->n > SMALL_SET && ovs_refcount_read(&set->ref) == 1) {
        pthread_detach(ovs_thread_create("prefix_free", unref_main, set));
    } else {
        prefix_set_unref(set);
    }
}

/* Using sets. */

const struct prefix_entry *
prefix_set_find(const struct prefix_set *set, const struct prefix_entry *entry)
{
    bool found;
    size_t i = lower_bound(set, entry, &found);

    return found ? &set->entries[i] : NULL;
}

void
prefix_set_diff(const struct prefix_set *old, const struct prefix_set *new,
                void (*cb)(const struct prefix_entry *old,
                           const struct prefix_entry *new, void *aux),
                void *aux)
{
    size_t n_old = old ? old->n : 0;
    size_t n_new = new ? new->n : 0;

    for (size_t i = 0, j = 0; i < n_old || j < n_new; ) {
        const struct prefix_entry *a = i < n_old ? &old->entries[i] : NULL;
        const struct prefix_entry *b = j < n_new ? &new->entries[j] : NULL;
        int cmp = !a ? 1 : !b ? -1 : prefix_entry_compare(a, b);

        if (cmp < 0) {
            cb(a, NULL, aux);
            i++;
        } else if (cmp > 0) {
            cb(NULL, b, aux);
            j++;
        } else {
            if (!prefix_entry_same_action(a, b)) {
                cb(a, b, aux);
            }
            i++;
            j++;
        }
    }
}

char *
prefix_set_to_text(const struct prefix_set *set)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    ds_put_cstr(&ds, "{\"version\": ");
    json_string_escape(set->version, &ds);
    ds_put_cstr(&ds, ",\n \"entries\": [");
    for (size_t i = 0; i < set->n; i++) {
        struct json *json = prefix_entry_to_json(&set->entries[i]);

        ds_put_cstr(&ds, i ? ",\n  " : "\n  ");
        json_to_ds(json, JSSF_SORT, &ds);
        json_destroy(json);
    }
    ds_put_cstr(&ds, set->n ? "\n ]}\n" : "]}\n");
    return ds_steal_cstr(&ds);
}
