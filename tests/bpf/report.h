/* SPDX-License-Identifier: Apache-2.0 */

/* The report of a suite: a line a test, on stdout.
 *
 * A test is a group of checks between test_begin() and test_end(); the first
 * check that fails is the reason in its line. */

#ifndef REPORT_H
#define REPORT_H 1

void test_begin(const char *name, ...)
    __attribute__((format(printf, 1, 2)));
void test_fail(const char *why, ...) __attribute__((format(printf, 1, 2)));
void test_end(void);

#define CHECK(CONDITION, ...)                   \
    do {                                        \
        if (!(CONDITION)) {                     \
            test_fail(__VA_ARGS__);             \
        }                                       \
    } while (0)

#endif /* report.h */
