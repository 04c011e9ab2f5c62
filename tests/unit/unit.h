/* SPDX-License-Identifier: Apache-2.0 */

#ifndef UNIT_H
#define UNIT_H 1

/* What the unit tests have in common.  A test program runs its tests one by
 * one, each of which is a sentence that is true:
 *
 *     ok - SENTENCE
 *     not ok - SENTENCE: WHERE: WHY
 *
 * and exits with 0 if all of them are, with 1 otherwise. */

#include <stdbool.h>
#include <stdint.h>

#include "unit-random.h"

/* Checks that 'COND' holds. */
#define CHECK(COND) unit_check(COND, OVS_SOURCE_LOCATOR, #COND)

/* Checks that the integer 'VALUE' is 'EXPECTED'. */
#define CHECK_INT(VALUE, EXPECTED) \
    unit_check_int(VALUE, EXPECTED, OVS_SOURCE_LOCATOR, #VALUE)

void unit_run(const char *sentence, void (*test)(void));
int unit_exit_status(void);

bool unit_check(bool ok, const char *where, const char *condition);
bool unit_check_int(int64_t value, int64_t expected, const char *where,
                    const char *expression);
void unit_fail(const char *where, const char *format, ...)
    OVS_PRINTF_FORMAT(2, 3);
bool unit_has_failed(void);

#endif /* unit.h */
