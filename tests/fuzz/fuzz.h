/* SPDX-License-Identifier: Apache-2.0 */

#ifndef FUZZ_H
#define FUZZ_H 1

/* What the fuzzers have in common.  Each check that fails ends the program in
 * a way that libFuzzer takes for a crash. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prefix_set;

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* Ends the program unless 'ok'. */
void fuzz_check(bool ok, const char *what, const char *shown);

/* Checks that 's' is something to show: lines that are not empty, of printable
 * ASCII. */
void fuzz_check_message(const char *s);

/* Checks that 'set' is sorted, without two of a key, and that its text reads
 * as the same set. */
void fuzz_check_set(const struct prefix_set *set);

#endif /* fuzz.h */
