/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_CASES_H
#define PREFIX_CASES_H 1

/* The cases in prefix-cases.json, each a name and an object:
 *
 *     entry, file     what is parsed, an entry or the text of a file "f"
 *     error           all of the message, if it is wrong; otherwise
 *     text, comment   of the entry, and whether host bits are
 *     masked          (true), or
 *     n               the number of entries in the file
 *     schema          false if the schema cannot tell that it is wrong
 *
 * The schema is checked against the same cases by
 * tests/python/prefix-schema.py. */

struct shash;

void prefix_cases_run(const char *path, const char *section,
                      void (*check)(const char *name, const struct shash *));
const char *prefix_case_string(const struct shash *test, const char *member);
void prefix_case_check(const char *name, const char *what, char *got,
                       const char *expected);

#endif /* prefix-cases.h */
