/* SPDX-License-Identifier: Apache-2.0 */

#ifndef TEST_PREFIX_SETS_H
#define TEST_PREFIX_SETS_H 1

/* What the tests of sets and of files ask about a set. */

#include <stddef.h>

#include "prefix-set.h"

/* In how many entries the two, each of which may be NULL, differ. */
size_t count_differences(const struct prefix_set *, const struct prefix_set *);

/* Checks that what 'set', called 'name', is written as reads as the same
 * set. */
void check_round_trip(const char *name, const struct prefix_set *set);

#endif /* prefix-sets.h */
