/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_SHOW_H
#define PREFIX_SHOW_H 1

/* What commands show of a prefix table and its entries.
 *
 * Thread rule: main thread, where not said otherwise. */

#include "appctl-command.h"
#include "openvswitch/shash.h"

struct ds;
struct json;
struct prefix_entry;
struct prefix_set;
struct prefix_table;

/* Entries that a command shows if it is not told otherwise, and at most: the
 * main thread stands still while it writes them, some 0.5 s for the most in
 * JSON. */
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

/* Why entries of a set stay on userspace, as it is when the reasons are made:
 * it goes by their target, and to ask means to go through bridges and their
 * ports.  Of a set with more targets than all tables together can have, the
 * others are not asked for, which is reason enough. */
struct prefix_reasons {
    struct shash by_target;         /* "char *"s, NULL: they do not. */
};

void prefix_reasons_init(struct prefix_reasons *, const struct prefix_table *,
                         const struct prefix_set *);

/* Returns why 'entry' of the set stays on userspace though it says otherwise,
 * or NULL.  The text is that of the reasons.  Any thread. */
const char *prefix_reasons_get(const struct prefix_reasons *,
                               const struct prefix_entry *);
void prefix_reasons_uninit(struct prefix_reasons *);

#endif /* prefix-show.h */
