/* SPDX-License-Identifier: Apache-2.0 */

/* prefix-entry.h: what an entry may be, as text and as JSON, what is said of
 * all else, and the order of entries. */

#include <config.h>
#include "prefix-entry.h"

#include <stdlib.h>
#include <string.h>

#include "openvswitch/dynamic-string.h"
#include "openvswitch/json.h"
#include "openvswitch/shash.h"
#include "prefix-cases.h"
#include "prefix-member.h"
#include "unit.h"
#include "util.h"

static const char *cases, *schema;      /* Files. */

static char *
format(const struct prefix_entry *e)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    prefix_entry_format(e, &ds);
    return ds_steal_cstr(&ds);
}

static char *
format_key(const struct prefix_entry *e)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    prefix_entry_format_key(e, &ds);
    return ds_steal_cstr(&ds);
}

static bool
same(const struct prefix_entry *a, const struct prefix_entry *b)
{
    return (!memcmp(&a->key, &b->key, sizeof a->key)
            && !prefix_entry_compare(a, b)
            && prefix_entry_same_action(a, b));
}

/* Whatever an entry is formatted as reads as the same entry. */
static void
check_round_trip(const char *name, const struct prefix_entry *e)
{
    struct json *json = prefix_entry_to_json(e);
    char *text = format(e);
    char *key = format_key(e);
    struct prefix_entry copy;
    char *error;
    bool masked;

    error = prefix_entry_parse(text, &copy, &masked);
    if (error || masked || !same(e, &copy)) {
        unit_fail(OVS_SOURCE_LOCATOR, "%s: %s reads otherwise (%s)", name,
                  text, error ? error : "no error");
    } else {
        prefix_entry_uninit(&copy);
    }
    free(error);
    error = prefix_entry_from_json(json, &copy, &masked);
    if (error || masked || !same(e, &copy)
        || !nullable_string_is_equal(e->comment, copy.comment)) {
        unit_fail(OVS_SOURCE_LOCATOR, "%s: its JSON reads otherwise (%s)",
                  name, error ? error : "no error");
    } else {
        prefix_entry_uninit(&copy);
    }
    free(error);
    error = prefix_entry_parse_key(key, &copy, &masked);
    if (error || masked || memcmp(&e->key, &copy.key, sizeof e->key)) {
        unit_fail(OVS_SOURCE_LOCATOR, "%s: key %s reads otherwise (%s)", name,
                  key, error ? error : "no error");
    } else {
        prefix_entry_uninit(&copy);
    }
    free(error);
    free(text);
    free(key);
    json_destroy(json);
}

static void
check_json(const char *name, const struct shash *test)
{
    const struct json *masks = shash_find_data(test, "masked");
    const char *wrong = prefix_case_string(test, "error");
    struct prefix_entry e;
    bool masked;
    char *error;

    error = prefix_entry_from_json(shash_find_data(test, "entry"), &e,
                                   &masked);
    if (!error) {
        check_round_trip(name, &e);
        prefix_case_check(name, "it", format(&e),
                          prefix_case_string(test, "text"));
        prefix_case_check(name, "comment", nullable_xstrdup(e.comment),
                          prefix_case_string(test, "comment"));
        if (masked != (masks && masks->type == JSON_TRUE)) {
            unit_fail(OVS_SOURCE_LOCATOR, "%s: masked is %d", name, masked);
        }
        prefix_entry_uninit(&e);
    }
    prefix_case_check(name, "error", error, wrong);
}

static void
json_entries(void)
{
    prefix_cases_run(cases, "entries", check_json);
}

/* One character more than is allowed in comments. */
static void
long_comments(void)
{
    struct json *json = json_object_create();
    struct ds comment = DS_EMPTY_INITIALIZER;
    struct prefix_entry e;
    char *error;
    bool masked;

    json_object_put_string(json, "prefix", "::/0");
    json_object_put_string(json, "action", "drop");
    for (size_t i = 0; i < PREFIX_MAX_COMMENT; i++) {
        ds_put_cstr(&comment, "\xf0\x9f\x98\x80");
    }
    json_object_put_string(json, "comment", ds_cstr(&comment));
    error = prefix_entry_from_json(json, &e, &masked);
    if (CHECK(!error)) {
        prefix_entry_uninit(&e);
    }
    free(error);
    ds_put_char(&comment, '.');
    json_object_put_string(json, "comment", ds_cstr(&comment));
    error = prefix_entry_from_json(json, &e, &masked);
    CHECK(error && strstr(error, "...: must be at most 1024 characters of"));
    free(error);
    json_object_put_string(json, "comment", "\xc3(");
    error = prefix_entry_from_json(json, &e, &masked);
    CHECK(error && strstr(error, "comment=\\xc3(: must be at most"));
    free(error);
    ds_destroy(&comment);
    json_destroy(json);
}

#define NO_WORD ": no such word; must be src, vlan=..., dmac=..., " \
    "set-smac=..., set-dmac=..., dec-ttl, pop-vlan, push-vlan=... or " \
    "set-vlan=...; blanks, not commas, are between entries"
#define NO_FORM ": must be PREFIX=ACTION[:PORT][,WORD...]"
#define NO_PUSH ": must be a whole number from 1 to 4094, or one with a " \
    "TPID, such as 0x88a8:100"
#define NO_NUMBER ": must be a whole number from 0 to 4094"

static const struct {
    const char *text;
    const char *result;         /* NULL: the text, again. */
    const char *error;
} texts[] = {
    { "10.0.0.0/8=redirect:eth1,dec-ttl,vlan=3,src",
      "10.0.0.0/8=redirect:eth1,src,vlan=3,dec-ttl", NULL },
    { "10.9.9.9/8=drop", "10.0.0.0/8=drop", NULL },
    { "::/0=redirect:a=b", NULL, NULL },
    { "::/0=redirect:p,push-vlan=0x8100:5", "::/0=redirect:p,push-vlan=5",
      NULL },
    { "", NULL, NO_FORM },
    { "10.0.0.0/8", NULL, "10.0.0.0/8" NO_FORM },
    { "10.0.0.0/8:drop", NULL, "10.0.0.0/8:drop" NO_FORM },
    { "\xff\n", NULL, "\\xff\\x0a" NO_FORM },
    { "=drop", NULL, "prefix=: must be an IPv4 or IPv6 prefix, such as "
                     "203.0.113.0/24 or 2001:db8::/32" },
    { "::/0=", NULL, "action=: must be redirect, drop, host or userspace" },
    { "::/0=,src", NULL, "action=: must be redirect, drop, host or "
                         "userspace" },
    { "::/0=redirect", NULL, "port: missing; the action redirect needs "
                             "one" },
    { "::/0=redirect:", NULL, "port=: must be the name of a port: 1 to 15 "
                              "characters of ASCII, no blank, comma, colon "
                              "or slash" },
    { "::/0=drop:p", NULL, "port: must not be with the action drop, only "
                           "with redirect" },
    { "::/0=drop,", NULL, NO_WORD },
    { "::/0=drop,,src", NULL, NO_WORD },
    { "::/0=drop,srv", NULL, "srv" NO_WORD },
    { "::/0=drop,sr", NULL, "sr" NO_WORD },
    { "::/0=drop,comment=x", NULL, "comment=x" NO_WORD },
    { "::/0=drop,10.0.0.0/8=drop", NULL, "10.0.0.0/8=drop" NO_WORD },
    { "::/0=drop,src=1", NULL, "src=1: must be src, without a value" },
    { "::/0=redirect:p,dec-ttl=\x80", NULL,
      "dec-ttl=\\x80: must be dec-ttl, without a value" },
    { "::/0=redirect:p,pop-vlan=", NULL,
      "pop-vlan=: must be pop-vlan, without a value" },
    { "::/0=drop,src,src", NULL, "src: there twice; must be there once" },
    { "::/0=drop,vlan=1,vlan=1", NULL, "vlan: there twice; must be there "
                                       "once" },
    { "::/0=redirect:p,dec-ttl,dec-ttl", NULL,
      "dec-ttl: there twice; must be there once" },
    { "::/0=drop,vlan", NULL, "vlan=" NO_NUMBER },
    { "::/0=drop,vlan=", NULL, "vlan=" NO_NUMBER },
    { "::/0=drop,vlan=4095", NULL, "vlan=4095" NO_NUMBER },
    { "::/0=drop,vlan=010", NULL, "vlan=010" NO_NUMBER },
    { "::/0=drop,vlan=0x10", NULL, "vlan=0x10" NO_NUMBER },
    { "::/0=drop,vlan=-1", NULL, "vlan=-1" NO_NUMBER },
    { "::/0=drop,vlan=+1", NULL, "vlan=+1" NO_NUMBER },
    { "::/0=drop,vlan=1 ", NULL, "vlan=1 " NO_NUMBER },
    { "::/0=drop,vlan=4294967297", NULL, "vlan=4294967297" NO_NUMBER },
    { "::/0=drop,dmac", NULL,
      "dmac=: must be a MAC address, such as 02:00:00:00:00:01" },
    { "::/0=redirect:p,set-vlan=0", NULL,
      "set-vlan=0: must be a whole number from 1 to 4094" },
    { "::/0=redirect:p,push-vlan=0", NULL, "push-vlan=0" NO_PUSH },
    { "::/0=redirect:p,push-vlan=0x88a8", NULL, "push-vlan=0x88a8" NO_PUSH },
    { "::/0=redirect:p,push-vlan=0x88a8:", NULL,
      "push-vlan=0x88a8:" NO_PUSH },
    { "::/0=redirect:p,push-vlan=0x9100:5", NULL,
      "push-vlan=0x9100:5" NO_PUSH },
    { "::/0=redirect:p,push-vlan=:5", NULL, "push-vlan=:5" NO_PUSH },
    { "::/0=redirect:p,set-vlan=1,push-vlan=2", NULL,
      "set-vlan=2: must not be together with push-vlan, since it is for a "
      "tag that stays; pop-vlan and push-vlan put another tag in its place" },
};

static void
text_entries(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct prefix_entry e;
        bool masked;
        char *error = prefix_entry_parse(texts[i].text, &e, &masked);

        if (!error) {
            check_round_trip(texts[i].text, &e);
            prefix_case_check(texts[i].text, "it", format(&e),
                              texts[i].error ? NULL
                              : texts[i].result ? texts[i].result
                              : texts[i].text);
            prefix_entry_uninit(&e);
        }
        prefix_case_check(texts[i].text, "error", error, texts[i].error);
    }
}

static void
keys(void)
{
    static const struct {
        const char *text, *error;
    } wrong[] = {
        { "10/8", "prefix=10/8: must be an IPv4 or IPv6 prefix, such as "
                  "203.0.113.0/24 or 2001:db8::/32" },
        { "::/0=drop", "prefix=::/0=drop: must be of a length from /0 to "
                       "/128" },
        { "::/0,dec-ttl", "dec-ttl: no such word; must be src, vlan=... or "
                          "dmac=...; blanks, not commas, are between "
                          "entries" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct prefix_entry e;
        bool masked;

        prefix_case_check(wrong[i].text, "error",
                          prefix_entry_parse_key(wrong[i].text, &e, &masked),
                          wrong[i].error);
    }
}

static const char *const in_order[] = {
    "0.0.0.0/0=drop,src", "10.0.0.0/8=drop,src",
    "0.0.0.0/0=drop",
    "10.0.0.0/8=drop,vlan=0,dmac=02:00:00:00:00:01",
    "10.0.0.0/8=drop,vlan=1,dmac=02:00:00:00:00:00",
    "10.0.0.0/8=drop,vlan=1,dmac=02:00:00:00:00:01",
    "10.0.0.0/8=drop,vlan=0",
    "10.0.0.0/8=drop,vlan=1",
    "10.0.0.0/8=drop,vlan=256",
    "10.0.0.0/8=drop,dmac=00:00:00:00:00:00",
    "10.0.0.0/8=drop,dmac=02:00:00:00:00:00",
    "10.0.0.0/8=drop",
    "10.0.0.0/9=drop", "10.128.0.0/9=drop", "255.255.255.255/32=drop",
    "::/0=drop,src",
    "::/0=drop", "::/128=drop", "::ffff:10.0.0.0/104=drop",
};

static void
order(void)
{
    struct prefix_entry entries[ARRAY_SIZE(in_order)];
    const size_t n = ARRAY_SIZE(in_order);
    bool masked;

    for (size_t i = 0; i < n; i++) {
        prefix_case_check(in_order[i], "error",
                          prefix_entry_parse(in_order[i], &entries[i],
                                             &masked), NULL);
    }
    for (size_t i = 0; i < n && !unit_has_failed(); i++) {
        for (size_t j = 0; j < n; j++) {
            int cmp = prefix_entry_compare(&entries[i], &entries[j]);

            if ((cmp > 0) - (cmp < 0) != (i > j) - (i < j)) {
                unit_fail(OVS_SOURCE_LOCATOR, "%s, %s: %d", in_order[i],
                          in_order[j], cmp);
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        prefix_entry_uninit(&entries[i]);
    }
}

static const char *const all_different[] = {
    "::/0=redirect:a", "::/0=redirect:b", "::/0=host", "::/0=userspace",
    "::/0=drop", "::/0=redirect:a,dec-ttl", "::/0=redirect:a,pop-vlan",
    "::/0=redirect:a,push-vlan=1", "::/0=redirect:a,push-vlan=2",
    "::/0=redirect:a,push-vlan=0x88a8:1", "::/0=redirect:a,set-vlan=1",
    "::/0=redirect:a,set-smac=02:00:00:00:00:01",
    "::/0=redirect:a,set-smac=02:00:00:00:00:02",
    "::/0=redirect:a,set-dmac=02:00:00:00:00:01",
    "::/0=redirect:a,set-dmac=02:00:00:00:00:02",
};

static void
actions(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(all_different); i++) {
        for (size_t j = 0; j < ARRAY_SIZE(all_different); j++) {
            struct prefix_entry a, b, c;
            bool masked;

            free(prefix_entry_parse(all_different[i], &a, &masked));
            free(prefix_entry_parse(all_different[j], &b, &masked));
            prefix_entry_clone(&c, &b);
            c.comment = xstrdup("of no importance");
            CHECK_INT(prefix_entry_same_action(&a, &c), i == j);
            CHECK(same(&b, &c) && b.target != (c.target ? c.target : ""));
            prefix_entry_uninit(&a);
            prefix_entry_uninit(&b);
            prefix_entry_uninit(&c);
        }
    }
}

static const struct json *
member(const struct json *json, const char *name)
{
    return json ? shash_find_data(json_object(json), name) : NULL;
}

static void
schema_members(void)
{
    struct json *json = json_from_file(schema);
    const struct json *properties;

    if (!CHECK_INT(json->type, JSON_OBJECT)) {
        json_destroy(json);
        return;
    }
    properties = member(member(member(json, "$defs"), "entry"), "properties");
    if (CHECK(properties)) {
        CHECK_INT(shash_count(json_object(properties)), N_PREFIX_MEMBERS);
        for (enum prefix_member m = 0; m < N_PREFIX_MEMBERS; m++) {
            const char *name = prefix_member_name(m);

            if (!member(properties, name)) {
                unit_fail(OVS_SOURCE_LOCATOR, "%s is not there", name);
            }
        }
    }
    json_destroy(json);
}

int
main(int argc, char *argv[])
{
    set_program_name(argv[0]);
    if (argc != 3) {
        ovs_fatal(0, "usage: %s CASES SCHEMA", argv[0]);
    }
    cases = argv[1];
    schema = argv[2];

    unit_run("entries in JSON are what they say, or wrong for one reason",
             json_entries);
    unit_run("entries as text are what they say, or wrong for one reason",
             text_entries);
    unit_run("keys take the words of keys only", keys);
    unit_run("a comment has characters, so and so many", long_comments);
    unit_run("entries have one order", order);
    unit_run("actions are the same if all of them but comments is", actions);
    unit_run("the schema has the members of the parser", schema_members);
    return unit_exit_status();
}
