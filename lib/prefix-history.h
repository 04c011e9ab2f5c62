/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_HISTORY_H
#define PREFIX_HISTORY_H 1

/* The versions that a prefix table has had, and the pin that a roll-back
 * leaves.  Main thread. */

#include "prefix-table.h"

struct prefix_history_item {
    struct prefix_set *set;     /* NULL: let go, to save memory. */
    char *version;
    enum prefix_source source;
    long long int when_ms;
    size_t n;
};

struct prefix_history {
    struct prefix_history_item items[PREFIX_HISTORY];   /* Newest first. */
    size_t n;
    size_t current;             /* Index of the one in force; n: none. */
};

void prefix_history_init(struct prefix_history *);
void prefix_history_uninit(struct prefix_history *);
void prefix_history_push(struct prefix_history *, struct prefix_set *,
                         enum prefix_source);
const struct prefix_history_item *prefix_history_before(
    const struct prefix_history *);

/* The pin of a port, in a file of the state folder, so that it survives a
 * restart: the version string that was rolled back from, and the table that is
 * in force instead. */
char *prefix_pin_write(const char *port, const char *from,
                       const struct prefix_set *);
char *prefix_pin_commit(const char *port);
void prefix_pin_discard(const char *port);
char *prefix_pin_table_path(const char *port);
struct prefix_set *prefix_pin_load(const char *port, const char *version,
                                   char **fromp);
char *prefix_pin_explain_lost(const char *port);
void prefix_pin_remove(const char *port);

#endif /* prefix-history.h */
