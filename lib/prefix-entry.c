/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-entry.h"

#include <arpa/inet.h>
#include <string.h>

#include "openvswitch/dynamic-string.h"
#include "openvswitch/json.h"
#include "openvswitch/shash.h"
#include "prefix-member.h"
#include "util.h"
#include "xdp-table-layout.h"

#define MAC_FMT "%02x:%02x:%02x:%02x:%02x:%02x"
#define MAC_ARGS(MAC) \
    (MAC)[0], (MAC)[1], (MAC)[2], (MAC)[3], (MAC)[4], (MAC)[5]

/* Words of an entry, those that belong to the key first. */
static const struct {
    const char *name;
    enum prefix_member member;
    const char *value;          /* What it stands for if it takes none. */
} words[] = {
    { "src", MEMBER_MATCH, "src" },
    { "vlan", MEMBER_VLAN, NULL },
    { "dmac", MEMBER_DMAC, NULL },
    { "set-smac", MEMBER_SET_SMAC, NULL },
    { "set-dmac", MEMBER_SET_DMAC, NULL },
    { "dec-ttl", MEMBER_DEC_TTL, "" },
    { "pop-vlan", MEMBER_POP_VLAN, "" },
    { "push-vlan", MEMBER_PUSH_VLAN, NULL },
    { "set-vlan", MEMBER_SET_VLAN, NULL },
};
#define N_KEY_WORDS 3

/* Returns the name of 'action'. */
const char *
prefix_action_to_string(enum prefix_action action)
{
    switch (action) {
    case PREFIX_REDIRECT:
        return "redirect";
    case PREFIX_DROP:
        return "drop";
    case PREFIX_HOST:
        return "host";
    case PREFIX_USERSPACE:
        return "userspace";
    case PREFIX_N_ACTIONS:
    default:
        OVS_NOT_REACHED();
    }
}

/* Makes '*dst' a copy of 'src', with strings of its own. */
void
prefix_entry_clone(struct prefix_entry *dst, const struct prefix_entry *src)
{
    memcpy(dst, src, sizeof *dst);
    dst->target = nullable_xstrdup(src->target);
    dst->comment = nullable_xstrdup(src->comment);
}

/* Frees what belongs to the entry, not the struct itself. */
void
prefix_entry_uninit(struct prefix_entry *e)
{
    free(e->target);
    free(e->comment);
    e->target = e->comment = NULL;
}

/* Parsing. */

static void
draft_init(struct prefix_draft *draft, struct prefix_entry *e)
{
    memset(e, 0, sizeof *e);
    *draft = (struct prefix_draft) { .entry = e };
}

/* Checks the entry as a whole if there is no 'error' yet.  Returns the error
 * of it all, with the entry then uninitialized. */
static char *
draft_done(struct prefix_draft *draft, char *error, bool *masked)
{
    if (!error) {
        error = prefix_draft_finish(draft);
    }
    if (error) {
        prefix_entry_uninit(draft->entry);
    }
    *masked = !error && draft->masked;
    return error;
}

static char *
no_such_word(const char *word, size_t n)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    prefix_put_printable(&ds, word);
    ds_put_cstr(&ds, ": no such word; must be");
    for (size_t i = 0; i < n; i++) {
        ds_put_format(&ds, "%s %s%s", !i ? "" : i + 1 < n ? "," : " or",
                      words[i].name, words[i].value ? "" : "=...");
    }
    ds_put_cstr(&ds, "; blanks, not commas, are between entries");
    return ds_steal_cstr(&ds);
}

/* One of the first 'n' words, with a value or not. */
static char *
parse_word(struct prefix_draft *draft, char *word, size_t n)
{
    size_t len = strcspn(word, "=");
    const char *value = word[len] ? &word[len + 1] : NULL;

    for (size_t i = 0; i < n; i++) {
        if (strlen(words[i].name) != len
            || memcmp(words[i].name, word, len)) {
            continue;
        } else if (draft->given & 1u << words[i].member) {
            return xasprintf("%s: there twice; must be there once",
                             words[i].name);
        } else if (words[i].value && value) {
            struct ds ds = DS_EMPTY_INITIALIZER;

            prefix_put_printable(&ds, word);
            ds_put_format(&ds, ": must be %s, without a value",
                          words[i].name);
            return ds_steal_cstr(&ds);
        }
        return prefix_member_set_text(draft, words[i].member,
                                      words[i].value ? words[i].value
                                      : value ? value : "");
    }
    return no_such_word(word, n);
}

static char *
parse_words(struct prefix_draft *draft, char *rest, size_t n)
{
    char *error = NULL;
    char *word;

    while (!error && (word = strsep(&rest, ","))) {
        error = parse_word(draft, word, n);
    }
    return error;
}

/* ACTION[:PORT]. */
static char *
parse_action(struct prefix_draft *draft, char *action)
{
    char *port = strchr(action, ':');
    char *error;

    if (port) {
        *port++ = '\0';
    }
    error = prefix_member_set_text(draft, MEMBER_ACTION, action);
    if (!error && port) {
        error = prefix_member_set_text(draft, MEMBER_PORT, port);
    }
    return error;
}

char *
prefix_entry_parse(const char *s, struct prefix_entry *e, bool *masked)
{
    char *copy = xstrdup(s);
    char *rest = strchr(copy, '=');
    struct prefix_draft draft;
    char *error;

    draft_init(&draft, e);
    if (!rest) {
        struct ds ds = DS_EMPTY_INITIALIZER;

        prefix_put_printable(&ds, s);
        ds_put_cstr(&ds, ": must be PREFIX=ACTION[:PORT][,WORD...]");
        error = ds_steal_cstr(&ds);
    } else {
        *rest++ = '\0';
        error = prefix_member_set_text(&draft, MEMBER_PREFIX, copy);
        if (!error) {
            error = parse_action(&draft, strsep(&rest, ","));
        }
        if (!error) {
            error = parse_words(&draft, rest, ARRAY_SIZE(words));
        }
    }
    free(copy);
    return draft_done(&draft, error, masked);
}

char *
prefix_entry_parse_key(const char *s, struct prefix_entry *e, bool *masked)
{
    char *copy = xstrdup(s);
    char *rest = copy;
    struct prefix_draft draft;
    char *error;

    draft_init(&draft, e);
    error = prefix_member_set_text(&draft, MEMBER_PREFIX, strsep(&rest, ","));
    if (!error) {
        error = parse_words(&draft, rest, N_KEY_WORDS);
    }
    if (!error) {
        error = prefix_member_set_text(
            &draft, MEMBER_ACTION, prefix_action_to_string(PREFIX_USERSPACE));
    }
    free(copy);
    return draft_done(&draft, error, masked);
}

static char *
no_such_member(const char *name)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    prefix_put_printable(&ds, name);
    ds_put_cstr(&ds, ": no such member; an entry has");
    for (enum prefix_member m = 0; m < N_PREFIX_MEMBERS; m++) {
        ds_put_format(&ds, "%s %s", m ? "," : "", prefix_member_name(m));
    }
    return ds_steal_cstr(&ds);
}

char *
prefix_entry_from_json(const struct json *json, struct prefix_entry *e,
                       bool *masked)
{
    struct prefix_draft draft;
    char *error = NULL;
    size_t known = 0;

    draft_init(&draft, e);
    if (json->type != JSON_OBJECT) {
        return draft_done(&draft,
                          xasprintf("an entry must be an object, not of type "
                                    "%s", json_type_to_string(json->type)),
                          masked);
    }
    for (enum prefix_member m = 0; m < N_PREFIX_MEMBERS && !error; m++) {
        const struct json *value = shash_find_data(json_object(json),
                                                   prefix_member_name(m));

        if (value) {
            known++;
            error = prefix_member_set_json(&draft, m, value);
        }
    }
    if (!error && known != shash_count(json_object(json))) {
        const struct shash_node *node;

        SHASH_FOR_EACH (node, json_object(json)) {
            enum prefix_member m = 0;

            while (m < N_PREFIX_MEMBERS
                   && strcmp(node->name, prefix_member_name(m))) {
                m++;
            }
            if (m == N_PREFIX_MEMBERS) {
                error = no_such_member(node->name);
                break;
            }
        }
    }
    return draft_done(&draft, error, masked);
}

/* Comparing. */

/* At equal length those limited to more win. */
static int
rank(const struct prefix_entry *e)
{
    return (e->key.has_vlan ? 0 : 2) + (e->key.has_mac ? 0 : 1);
}

int
prefix_entry_compare(const struct prefix_entry *a,
                     const struct prefix_entry *b)
{
    int cmp;

    if (a->key.ipv6 != b->key.ipv6) {
        return a->key.ipv6 ? 1 : -1;
    } else if (a->key.src != b->key.src) {
        return a->key.src ? -1 : 1;
    }
    cmp = memcmp(a->key.addr, b->key.addr, sizeof a->key.addr);
    if (cmp) {
        return cmp;
    } else if (a->key.len != b->key.len) {
        return a->key.len < b->key.len ? -1 : 1;
    } else if (rank(a) != rank(b)) {
        return rank(a) < rank(b) ? -1 : 1;
    } else if (a->key.vlan != b->key.vlan) {
        return a->key.vlan < b->key.vlan ? -1 : 1;
    }
    return memcmp(a->key.mac, b->key.mac, sizeof a->key.mac);
}

bool
prefix_entry_same_action(const struct prefix_entry *a,
                         const struct prefix_entry *b)
{
    return (a->action == b->action
            && nullable_string_is_equal(a->target, b->target)
            && a->rewrite == b->rewrite
            && a->set_vlan == b->set_vlan
            && a->set_tpid == b->set_tpid
            && !memcmp(a->set_src, b->set_src, sizeof a->set_src)
            && !memcmp(a->set_dst, b->set_dst, sizeof a->set_dst));
}

/* Formatting. */

static void
format_prefix(const struct prefix_entry *e, struct ds *ds)
{
    char s[INET6_ADDRSTRLEN];

    inet_ntop(e->key.ipv6 ? AF_INET6 : AF_INET, e->key.addr, s, sizeof s);
    ds_put_format(ds, "%s/%u", s, e->key.len);
}

static void
format_limits(const struct prefix_entry *e, struct ds *ds)
{
    if (e->key.src) {
        ds_put_cstr(ds, ",src");
    }
    if (e->key.has_vlan) {
        ds_put_format(ds, ",vlan=%u", e->key.vlan);
    }
    if (e->key.has_mac) {
        ds_put_format(ds, ",dmac="MAC_FMT, MAC_ARGS(e->key.mac));
    }
}

void
prefix_entry_format_key(const struct prefix_entry *e, struct ds *ds)
{
    format_prefix(e, ds);
    format_limits(e, ds);
}

void
prefix_entry_format(const struct prefix_entry *e, struct ds *ds)
{
    format_prefix(e, ds);
    ds_put_format(ds, "=%s", prefix_action_to_string(e->action));
    if (e->target) {
        ds_put_format(ds, ":%s", e->target);
    }
    format_limits(e, ds);
    if (e->rewrite & TABLE_SET_SRC_MAC) {
        ds_put_format(ds, ",set-smac="MAC_FMT, MAC_ARGS(e->set_src));
    }
    if (e->rewrite & TABLE_SET_DST_MAC) {
        ds_put_format(ds, ",set-dmac="MAC_FMT, MAC_ARGS(e->set_dst));
    }
    if (e->rewrite & TABLE_DEC_TTL) {
        ds_put_cstr(ds, ",dec-ttl");
    }
    if (e->rewrite & TABLE_POP_VLAN) {
        ds_put_cstr(ds, ",pop-vlan");
    }
    if (e->rewrite & TABLE_PUSH_VLAN) {
        ds_put_cstr(ds, ",push-vlan=");
        if (e->set_tpid != 0x8100) {
            ds_put_format(ds, "0x%04x:", e->set_tpid);
        }
        ds_put_format(ds, "%u", e->set_vlan);
    }
    if (e->rewrite & TABLE_SET_VLAN) {
        ds_put_format(ds, ",set-vlan=%u", e->set_vlan);
    }
}

static void
put_mac(struct json *json, enum prefix_member member, const uint8_t mac[6])
{
    json_object_put_format(json, prefix_member_name(member), MAC_FMT,
                           MAC_ARGS(mac));
}

static void
put_rewrites(const struct prefix_entry *e, struct json *json)
{
    struct json *vlan;

    if (e->rewrite & TABLE_SET_SRC_MAC) {
        put_mac(json, MEMBER_SET_SMAC, e->set_src);
    }
    if (e->rewrite & TABLE_SET_DST_MAC) {
        put_mac(json, MEMBER_SET_DMAC, e->set_dst);
    }
    if (e->rewrite & TABLE_DEC_TTL) {
        json_object_put(json, "dec-ttl", json_boolean_create(true));
    }
    if (e->rewrite & TABLE_POP_VLAN) {
        json_object_put(json, "pop-vlan", json_boolean_create(true));
    }
    if (e->rewrite & (TABLE_PUSH_VLAN | TABLE_SET_VLAN)) {
        vlan = json_integer_create(e->set_vlan);
        if (e->rewrite & TABLE_SET_VLAN) {
            json_object_put(json, "set-vlan", vlan);
        } else if (e->set_tpid == 0x8100) {
            json_object_put(json, "push-vlan", vlan);
        } else {
            struct json *tag = json_object_create();

            json_object_put(tag, "id", vlan);
            json_object_put_format(tag, "tpid", "0x%04x", e->set_tpid);
            json_object_put(json, "push-vlan", tag);
        }
    }
}

/* Returns the entry as prefix_entry_from_json() takes it, without members that
 * would say what goes without saying. */
struct json *
prefix_entry_to_json(const struct prefix_entry *e)
{
    struct json *json = json_object_create();
    struct ds prefix = DS_EMPTY_INITIALIZER;

    format_prefix(e, &prefix);
    json_object_put_string(json, "prefix", ds_cstr(&prefix));
    ds_destroy(&prefix);
    json_object_put_string(json, "action",
                           prefix_action_to_string(e->action));
    if (e->key.src) {
        json_object_put_string(json, "match", "src");
    }
    if (e->target) {
        json_object_put_string(json, "port", e->target);
    }
    if (e->key.has_vlan) {
        json_object_put(json, "vlan", json_integer_create(e->key.vlan));
    }
    if (e->key.has_mac) {
        put_mac(json, MEMBER_DMAC, e->key.mac);
    }
    put_rewrites(e, json);
    if (e->comment) {
        json_object_put_string(json, "comment", e->comment);
    }
    return json;
}
