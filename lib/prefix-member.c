/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-member.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "openvswitch/dynamic-string.h"
#include "openvswitch/json.h"
#include "openvswitch/shash.h"
#include "prefix-entry.h"
#include "unicode.h"
#include "util.h"
#include "xdp-table-layout.h"

/* Of a value, so much is shown in messages: twice the longest that is ever
 * right (an IPv6 prefix with an IPv4 address at its end). */
#define MAX_SHOWN 96

/* IEEE 802.1Q: 4095 is reserved, 0 means that there is a priority only. */
#define MAX_VLAN 4094

#define TPID_8021Q 0x8100
#define TPID_8021AD 0x88a8

static const char *const names[N_PREFIX_MEMBERS] = {
    [MEMBER_PREFIX] = "prefix",
    [MEMBER_MATCH] = "match",
    [MEMBER_ACTION] = "action",
    [MEMBER_PORT] = "port",
    [MEMBER_VLAN] = "vlan",
    [MEMBER_DMAC] = "dmac",
    [MEMBER_SET_SMAC] = "set-smac",
    [MEMBER_SET_DMAC] = "set-dmac",
    [MEMBER_DEC_TTL] = "dec-ttl",
    [MEMBER_POP_VLAN] = "pop-vlan",
    [MEMBER_PUSH_VLAN] = "push-vlan",
    [MEMBER_SET_VLAN] = "set-vlan",
    [MEMBER_COMMENT] = "comment",
};

const char *
prefix_member_name(enum prefix_member member)
{
    return names[member];
}

void
prefix_put_printable(struct ds *ds, const char *s)
{
    for (size_t i = 0; s[i]; i++) {
        unsigned char c = s[i];

        if (i == MAX_SHOWN) {
            ds_put_cstr(ds, "...");
            return;
        } else if (c < ' ' || c > '~') {
            ds_put_format(ds, "\\x%02x", c);
        } else {
            ds_put_char(ds, c);
        }
    }
}

char *
prefix_must_be(const char *name, const char *value, const char *allowed)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    ds_put_format(&ds, "%s=", name);
    prefix_put_printable(&ds, value);
    ds_put_format(&ds, ": must be %s", allowed);
    return ds_steal_cstr(&ds);
}

char *
prefix_check_comment(const char *name, const char *s)
{
    bool control = false;
    size_t length;
    char *error = utf8_validate(s, &length);

    /* U+0080 to U+009F are control characters as well. */
    for (const char *p = s; !error && *p; p++) {
        control = control || (unsigned char) *p < ' ' || *p == 0x7f
                  || (*p == '\xc2' && (unsigned char) p[1] < 0xa0);
    }
    if (!error && !control && length <= PREFIX_MAX_COMMENT) {
        return NULL;
    }
    free(error);
    error = xasprintf("at most %d characters of UTF-8, none of them a control "
                      "character", PREFIX_MAX_COMMENT);

    char *message = prefix_must_be(name, s, error);
    free(error);
    return message;
}

/* Reads a whole number from 'min' to 'max', which has at most nine digits.
 * Leading zeros are refused: to some they mean octal. */
static bool
parse_whole(const char *s, unsigned int min, unsigned int max,
            unsigned int *value)
{
    size_t n = strspn(s, "0123456789");

    if (!n || s[n] || n > 9 || (s[0] == '0' && n > 1)) {
        return false;
    }
    *value = atoi(s);
    return *value >= min && *value <= max;
}

/* Clears what is behind the first 'len' of the 'n' bytes' bits.  Returns true
 * if any of those was set. */
static bool
mask_host_bits(uint8_t *addr, size_t n, unsigned int len)
{
    bool masked = false;

    for (size_t i = 0; i < n; i++) {
        unsigned int keep = len > 8 * i ? MIN(len - 8 * i, 8) : 0;
        uint8_t host = 0xff >> keep;

        masked = masked || addr[i] & host;
        addr[i] &= ~host;
    }
    return masked;
}

/* inet_pton() takes neither short forms nor leading zeros. */
static char *
set_prefix(struct prefix_draft *draft, const char *s)
{
    struct prefix_entry *e = draft->entry;
    size_t n = strcspn(s, "/");
    char *address = xmemdup0(s, n);
    bool ipv6 = strchr(address, ':');
    unsigned int max = ipv6 ? 128 : 32;
    unsigned int len = max;
    char *error = NULL;

    memset(e->key.addr, 0, sizeof e->key.addr);
    if (inet_pton(ipv6 ? AF_INET6 : AF_INET, address, e->key.addr) != 1) {
        error = prefix_must_be("prefix", s, "an IPv4 or IPv6 prefix, such as "
                               "203.0.113.0/24 or 2001:db8::/32");
    } else if (s[n] && !parse_whole(&s[n + 1], 0, max, &len)) {
        error = prefix_must_be("prefix", s,
                               ipv6 ? "of a length from /0 to /128"
                                    : "of a length from /0 to /32");
    } else {
        e->key.ipv6 = ipv6;
        e->key.len = len;
        draft->masked = mask_host_bits(e->key.addr, max / 8, len);
    }
    free(address);
    return error;
}

static char *
set_match(struct prefix_draft *draft, const char *s)
{
    if (strcmp(s, "dst") && strcmp(s, "src")) {
        return prefix_must_be("match", s, "dst or src");
    }
    draft->entry->key.src = s[0] == 's';
    return NULL;
}

static char *
set_action(struct prefix_draft *draft, const char *s)
{
    for (enum prefix_action a = 0; a < PREFIX_N_ACTIONS; a++) {
        if (!strcmp(s, prefix_action_to_string(a))) {
            draft->entry->action = a;
            return NULL;
        }
    }
    return prefix_must_be("action", s, "redirect, drop, host or userspace");
}

/* What Linux takes as the name of a device (dev_valid_name()), without what
 * would not survive in a list or on a terminal. */
static char *
set_port(struct prefix_draft *draft, const char *s)
{
    size_t n = strlen(s);
    bool ok = n >= 1 && n <= 15 && strcmp(s, ".") && strcmp(s, "..");

    for (size_t i = 0; i < n; i++) {
        ok = ok && s[i] > ' ' && s[i] <= '~' && !strchr("/:,", s[i]);
    }
    if (!ok) {
        return prefix_must_be("port", s, "the name of a port: 1 to 15 "
                              "characters of ASCII, no blank, comma, colon or "
                              "slash");
    }
    free(draft->entry->target);
    draft->entry->target = xstrdup(s);
    return NULL;
}

static bool
parse_mac(const char *s, uint8_t mac[6])
{
    if (strlen(s) != 17) {
        return false;
    }
    for (size_t i = 0; i < 6; i++) {
        bool ok;

        mac[i] = hexits_value(&s[3 * i], 2, &ok);
        if (!ok || (i < 5 && s[3 * i + 2] != ':')) {
            return false;
        }
    }
    return true;
}

static char *
set_mac(struct prefix_draft *draft, enum prefix_member member, const char *s)
{
    static const uint8_t zero[6];
    struct prefix_entry *e = draft->entry;
    uint8_t mac[6];

    if (!parse_mac(s, mac)) {
        return prefix_must_be(names[member], s,
                              "a MAC address, such as 02:00:00:00:00:01");
    } else if (member == MEMBER_DMAC) {
        memcpy(e->key.mac, mac, sizeof mac);
        e->key.has_mac = true;
        return NULL;
    } else if (mac[0] & 1 || !memcmp(mac, zero, sizeof mac)) {
        return prefix_must_be(names[member], s,
                              "the MAC address of one station: neither a "
                              "group's nor zero");
    } else if (member == MEMBER_SET_SMAC) {
        memcpy(e->set_src, mac, sizeof mac);
        e->rewrite |= TABLE_SET_SRC_MAC;
    } else {
        memcpy(e->set_dst, mac, sizeof mac);
        e->rewrite |= TABLE_SET_DST_MAC;
    }
    return NULL;
}

static void
set_vlan(struct prefix_draft *draft, enum prefix_member member,
         unsigned int vlan, unsigned int tpid)
{
    struct prefix_entry *e = draft->entry;

    if (member == MEMBER_VLAN) {
        e->key.vlan = vlan;
        e->key.has_vlan = true;
    } else {
        e->set_vlan = vlan;
        if (member == MEMBER_SET_VLAN) {
            e->rewrite |= TABLE_SET_VLAN;
        } else {
            e->set_tpid = tpid;
            e->rewrite |= TABLE_PUSH_VLAN;
        }
    }
}

/* A VLAN to match may be 0. */
static unsigned int
min_vlan(enum prefix_member member)
{
    return member == MEMBER_VLAN ? 0 : 1;
}

static const char *
allowed_vlan(enum prefix_member member)
{
    return member == MEMBER_VLAN ? "a whole number from 0 to 4094"
           : member == MEMBER_SET_VLAN ? "a whole number from 1 to 4094"
           : "a whole number from 1 to 4094, or one with a TPID, such as "
             "0x88a8:100";
}

static bool
parse_tpid(const char *s, unsigned int *tpid)
{
    *tpid = !strcmp(s, "0x88a8") ? TPID_8021AD
            : !strcmp(s, "0x8100") ? TPID_8021Q : 0;
    return *tpid;
}

static char *
set_vlan_text(struct prefix_draft *draft, enum prefix_member member,
              const char *s)
{
    const char *id = s;
    unsigned int vlan, tpid = TPID_8021Q;
    bool ok = true;

    if (member == MEMBER_PUSH_VLAN && strchr(s, ':')) {
        char *word = xmemdup0(s, strcspn(s, ":"));

        ok = parse_tpid(word, &tpid);
        id = strchr(s, ':') + 1;
        free(word);
    }
    if (!ok || !parse_whole(id, min_vlan(member), MAX_VLAN, &vlan)) {
        return prefix_must_be(names[member], s, allowed_vlan(member));
    }
    set_vlan(draft, member, vlan, tpid);
    return NULL;
}

static char *
set_comment(struct prefix_draft *draft, const char *s)
{
    char *error = prefix_check_comment("comment", s);

    if (!error) {
        free(draft->entry->comment);
        draft->entry->comment = xstrdup(s);
    }
    return error;
}

char *
prefix_member_set_text(struct prefix_draft *draft, enum prefix_member member,
                       const char *value)
{
    draft->given |= 1u << member;
    switch (member) {
    case MEMBER_PREFIX:
        return set_prefix(draft, value);
    case MEMBER_MATCH:
        return set_match(draft, value);
    case MEMBER_ACTION:
        return set_action(draft, value);
    case MEMBER_PORT:
        return set_port(draft, value);
    case MEMBER_DMAC:
    case MEMBER_SET_SMAC:
    case MEMBER_SET_DMAC:
        return set_mac(draft, member, value);
    case MEMBER_VLAN:
    case MEMBER_PUSH_VLAN:
    case MEMBER_SET_VLAN:
        return set_vlan_text(draft, member, value);
    case MEMBER_DEC_TTL:
        draft->entry->rewrite |= TABLE_DEC_TTL;
        return NULL;
    case MEMBER_POP_VLAN:
        draft->entry->rewrite |= TABLE_POP_VLAN;
        return NULL;
    case MEMBER_COMMENT:
        return set_comment(draft, value);
    case N_PREFIX_MEMBERS:
    default:
        OVS_NOT_REACHED();
    }
}

/* Likewise, from JSON. */

static char *
json_must_be(enum prefix_member member, const struct json *value,
             const char *allowed)
{
    char *s = json_to_string(value, JSSF_SORT);
    char *error = prefix_must_be(names[member], s, allowed);

    free(s);
    return error;
}

static bool
json_to_whole(const struct json *value, unsigned int min, unsigned int max,
              unsigned int *number)
{
    if (value->type != JSON_INTEGER || json_integer(value) < min
        || json_integer(value) > max) {
        return false;
    }
    *number = json_integer(value);
    return true;
}

/* {"id": N, "tpid": "0x88a8"}. */
static bool
json_to_tag(const struct json *value, unsigned int *vlan, unsigned int *tpid)
{
    const struct shash *object = json_object(value);
    const struct json *id = shash_find_data(object, "id");
    const struct json *type = shash_find_data(object, "tpid");

    return (id && type && shash_count(object) == 2
            && json_to_whole(id, 1, MAX_VLAN, vlan)
            && type->type == JSON_STRING
            && parse_tpid(json_string(type), tpid));
}

static char *
set_vlan_json(struct prefix_draft *draft, enum prefix_member member,
              const struct json *value)
{
    unsigned int vlan, tpid = TPID_8021Q;
    bool ok;

    if (member == MEMBER_PUSH_VLAN && value->type == JSON_OBJECT) {
        ok = json_to_tag(value, &vlan, &tpid);
    } else {
        ok = json_to_whole(value, min_vlan(member), MAX_VLAN, &vlan);
    }
    if (!ok) {
        return json_must_be(member, value, member == MEMBER_PUSH_VLAN
                            ? "a whole number from 1 to 4094, or an object "
                              "of such an \"id\" and a \"tpid\", \"0x8100\" "
                              "or \"0x88a8\""
                            : allowed_vlan(member));
    }
    set_vlan(draft, member, vlan, tpid);
    return NULL;
}

static bool
is_flag(enum prefix_member member)
{
    return member == MEMBER_DEC_TTL || member == MEMBER_POP_VLAN;
}

char *
prefix_member_set_json(struct prefix_draft *draft, enum prefix_member member,
                       const struct json *value)
{
    if (is_flag(member)) {
        if (value->type == JSON_FALSE) {
            return NULL;
        } else if (value->type != JSON_TRUE) {
            return json_must_be(member, value, "true or false");
        }
        return prefix_member_set_text(draft, member, NULL);
    } else if (member == MEMBER_VLAN || member == MEMBER_PUSH_VLAN
               || member == MEMBER_SET_VLAN) {
        draft->given |= 1u << member;
        return set_vlan_json(draft, member, value);
    } else if (value->type != JSON_STRING) {
        return json_must_be(member, value, "a string");
    }
    return prefix_member_set_text(draft, member, json_string(value));
}

/* What goes together. */

static bool
is_given(const struct prefix_draft *draft, enum prefix_member member)
{
    return draft->given & 1u << member;
}

static char *
finish_redirect(const struct prefix_draft *draft)
{
    const struct prefix_entry *e = draft->entry;

    if (!is_given(draft, MEMBER_PORT)) {
        return xstrdup("port: missing; the action redirect needs one");
    } else if (e->key.has_mac && e->key.mac[0] & 1) {
        return xasprintf("dmac=%02x:%02x:%02x:%02x:%02x:%02x: must be no "
                         "group's address with the action redirect: frames "
                         "to groups are never redirected",
                         e->key.mac[0], e->key.mac[1], e->key.mac[2],
                         e->key.mac[3], e->key.mac[4], e->key.mac[5]);
    } else if (e->rewrite & TABLE_SET_VLAN
               && e->rewrite & (TABLE_POP_VLAN | TABLE_PUSH_VLAN)) {
        return xasprintf("set-vlan=%u: must not be together with %s, since "
                         "it is for a tag that stays; pop-vlan and push-vlan "
                         "put another tag in its place",
                         e->set_vlan, e->rewrite & TABLE_POP_VLAN
                                      ? "pop-vlan" : "push-vlan");
    }
    return NULL;
}

char *
prefix_draft_finish(const struct prefix_draft *draft)
{
    const struct prefix_entry *e = draft->entry;

    if (!is_given(draft, MEMBER_PREFIX)) {
        return xstrdup("prefix: missing; every entry needs one");
    } else if (!is_given(draft, MEMBER_ACTION)) {
        return xstrdup("action: missing; must be redirect, drop, host or "
                       "userspace");
    } else if (e->action == PREFIX_REDIRECT) {
        return finish_redirect(draft);
    }
    for (enum prefix_member m = 0; m < N_PREFIX_MEMBERS; m++) {
        bool for_redirect = (m == MEMBER_PORT
                             || (m >= MEMBER_SET_SMAC
                                 && m <= MEMBER_SET_VLAN));

        if (for_redirect && is_given(draft, m)) {
            return xasprintf("%s: must not be with the action %s, only with "
                             "redirect", names[m],
                             prefix_action_to_string(e->action));
        }
    }
    return NULL;
}
