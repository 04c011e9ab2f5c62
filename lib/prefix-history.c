/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-history.h"

#include <string.h>

#include "timeval.h"
#include "util.h"

/* Entries of old versions to keep in memory, besides the table in force and
 * the one before it: some 300 MB at the most. */
#define MAX_KEPT (1 << 21)

void
prefix_history_init(struct prefix_history *history)
{
    memset(history, 0, sizeof *history);
}

static void
uninit_item(struct prefix_history_item *item)
{
    prefix_set_unref_aside(item->set);
    free(item->version);
}

void
prefix_history_uninit(struct prefix_history *history)
{
    for (size_t i = 0; i < history->n; i++) {
        uninit_item(&history->items[i]);
    }
}

/* Lets go of the contents of old versions where they are too much. */
static void
trim(struct prefix_history *history)
{
    size_t n_kept = 0;

    for (size_t i = 2; i < history->n; i++) {
        struct prefix_history_item *item = &history->items[i];

        n_kept += item->n;
        if (n_kept > MAX_KEPT) {
            prefix_set_unref_aside(item->set);
            item->set = NULL;
        }
    }
}

/* Adds 'set', which is in force from now on; the history takes a reference of
 * its own. */
void
prefix_history_push(struct prefix_history *history, struct prefix_set *set,
                    enum prefix_source source)
{
    if (history->n == PREFIX_HISTORY) {
        uninit_item(&history->items[--history->n]);
    }
    memmove(&history->items[1], &history->items[0],
            history->n * sizeof history->items[0]);
    history->items[0] = (struct prefix_history_item) {
        .set = prefix_set_ref(set),
        .version = xstrdup(set->version),
        .source = source,
        .when_ms = time_wall_msec(),
        .n = set->n,
    };
    history->n++;
    history->current = 0;
    trim(history);
}

/* Returns the version before the one in force, or NULL if there is none or its
 * contents are not there any more. */
const struct prefix_history_item *
prefix_history_before(const struct prefix_history *history)
{
    size_t i = history->current + 1;

    return (i < history->n && history->items[i].set
            ? &history->items[i] : NULL);
}
