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

/* Ends the pin, if there is one. */
void
prefix_table_remove_pin(struct prefix_table *table)
{
    if (table->pinned_from) {
        prefix_pin_remove(table->name);
        free(table->pinned_from);
        table->pinned_from = NULL;
    }
}

/* Looks, once, for what an earlier daemon has pinned.  If there is something,
 * makes it what 'job', which has no set, has loaded, and returns true. */
bool
prefix_table_take_pin(struct prefix_table *table, struct prefix_job *job)
{
    if (table->pin_loaded) {
        return false;
    }
    table->pin_loaded = true;
    job->set = prefix_pin_load(table->name, &table->pinned_from);
    return job->set != NULL;
}

/* Makes 'job' load what an earlier daemon has pinned, if it stands in for the
 * version that has just been read. */
static void
look_for_pin(struct prefix_table *table, struct prefix_job *job)
{
    struct prefix_set *read = job->set;

    if (!prefix_table_take_pin(table, job)) {
        job->set = read;
    } else if (!strcmp(table->pinned_from, read->version)) {
        prefix_set_unref(read);
    } else {
        prefix_set_unref(job->set);
        job->set = read;
        prefix_table_remove_pin(table);
    }
}

/* Returns NULL if the version that 'job' has read may come into force, or why
 * not, which the caller frees. */
char *
prefix_table_check_pin(struct prefix_table *table, struct prefix_job *job)
{
    look_for_pin(table, job);
    if (table->pinned_from && table->force.set
        && !strcmp(table->pinned_from, job->set->version)) {
        return xasprintf("version \"%s\" has been rolled back: version \"%s\" "
                         "is pinned until the version string changes",
                         table->pinned_from, table->force.set->version);
    }
    return NULL;
}

/* Pins 'set', which is to be in force instead of what is. */
void
prefix_table_make_pin(struct prefix_table *table,
                      const struct prefix_set *set)
{
    char *error;

    if (!table->pinned_from) {
        table->pinned_from = xstrdup(table->force.set->version);
    }
    table->pin_loaded = true;
    error = prefix_pin_save(table->name, table->pinned_from, set);
    if (error) {
        VLOG_WARN("%s: %s", table->name, error);
        free(error);
    }
}
