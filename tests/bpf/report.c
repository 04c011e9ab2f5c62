/* SPDX-License-Identifier: Apache-2.0 */

#include "report.h"

#include <stdarg.h>
#include <stdio.h>

static char test_name[256];
static char test_why[512];

/* Begins the test with the given 'name', a sentence. */
void
test_begin(const char *name, ...)
{
    va_list args;

    va_start(args, name);
    vsnprintf(test_name, sizeof test_name, name, args);
    va_end(args);
    test_why[0] = '\0';
}

/* Fails the test that test_begin() began; only the first reason is kept. */
void
test_fail(const char *why, ...)
{
    va_list args;

    if (!test_why[0]) {
        va_start(args, why);
        vsnprintf(test_why, sizeof test_why, why, args);
        va_end(args);
    }
}

/* Prints the test's line of the report. */
void
test_end(void)
{
    if (test_why[0]) {
        printf("not ok - %s: %s\n", test_name, test_why);
    } else {
        printf("ok - %s\n", test_name);
    }
    fflush(stdout);
}
