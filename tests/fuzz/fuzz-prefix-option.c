/* SPDX-License-Identifier: Apache-2.0 */

/* options:prefixes, and an entry or a key of a command, of any text. */

#include <config.h>
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "openvswitch/dynamic-string.h"
#include "prefix-set.h"
#include "util.h"

static void
fuzz_option(const char *s)
{
    struct prefix_set *set;
    char *error = prefix_set_from_option(s, &set);

    if (error) {
        fuzz_check_message(error);
        free(error);
    } else {
        fuzz_check_set(set);
        prefix_set_unref(set);
    }
}

static void
fuzz_key(const char *s)
{
    struct ds key = DS_EMPTY_INITIALIZER;
    struct prefix_entry e, copy;
    bool masked;
    char *error = prefix_entry_parse_key(s, &e, &masked);

    if (error) {
        fuzz_check_message(error);
        free(error);
        return;
    }
    prefix_entry_format_key(&e, &key);
    error = prefix_entry_parse_key(ds_cstr(&key), &copy, &masked);
    fuzz_check(!error && !masked && !prefix_entry_compare(&e, &copy),
               "a key reads otherwise", ds_cstr(&key));
    prefix_entry_uninit(&copy);
    prefix_entry_uninit(&e);
    ds_destroy(&key);
}

static void
fuzz_entry(const char *s)
{
    struct ds text = DS_EMPTY_INITIALIZER;
    struct prefix_entry e, copy;
    bool masked;
    char *error = prefix_entry_parse(s, &e, &masked);

    if (error) {
        fuzz_check_message(error);
        free(error);
        return;
    }
    prefix_entry_format(&e, &text);
    error = prefix_entry_parse(ds_cstr(&text), &copy, &masked);
    fuzz_check(!error && !masked && !prefix_entry_compare(&e, &copy)
               && !memcmp(&e.key, &copy.key, sizeof e.key)
               && prefix_entry_same_action(&e, &copy),
               "an entry reads otherwise", ds_cstr(&text));
    prefix_entry_uninit(&copy);
    prefix_entry_uninit(&e);
    ds_destroy(&text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *s = xmemdup0((const char *) data, size);

    fuzz_option(s);
    fuzz_entry(s);
    fuzz_key(s);
    free(s);
    return 0;
}
