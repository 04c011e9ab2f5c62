/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-builder.h"

#include <stdlib.h>

#include "prefix-set.h"
#include "util.h"

/* Lines of notices that are kept. */
#define MAX_NOTICES 20

void
prefix_builder_init(struct prefix_builder *b, const char *source)
{
    *b = (struct prefix_builder) {
        .source = source,
        .notices = DS_EMPTY_INITIALIZER,
    };
}

void
prefix_builder_destroy(struct prefix_builder *b)
{
    for (size_t i = 0; i < b->n; i++) {
        prefix_entry_uninit(&b->entries[i]);
    }
    free(b->entries);
    ds_destroy(&b->notices);
}

void
prefix_builder_put_place(const struct prefix_builder *b, unsigned int line,
                         unsigned int number, struct ds *ds)
{
    ds_put_cstr(ds, b->source);
    if (line) {
        ds_put_format(ds, ":%u", line);
    }
    ds_put_cstr(ds, ": ");
    if (number) {
        ds_put_format(ds, "entry %u: ", number);
    }
}

static void
note_masked(struct prefix_builder *b, const struct prefix_entry *e)
{
    if (b->n_notices++ < MAX_NOTICES) {
        prefix_builder_put_place(b, e->line, e->number, &b->notices);
        ds_put_cstr(&b->notices, "host bits were set and are cleared: ");
        prefix_entry_format_key(e, &b->notices);
        ds_put_char(&b->notices, '\n');
    }
}

char *
prefix_builder_add(struct prefix_builder *b, struct prefix_entry *e,
                   bool masked)
{
    if (b->n == PREFIX_SET_MAX) {
        return xasprintf("too many entries; must be at most %d",
                         PREFIX_SET_MAX);
    } else if (b->n == b->allocated) {
        b->entries = x2nrealloc(b->entries, &b->allocated,
                                sizeof *b->entries);
    }
    if (masked) {
        note_masked(b, e);
    }
    b->entries[b->n++] = *e;
    return NULL;
}

/* Of entries with the same key, the one that came first is the first. */
static int
compare(const void *a_, const void *b_)
{
    const struct prefix_entry *a = a_;
    const struct prefix_entry *b = b_;
    int cmp = prefix_entry_compare(a, b);

    return cmp ? cmp : a->number < b->number ? -1 : a->number > b->number;
}

/* Returns what is wrong with 'later', which has the key of 'first'. */
static char *
describe_conflict(const struct prefix_builder *b,
                  const struct prefix_entry *first,
                  const struct prefix_entry *later)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    prefix_builder_put_place(b, later->line, later->number, &ds);
    prefix_entry_format(later, &ds);
    if (prefix_entry_same_action(first, later)) {
        ds_put_cstr(&ds, " is there already: ");
    } else {
        ds_put_cstr(&ds, " contradicts ");
        prefix_entry_format(first, &ds);
        ds_put_cstr(&ds, ": ");
    }
    if (first->line) {
        ds_put_format(&ds, "line %u, ", first->line);
    }
    ds_put_format(&ds, "entry %u", first->number);
    return ds_steal_cstr(&ds);
}

/* Returns the first conflict in the order of the source, or NULL. */
static char *
find_conflict(const struct prefix_builder *b)
{
    const struct prefix_entry *first = NULL, *later = NULL;

    for (size_t i = 1; i < b->n; i++) {
        const struct prefix_entry *a = &b->entries[i - 1];
        const struct prefix_entry *e = &b->entries[i];

        if (!prefix_entry_compare(a, e)
            && (!later || e->number < later->number)) {
            first = a;
            later = e;
        }
    }
    return later ? describe_conflict(b, first, later) : NULL;
}

char *
prefix_builder_finish(struct prefix_builder *b, const char *version,
                      struct prefix_set **setp)
{
    struct prefix_set *set;
    char *error;

    if (b->n) {
        qsort(b->entries, b->n, sizeof *b->entries, compare);
    }
    error = find_conflict(b);
    if (error) {
        prefix_builder_destroy(b);
        return error;
    }
    if (b->n_notices > MAX_NOTICES) {
        ds_put_format(&b->notices, "... and %"PRIuSIZE" more like these\n",
                      b->n_notices - MAX_NOTICES);
    }
    set = xzalloc(sizeof *set);
    ovs_refcount_init(&set->ref);
    set->version = xstrdup(version);
    set->source = xstrdup(b->source);
    set->entries = xrealloc(b->entries, MAX(b->n, 1) * sizeof *b->entries);
    set->n = b->n;
    set->notices = b->n_notices ? ds_steal_cstr(&b->notices) : NULL;
    ds_destroy(&b->notices);
    prefix_set_find_targets(set);
    *setp = set;
    return NULL;
}
