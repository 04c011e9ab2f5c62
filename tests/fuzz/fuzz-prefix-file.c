/* SPDX-License-Identifier: Apache-2.0 */

/* A file of a prefix table, of any bytes. */

#include <config.h>
#include "fuzz.h"

#include <stdlib.h>

#include "prefix-set.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct prefix_set *set;
    char *error = prefix_set_from_text("file", (const char *) data, size,
                                       &set);

    if (error) {
        fuzz_check_message(error);
        free(error);
    } else {
        fuzz_check_set(set);
        prefix_set_unref(set);
    }
    return 0;
}
