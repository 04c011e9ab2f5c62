/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_SHOW_H
#define PREFIX_SHOW_H 1

/* What commands show of a prefix table and its entries.
 *
 * Thread rule: main thread, all of it. */

#include "appctl-command.h"
#include "openvswitch/shash.h"

struct ds;
struct json;
struct prefix_entry;
struct prefix_table;

/* Entries that a command shows if it is not told otherwise, and at most: the
 * main thread stands still while it writes them, 3 s for the most in JSON. */
#define PREFIX_SHOW_LIMIT 10000
#define PREFIX_SHOW_MAX 100000

/* Arguments of the commands, and the answers to them. */
appctl_command_func prefix_show;
appctl_command_func prefix_history;

/* What is in force on port 'port': as "  NAME: VALUE" lines, or as members of
 * an object. */
void prefix_show_head(const struct prefix_table *, struct ds *);
void prefix_show_put_head(const char *port, const struct prefix_table *,
                          struct json *object);

/* Why entries stay on userspace, for many of them: it goes by their target,
 * and to ask means to go through bridges and their ports. */
struct prefix_reasons {
    const struct prefix_table *table;
    struct shash by_target;         /* "char *"s, NULL: they do not. */
    const char *last_target;        /* Sets share the names. */
    const char *last;
};

void prefix_reasons_init(struct prefix_reasons *, const struct prefix_table *);
void prefix_reasons_uninit(struct prefix_reasons *);

/* Returns why 'entry' stays on userspace though it says otherwise, or NULL.
 * The text is that of the reasons. */
const char *prefix_reasons_get(struct prefix_reasons *,
                               const struct prefix_entry *);

#endif /* prefix-show.h */
