/* SPDX-License-Identifier: Apache-2.0 */

/* prefix-set.h: sets of entries, and what an option may be. */

#include <config.h>
#include "prefix-set.h"

#include <stdlib.h>
#include <string.h>

#include "openvswitch/dynamic-string.h"
#include "prefix-cases.h"
#include "prefix-sets.h"
#include "unit.h"
#include "util.h"

static struct prefix_set *
from_option(const char *option)
{
    struct prefix_set *set = NULL;

    prefix_case_check(option, "error", prefix_set_from_option(option, &set),
                      NULL);
    return set;
}

static void
options(void)
{
    static const char *const wrong[][2] = {
        { "::/0=drop x", "prefixes: entry 2: x: must be "
                         "PREFIX=ACTION[:PORT][,WORD...]" },
        { "::/0=drop 10.0.0.0/8=pass", "prefixes: entry 2: action=pass: must "
          "be redirect, drop, host or userspace" },
        { "10.0.0.1/8=drop ::/0=drop 10.0.0.0/8=drop",
          "prefixes: entry 3: 10.0.0.0/8=drop is there already: entry 1" },
        { "::/0=drop,vlan=3 10.0.0.0/8=redirect:a ::/0=host,vlan=3 "
          "10.0.0.0/8=redirect:b",
          "prefixes: entry 3: ::/0=host,vlan=3 contradicts "
          "::/0=drop,vlan=3: entry 1" },
        { "::/0=drop ::/0=drop ::/0=drop",
          "prefixes: entry 2: ::/0=drop is there already: entry 1" },
    };
    struct prefix_set *set = from_option(" \t10.1.2.3/8=drop\n::/0=host  ");

    if (set) {
        CHECK_INT(set->n, 2);
        CHECK_INT(set->entries[1].number, 2);
        prefix_case_check("notices", "it", xstrdup(set->notices),
                          "prefixes: entry 1: host bits were set and are "
                          "cleared: 10.0.0.0/8\n");
        check_round_trip("option", set);
        prefix_set_unref(set);
    }
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        char *error = prefix_set_from_option(wrong[i][0], &set);

        if (!error) {
            prefix_set_unref(set);
        }
        prefix_case_check(wrong[i][0], "error", error, wrong[i][1]);
    }
}

/* Versions are kept on disk, so they have to be the same for ever. */
static void
versions(void)
{
    struct prefix_set *none = from_option("");
    struct prefix_set *one = from_option("::/0=drop");
    struct prefix_set *with, *without;

    prefix_case_check("none", "version", xstrdup(none->version),
                      "option-811c9dc5");
    prefix_case_check("one", "version", xstrdup(one->version),
                      "option-559a3acc");
    CHECK(!prefix_set_with(none, one->entries, &with));
    CHECK(!strncmp(with->version, "command-", 8));
    CHECK(!prefix_set_without(with, one->entries, &without));
    CHECK(!strncmp(without->version, "command-", 8));
    CHECK(strcmp(with->version, without->version));
    CHECK_INT(none->n, 0);
    CHECK_INT(without->n, 0);
    check_round_trip("none", none);
    check_round_trip("with", with);
    prefix_set_unref(none);
    prefix_set_unref(one);
    prefix_set_unref(with);
    prefix_set_unref(without);
}

static void
many_notices(void)
{
    struct ds ds = DS_EMPTY_INITIALIZER;
    struct prefix_set *set;
    size_t n_lines = 0;

    for (int i = 0; i < 30; i++) {
        ds_put_format(&ds, "10.%d.0.1/16=drop ", i);
    }
    set = from_option(ds_cstr(&ds));
    for (const char *p = set->notices; *p; p++) {
        n_lines += *p == '\n';
    }
    CHECK_INT(n_lines, 21);
    CHECK(strstr(set->notices, "cleared: 10.19.0.0/16\n... and 10 more "
                               "like these\n"));
    prefix_set_unref(set);
    ds_destroy(&ds);
}

/* Sets against a model: an array that says of each of 64 keys which of three
 * actions it has, or none. */

#define N_KEYS 64

struct model {
    unsigned char action[N_KEYS];       /* 0: not there. */
};

static void
make_entry(unsigned int key, unsigned int action, struct prefix_entry *e)
{
    static const char *const actions[] = { "drop", "host", "redirect:a" };
    char *s = xasprintf(key & 1 ? "10.%u.0.0/16=%s%s"
                                : "2001:db8:%x::/48=%s%s",
                        key >> 2, actions[action - 1], key & 2 ? ",src" : "");
    bool masked;

    prefix_case_check(s, "error", prefix_entry_parse(s, e, &masked), NULL);
    free(s);
}

/* Checks that there is in 'set' what 'model' says. */
static void
check_set(const struct prefix_set *set, const struct model *model)
{
    size_t n = 0;

    for (unsigned int key = 0; key < N_KEYS; key++) {
        const struct prefix_entry *found;
        struct prefix_entry e;

        make_entry(key, MAX(model->action[key], 1), &e);
        found = prefix_set_find(set, &e);
        CHECK_INT(found != NULL, model->action[key] != 0);
        CHECK(!found || prefix_entry_same_action(found, &e));
        n += found != NULL;
        prefix_entry_uninit(&e);
    }
    CHECK_INT(set ? set->n : 0, n);
    for (size_t i = 1; i < n; i++) {
        CHECK(prefix_entry_compare(&set->entries[i - 1],
                                   &set->entries[i]) < 0);
    }
}

static const char *
change_set(struct prefix_set **set, struct model *model,
           unsigned int key, unsigned int action, bool add)
{
    unsigned int had = model->action[key];
    struct prefix_set *new = NULL;
    struct prefix_entry e;
    const char *expected;
    char *error;

    make_entry(key, action, &e);
    if (add) {
        error = prefix_set_with(*set, &e, &new);
        expected = !had ? NULL : had == action ? "is there already"
                   : "must be deleted first";
    } else {
        error = prefix_set_without(*set, &e, &new);
        expected = had ? NULL : "no such entry";
    }
    prefix_entry_uninit(&e);
    if (error) {
        if (!expected || !strstr(error, expected)) {
            unit_fail(OVS_SOURCE_LOCATOR, "\"%s\", not \"%s\"", error,
                      expected ? expected : "(null)");
        }
        free(error);
    } else {
        CHECK(!expected);
        prefix_set_unref(*set);
        *set = new;
        model->action[key] = add ? action : 0;
    }
    return expected;
}

static void
random_changes(void)
{
    struct unit_random r = { .state = 4711 };
    struct prefix_set *set = NULL;
    struct model model = { { 0 } };

    for (int i = 0; i < 3000 && !unit_has_failed(); i++) {
        struct prefix_set *old = prefix_set_ref(set);
        struct model before = model;
        size_t n_changed = 0;

        for (int j = 0; j < 3; j++) {
            change_set(&set, &model, unit_random(&r, N_KEYS),
                       1 + unit_random(&r, 3), unit_random(&r, 2));
        }
        for (int key = 0; key < N_KEYS; key++) {
            n_changed += model.action[key] != before.action[key];
        }
        CHECK_INT(count_differences(old, set), n_changed);
        CHECK_INT(count_differences(set, old), n_changed);
        if (i % 100 == 0) {
            check_set(set, &model);
            check_set(old, &before);
        }
        prefix_set_unref(old);
    }
    check_round_trip("random", set);
    prefix_set_unref(set);
}

static void
note_difference(const struct prefix_entry *old,
                const struct prefix_entry *new, void *ds)
{
    if (old) {
        ds_put_char(ds, '-');
        prefix_entry_format(old, ds);
    }
    if (new) {
        ds_put_char(ds, '+');
        prefix_entry_format(new, ds);
    }
    ds_put_char(ds, ' ');
}

static void
differences(void)
{
    struct prefix_set *a = from_option("10.0.0.0/8=drop 10.0.0.0/9=drop "
                                       "::/0=drop");
    struct prefix_set *b = from_option("10.0.0.0/8=host 10.0.0.0/8=drop,src "
                                       "::/0=drop");
    struct ds ds = DS_EMPTY_INITIALIZER;

    prefix_set_diff(a, b, note_difference, &ds);
    prefix_case_check("both", "difference", ds_steal_cstr(&ds),
                      "+10.0.0.0/8=drop,src -10.0.0.0/8=drop+10.0.0.0/8=host "
                      "-10.0.0.0/9=drop ");
    prefix_set_diff(NULL, b, note_difference, &ds);
    prefix_case_check("new", "difference", ds_steal_cstr(&ds),
                      "+10.0.0.0/8=drop,src +10.0.0.0/8=host +::/0=drop ");
    CHECK_INT(count_differences(a, NULL), 3);
    CHECK_INT(count_differences(NULL, NULL), 0);
    prefix_set_unref(a);
    prefix_set_unref(b);
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);
    unit_run("options are what they say, or wrong for one reason", options);
    unit_run("versions follow from what is set", versions);
    unit_run("of many notices there are twenty", many_notices);
    unit_run("sets have what was added and not deleted", random_changes);
    unit_run("differences are in order", differences);
    return unit_exit_status();
}
