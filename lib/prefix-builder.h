/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_BUILDER_H
#define PREFIX_BUILDER_H 1

/* Makes a set from entries in any order.  For prefix-set.c and prefix-file.c.
 *
 * Thread rule: any thread, each with its own builder. */

#include <stdbool.h>
#include <stddef.h>

#include "openvswitch/dynamic-string.h"
#include "prefix-entry.h"

struct prefix_set;

struct prefix_builder {
    const char *source;             /* File or option, for messages. */
    struct prefix_entry *entries;
    size_t n, allocated;
    struct ds notices;
    size_t n_notices;
};

void prefix_builder_init(struct prefix_builder *, const char *source);

/* Appends "SOURCE:LINE: entry N: ", or without LINE if that is 0, or without
 * entry if 'number' is 0. */
void prefix_builder_put_place(const struct prefix_builder *, unsigned int line,
                              unsigned int number, struct ds *);

/* Adds '*entry', whose strings belong to the builder from now on.  Returns
 * NULL, or what is wrong (without the place), for the caller to free; the
 * entry is then the caller's still. */
char *prefix_builder_add(struct prefix_builder *, struct prefix_entry *entry,
                         bool masked);

/* End the builder.  _finish() sorts, looks for duplicates and contradictions,
 * and makes a set of 'version'.  Returns NULL, or what is wrong, for the
 * caller to free. */
char *prefix_builder_finish(struct prefix_builder *, const char *version,
                            struct prefix_set **setp);
void prefix_builder_destroy(struct prefix_builder *);

#endif /* prefix-builder.h */
