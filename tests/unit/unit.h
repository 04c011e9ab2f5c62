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

/* A random number generator (xorshift64*): fast, and one a thread. */
struct unit_random {
    uint64_t state;             /* Not 0. */
};

/* Returns a random number below 'n'. */
static inline uint32_t
unit_random(struct unit_random *r, uint32_t n)
{
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return ((r->state * 0x2545f4914f6cdd1dULL >> 32) * n) >> 32;
}

#endif /* unit.h */
