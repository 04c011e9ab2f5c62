/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "util.h"
#include "unit.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char reason[512];        /* The first failure of the running test. */
static unsigned int n_failures; /* Of the running test. */
static bool failed;             /* Any test. */

/* Runs 'test', and prints whether what 'sentence' says is so. */
void
unit_run(const char *sentence, void (*test)(void))
{
    n_failures = 0;
    test();
    if (!n_failures) {
        printf("ok - %s\n", sentence);
    } else if (n_failures == 1) {
        printf("not ok - %s: %s\n", sentence, reason);
    } else {
        printf("not ok - %s: %s (and %u more)\n", sentence, reason,
               n_failures - 1);
    }
    fflush(stdout);
    failed = failed || n_failures;
}

/* Returns the exit status of the program. */
int
unit_exit_status(void)
{
    return failed;
}

/* Notes that the running test has failed.  Any thread. */
void
unit_fail(const char *where, const char *format, ...)
{
    va_list args;

    pthread_mutex_lock(&mutex);
    if (!n_failures++) {
        int n = snprintf(reason, sizeof reason, "%s: ", where);

        va_start(args, format);
        vsnprintf(&reason[n], sizeof reason - n, format, args);
        va_end(args);
    }
    pthread_mutex_unlock(&mutex);
}

/* Returns true if the running test has failed already.  Any thread. */
bool
unit_has_failed(void)
{
    bool result;

    pthread_mutex_lock(&mutex);
    result = n_failures > 0;
    pthread_mutex_unlock(&mutex);
    return result;
}

/* Fails the running test unless 'ok'.  Returns 'ok'. */
bool
unit_check(bool ok, const char *where, const char *condition)
{
    if (!ok) {
        unit_fail(where, "%s is false", condition);
    }
    return ok;
}

/* Fails the running test unless 'value' is 'expected'.  Returns whether it
 * is. */
bool
unit_check_int(int64_t value, int64_t expected, const char *where,
               const char *expression)
{
    if (value != expected) {
        unit_fail(where, "%s is %"PRId64", not %"PRId64, expression, value,
                  expected);
    }
    return value == expected;
}
