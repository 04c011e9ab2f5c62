/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_REPORT_H
#define PREFIX_REPORT_H 1

/* What a dry run says.
 *
 * Thread rule: main thread. */

#include "appctl-command.h"

struct prefix_set;
struct prefix_table;

/* Answers what 'set', which was read from 'path', would change in the table of
 * 'port': at most 'limit' changes in full, and how many there are.  The answer
 * is an error if a command may not put the set in force; it is the same report
 * all the same. */
void prefix_report(struct appctl_asker, const char *port,
                   const struct prefix_table *, const char *path,
                   const struct prefix_set *set, unsigned int limit);

#endif /* prefix-report.h */
