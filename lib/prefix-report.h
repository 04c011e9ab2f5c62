/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_REPORT_H
#define PREFIX_REPORT_H 1

/* What a dry run says.
 *
 * A report is of one moment: when it is made it takes a reference to the set
 * in force, and whatever else is asked of the table, the targets and the
 * bridge.  Comparing and writing, which take seconds for large sets, go by
 * that only; the table may become another one, and the port may go.
 *
 * Thread rule: main thread, but for prefix_report_write(). */

#include <stdbool.h>

#include "appctl-command.h"

struct prefix_report;
struct prefix_set;
struct prefix_table;

/* Makes a report on what 'set', which was read from 'path' and belongs to the
 * report from now on, would change in the table of 'port': at most 'limit'
 * changes in full, and how many there are.  Costs little, however many entries
 * there are. */
struct prefix_report *prefix_report_create(bool json, const char *port,
                                           const struct prefix_table *,
                                           const char *path,
                                           struct prefix_set *set,
                                           unsigned int limit);

/* Compares, and writes the answer.  Once, any thread. */
void prefix_report_write(struct prefix_report *);

/* Answers with what was written.  The answer is an error if a command may not
 * put the set in force; it is the same report all the same. */
void prefix_report_reply(struct appctl_asker, const struct prefix_report *);
void prefix_report_destroy(struct prefix_report *);

#endif /* prefix-report.h */
