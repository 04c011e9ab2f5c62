/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prefix-set.h"

void
fuzz_check(bool ok, const char *what, const char *shown)
{
    if (!ok) {
        fprintf(stderr, "%s: \"%s\"\n", what, shown);
        abort();
    }
}

void
fuzz_check_message(const char *s)
{
    fuzz_check(*s && *s != '\n', "an empty message", s);
    for (size_t i = 0; s[i]; i++) {
        fuzz_check((s[i] >= ' ' && s[i] <= '~') || s[i] == '\n',
                   "an unprintable message", s);
    }
}

static void
differs(const struct prefix_entry *old, const struct prefix_entry *new,
        void *text)
{
    fuzz_check(false, old && new ? "another action" : old ? "lost" : "new",
               text);
}

void
fuzz_check_set(const struct prefix_set *set)
{
    char *text = prefix_set_to_text(set);
    struct prefix_set *copy;
    char *error;

    for (size_t i = 0; i < set->n; i++) {
        fuzz_check(!i || prefix_entry_compare(&set->entries[i - 1],
                                              &set->entries[i]) < 0,
                   "out of order", text);
        fuzz_check(prefix_set_find(set, &set->entries[i]) == &set->entries[i],
                   "not found", text);
    }
    if (set->notices) {
        fuzz_check_message(set->notices);
    }
    error = prefix_set_from_text("again", text, strlen(text), &copy);
    fuzz_check(!error, "its text is refused", text);
    prefix_set_diff(set, copy, differs, text);
    fuzz_check(!strcmp(set->version, copy->version), "another version", text);
    fuzz_check(!copy->notices, "notices again", text);
    prefix_set_unref(copy);
    free(text);
}
