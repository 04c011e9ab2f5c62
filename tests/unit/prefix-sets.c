/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-sets.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "util.h"

static void
count(const struct prefix_entry *old OVS_UNUSED,
      const struct prefix_entry *new OVS_UNUSED, void *n_)
{
    size_t *n = n_;

    ++*n;
}

size_t
count_differences(const struct prefix_set *a, const struct prefix_set *b)
{
    size_t n = 0;

    prefix_set_diff(a, b, count, &n);
    return n;
}

void
check_round_trip(const char *name, const struct prefix_set *set)
{
    char *text = prefix_set_to_text(set);
    struct prefix_set *copy;
    char *error = prefix_set_from_text("again", text, strlen(text), &copy);

    if (error) {
        unit_fail(OVS_SOURCE_LOCATOR, "%s: \"%s\" is wrong: %s", name, text,
                  error);
    } else {
        CHECK_INT(copy->n, set->n);
        CHECK_INT(count_differences(set, copy), 0);
        CHECK(!strcmp(copy->version, set->version));
        CHECK(!copy->notices);
        prefix_set_unref(copy);
    }
    free(error);
    free(text);
}
