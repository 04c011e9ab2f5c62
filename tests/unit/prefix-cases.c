/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-cases.h"

#include <stdlib.h>
#include <string.h>

#include "openvswitch/json.h"
#include "openvswitch/shash.h"
#include "unit.h"
#include "util.h"

/* Runs 'check' on each case of 'section' in the file 'path'. */
void
prefix_cases_run(const char *path, const char *section,
                 void (*check)(const char *name, const struct shash *))
{
    struct json *json = json_from_file(path);
    const struct json *cases = NULL;
    const struct shash_node *node;

    if (json->type == JSON_OBJECT) {
        cases = shash_find_data(json_object(json), section);
    }
    if (!cases) {
        unit_fail(OVS_SOURCE_LOCATOR, "%s: %s", path,
                  json->type == JSON_STRING ? json_string(json)
                                            : "no such section");
    } else {
        CHECK(shash_count(json_object(cases)) > 20);
        SHASH_FOR_EACH (node, json_object(cases)) {
            check(node->name, json_object(node->data));
        }
    }
    json_destroy(json);
}

/* Returns what the case has under 'member', or NULL. */
const char *
prefix_case_string(const struct shash *test, const char *member)
{
    const struct json *json = shash_find_data(test, member);

    return json ? json_string(json) : NULL;
}

/* Fails unless 'got' is what is 'expected', either of which may be NULL.
 * Frees 'got'. */
void
prefix_case_check(const char *name, const char *what, char *got,
                  const char *expected)
{
    if (!nullable_string_is_equal(got, expected)) {
        unit_fail(OVS_SOURCE_LOCATOR, "%s: %s is \"%s\", not \"%s\"", name,
                  what, got ? got : "(null)", expected ? expected : "(null)");
    }
    free(got);
}
