/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_SET_H
#define PREFIX_SET_H 1

/* All entries of one version of a prefix table, as read from an option or a
 * file: sorted, without contradictions, nothing of the kernel in it.
 *
 * Thread rule: any thread.  A set does not change once it is made; it is
 * reference-counted, the count atomic. */

#include <stdbool.h>
#include <stddef.h>

#include "ovs-atomic.h"
#include "prefix-entry.h"

struct prefix_set {
    struct ovs_refcount ref;
    char *version;                  /* Of the file; of an option, a text that
                                     * follows from its value. */
    char *source;                   /* As messages name it, the file or the
                                     * option; NULL: a command. */
    struct prefix_entry *entries;   /* In the order of prefix_entry_compare(),
                                     * all keys different. */
    size_t n;
    size_t *firsts;                 /* Of each port that entries redirect to,
                                     * the index of the first of them, in
                                     * order: what goes by the target need not
                                     * go through all entries. */
    size_t n_firsts;
    char *notices;                  /* Lines: host bits that were masked, and
                                     * the like; or NULL.  At most 20, and how
                                     * many more. */
};

/* Largest table, a million and some: entries have a line of 64 bytes. */
#define PREFIX_SET_MAX (1 << 21)

/* From options:prefixes, entries apart by blanks, commas inside entries only.
 * An empty option is an empty set.  From a file's text: 'name' is for
 * messages, 'text' need not end with a 0.
 * Return NULL and the set in '*setp', or what is wrong, for the caller to
 * free: "NAME:LINE: entry N: ..." for a file, "prefixes: entry N: ..." for the
 * option.  A duplicate or a contradiction names both places. */
char *prefix_set_from_option(const char *option, struct prefix_set **setp);
char *prefix_set_from_text(const char *name, const char *text, size_t len,
                           struct prefix_set **setp);
char *prefix_set_from_file(const char *path, struct prefix_set **setp);

/* A copy of 'set', which may be NULL, with one entry more, or with the one
 * that has the key of 'entry' gone.  Its version is "command-" and a number
 * that follows from the version before and the change.  Return NULL and the
 * set in '*setp', or what is wrong, for the caller to free: the entry is there
 * already, contradicts one that is there, or is not there. */
char *prefix_set_with(const struct prefix_set *set,
                      const struct prefix_entry *entry,
                      struct prefix_set **setp);
char *prefix_set_without(const struct prefix_set *set,
                         const struct prefix_entry *entry,
                         struct prefix_set **setp);

/* For those who make sets: fills in 'firsts'. */
void prefix_set_find_targets(struct prefix_set *);

struct prefix_set *prefix_set_ref(const struct prefix_set *);
void prefix_set_unref(struct prefix_set *);

/* Likewise, but a large set is freed by a thread: for those who must not stand
 * still, as it takes some tenths of a second for a million entries. */
void prefix_set_unref_aside(struct prefix_set *);

/* Returns the message that 'wrong' is so with 'entry' of 'set', with its place
 * as above; the caller frees it. */
char *prefix_set_describe(const struct prefix_set *set,
                          const struct prefix_entry *entry,
                          const char *wrong);

/* Returns the entry with the key of 'entry', or NULL.  'set' may be NULL. */
const struct prefix_entry *prefix_set_find(const struct prefix_set *,
                                           const struct prefix_entry *entry);

/* Calls 'cb' for each entry that is in one of both only or whose action
 * differs, in order: 'old' or 'new' is NULL where it is not there.  Either set
 * may be NULL. */
void prefix_set_diff(const struct prefix_set *old,
                     const struct prefix_set *new,
                     void (*cb)(const struct prefix_entry *old,
                                const struct prefix_entry *new, void *aux),
                     void *aux);

/* The whole set as a file that prefix_set_from_text() reads; the caller frees
 * it. */
char *prefix_set_to_text(const struct prefix_set *);

#endif /* prefix-set.h */
