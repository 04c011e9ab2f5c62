/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_SHOW_H
#define PREFIX_SHOW_H 1

/* What commands show of a prefix table and its entries.
 *
 * Thread rule: main thread, all of it. */

#include "appctl-command.h"

struct ds;
struct json;
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

#endif /* prefix-show.h */
