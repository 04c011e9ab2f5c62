/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-table-private.h"

#include <string.h>

#include "openvswitch/vlog.h"
#include "prefix-job.h"
#include "util.h"

VLOG_DEFINE_THIS_MODULE(prefix_table_pin);

/* Lets go of a pin that was read but whose table has not come into force,
 * whatever has kept it from that: it is to be read again, or the version that
 * was rolled back would be next. */
void
prefix_table_forget_pin(struct prefix_table *table)
{
    if (!table->force.set) {
        free(table->pinned_from);
        table->pinned_from = NULL;
        table->pin_loaded = false;
    }
}

/* Ends the pin, if there is one, and forgets one that cannot be used. */
void
prefix_table_remove_pin(struct prefix_table *table)
{
    if (table->pinned_from || table->pin_lost) {
        prefix_pin_remove(table->name);
        free(table->pinned_from);
        table->pinned_from = NULL;
        free(table->pin_error);
        table->pin_error = NULL;
        free(table->pin_lost);
        table->pin_lost = NULL;
    }
}

/* Makes 'job', which is to load something, look for what an earlier daemon has
 * pinned, unless that has been done. */
void
prefix_table_look_for_pin(const struct prefix_table *table,
                          struct prefix_job *job)
{
    job->port = table->pin_loaded ? NULL : xstrdup(table->name);
}

/* If 'job' has found what an earlier daemon has pinned, makes it what it has
 * loaded, and returns true. */
bool
prefix_table_take_pin(struct prefix_table *table, struct prefix_job *job)
{
    if (!job->port) {
        return false;
    }
    table->pin_loaded = true;
    free(table->pin_lost);
    table->pin_lost = (job->pinned || job->pin_from ? NULL
                       : prefix_pin_explain_lost(table->name));
    if (!job->pinned) {
        return false;
    }
    table->pinned_from = job->pin_from;
    job->pin_from = NULL;
    prefix_set_unref(job->set);
    job->set = job->pinned;
    job->pinned = NULL;
    return true;
}

char *
prefix_table_check_version(const struct prefix_table *table,
                           const struct prefix_set *set)
{
    if (table->pinned_from && table->force.set
        && !strcmp(table->pinned_from, set->version)) {
        return xasprintf("version \"%s\" has been rolled back: version \"%s\" "
                         "is pinned until the version string changes",
                         table->pinned_from, table->force.set->version);
    }
    return NULL;
}

/* Returns NULL if the version that 'job' has read may come into force, or why
 * not, which the caller frees. */
char *
prefix_table_check_pin(struct prefix_table *table, struct prefix_job *job)
{
    if (!prefix_table_take_pin(table, job) && job->pin_from) {
        /* Of another version of the file. */
        prefix_pin_remove(table->name);
    }
    return prefix_table_check_version(table, job->set);
}

/* Makes 'job', a roll-back, write the pin that prefix_table_make_pin() makes,
 * instead of the version in force or the one that this stands in for. */
void
prefix_table_prepare_pin(const struct prefix_table *table,
                         struct prefix_job *job)
{
    job->port = xstrdup(table->name);
    job->write_pin = true;
    job->pin_from = xstrdup(table->pinned_from ? table->pinned_from
                            : table->force.set->version);
}

/* Pins what 'job', a roll-back, has put in force. */
void
prefix_table_make_pin(struct prefix_table *table, struct prefix_job *job)
{
    free(table->pinned_from);
    table->pinned_from = job->pin_from;
    job->pin_from = NULL;
    table->pin_loaded = true;
    free(table->pin_lost);
    table->pin_lost = NULL;
    free(table->pin_error);
    table->pin_error = job->pin_error;
    job->pin_error = NULL;
    if (!table->pin_error) {
        table->pin_error = prefix_pin_commit(table->name);
    }
    if (table->pin_error) {
        VLOG_WARN("%s: %s", table->name, table->pin_error);
    }
}
