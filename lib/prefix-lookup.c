/* SPDX-License-Identifier: Apache-2.0 */

/* Command of the control socket: afxdp-fast/prefix-lookup. */

#include <config.h>
#include "prefix-lookup.h"

#include <arpa/inet.h>
#include <string.h>

#include "netdev-afxdp-fast-private.h"
#include "netdev.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/json.h"
#include "packets.h"
#include "prefix-table.h"
#include "util.h"
#include "xdp-targets.h"

/* The frame that the question is about. */
struct question {
    struct prefix_query query;
    struct eth_addr mac;
    bool has_mac;
};

/* What becomes of it. */
struct outcome {
    const struct prefix_entry *entry;   /* Or NULL. */
    enum prefix_action action;          /* In truth, not what 'entry' says. */
    char *reason;                       /* Why not that, or NULL. */
    char *hint;                         /* What the answer leaves out, or
                                         * NULL. */
};

/* Arguments. */

/* Stores the address that 'text' is in 'addr', which has room for 16 bytes.
 * Returns false if it is none. */
static bool
parse_address(const char *text, uint8_t *addr, bool *ipv6)
{
    memset(addr, 0, 16);
    *ipv6 = strchr(text, ':') != NULL;
    return inet_pton(*ipv6 ? AF_INET6 : AF_INET, text, addr) == 1;
}

static char *
parse_source(const char *value, struct question *question)
{
    bool ipv6;

    question->query.has_src = true;
    if (!parse_address(value, question->query.src, &ipv6)) {
        return xasprintf("src=%s: must be an IPv4 or IPv6 address", value);
    }
    return (ipv6 == question->query.ipv6 ? NULL
            : xasprintf("src=%s: must be an %s address, as the destination "
                        "is", value, question->query.ipv6 ? "IPv6" : "IPv4"));
}

static char *
parse_mac(const char *value, struct question *question)
{
    question->has_mac = true;
    if (!eth_addr_from_string(value, &question->mac)) {
        return xasprintf("dmac=%s: must be a MAC address", value);
    }
    memcpy(question->query.mac, question->mac.ea, ETH_ADDR_LEN);
    return NULL;
}

static bool
parse_question(struct appctl_asker asker, int argc, const char *argv[],
            struct question *question)
{
    char *error = NULL;

    if (!appctl_check_once(asker, argc, argv, 3)) {
        return false;
    }
    memset(question, 0, sizeof *question);
    if (!parse_address(argv[2], question->query.dst, &question->query.ipv6)) {
        error = xasprintf("%s: must be an IPv4 or IPv6 address", argv[2]);
    }
    for (int i = 3; i < argc && !error; i++) {
        const char *src = appctl_arg_value(argv[i], "src");
        const char *vlan = appctl_arg_value(argv[i], "vlan");
        const char *dmac = appctl_arg_value(argv[i], "dmac");
        unsigned int id;

        if (src) {
            error = parse_source(src, question);
        } else if (dmac) {
            error = parse_mac(dmac, question);
        } else if (!vlan) {
            error = xasprintf("%s: must be src=ADDRESS, vlan=N or dmac=MAC",
                              argv[i]);
        } else if (appctl_parse_number(asker, "vlan", vlan, 4094, &id)) {
            question->query.vlan = id;
        } else {
            return false;
        }
    }
    if (error) {
        appctl_reply_error(asker, error);
        free(error);
    }
    return !error;
}

/* The outcome. */

/* Returns why frames to this destination are never redirected, or NULL. */
static const char *
why_never_redirected(const struct question *question)
{
    const uint8_t *dst = question->query.dst;
    bool multicast, link_local, broadcast = false;

    if (question->query.ipv6) {
        multicast = dst[0] == 0xff;
        link_local = dst[0] == 0xfe && (dst[1] & 0xc0) == 0x80;
    } else {
        multicast = (dst[0] & 0xf0) == 0xe0;
        link_local = dst[0] == 169 && dst[1] == 254;
        broadcast = !memcmp(dst, "\xff\xff\xff\xff", 4);
    }
    return (multicast ? "multicast addresses are never redirected"
            : link_local ? "link-local addresses are never redirected"
            : broadcast ? "broadcast addresses are never redirected"
            : question->has_mac && eth_addr_is_multicast(question->mac)
            ? "frames to group MAC addresses are never redirected"
            : NULL);
}

/* Returns why 'target' is not ready, for the caller to free, or NULL. */
static char *
why_not_ready(const char *target)
{
    struct xdp_target_info info;
    char *reason = NULL;
    uint32_t index;

    if (!xdp_target_ref(target, &index)) {
        return xasprintf("all %d targets are taken", TABLE_N_TARGETS);
    }
    if (xdp_target_get_info(index, &info) && !info.target.ready) {
        reason = xasprintf("target %s is not ready%s%s", target,
                           info.reason ? ": " : "",
                           info.reason ? info.reason : "");
    }
    xdp_target_unref(index);
    return reason;
}

/* Returns true if some source entry is of the family 'ipv6'. */
static bool
has_source_entries(const struct prefix_set *set, bool ipv6)
{
    for (size_t i = 0; set && i < set->n; i++) {
        if (set->entries[i].key.src && set->entries[i].key.ipv6 == ipv6) {
            return true;
        }
    }
    return false;
}

static void
look_up(const struct prefix_table *table, const struct question *question,
        struct outcome *o)
{
    const char *never = why_never_redirected(question);

    *o = (struct outcome) { .action = PREFIX_USERSPACE };
    o->entry = prefix_table_lookup(table, &question->query);
    if (o->entry) {
        o->action = o->entry->action;
        o->reason = prefix_table_explain(table, o->entry);
        if (!o->reason && o->action == PREFIX_REDIRECT) {
            o->reason = (never ? xstrdup(never)
                         : why_not_ready(o->entry->target));
        }
        if (o->reason) {
            o->action = PREFIX_USERSPACE;
        }
    }
    if (!question->query.has_src
        && has_source_entries(prefix_table_get_set(table),
                              question->query.ipv6)) {
        o->hint = xstrdup("there are source entries, which may decide "
                          "otherwise: see with src=ADDRESS");
    }
}

/* The answer. */

static char *
format_outcome(const char *address, const struct outcome *o)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    ds_put_format(&ds, "%s:\n  entry: ", address);
    if (o->entry) {
        prefix_entry_format(o->entry, &ds);
    } else {
        ds_put_cstr(&ds, "none");
    }
    ds_put_format(&ds, "\n  goes to: %s%s%s\n",
                  (o->action == PREFIX_REDIRECT ? "port "
                   : o->action == PREFIX_DROP ? "nowhere, is dropped"
                   : prefix_action_to_string(o->action)),
                  o->action == PREFIX_REDIRECT ? o->entry->target : "",
                  o->action == PREFIX_REDIRECT ? ", which is ready" : "");
    if (o->reason) {
        ds_put_format(&ds, "  reason: %s\n", o->reason);
    }
    if (o->hint) {
        ds_put_format(&ds, "  hint: %s\n", o->hint);
    }
    return ds_steal_cstr(&ds);
}

static struct json *
outcome_to_json(const char *port, const char *address,
                const struct outcome *o)
{
    struct json *json = json_object_create();

    json_put_text(json, "port", port);
    json_put_text(json, "address", address);
    json_object_put(json, "entry", (o->entry ? prefix_entry_to_json(o->entry)
                                    : json_null_create()));
    json_put_text(json, "verdict", prefix_action_to_string(o->action));
    json_put_text(json, "target", (o->action == PREFIX_REDIRECT
                                   ? o->entry->target : NULL));
    json_put_text(json, "reason", o->reason);
    json_put_text(json, "hint", o->hint);
    return json;
}

void
prefix_lookup(struct appctl_asker asker, int argc, const char *argv[])
{
    const struct netdev_afxdp_fast *dev = appctl_find_port(asker, argv[1]);
    struct question question;
    struct outcome o;

    if (!dev || !parse_question(asker, argc, argv, &question)) {
        return;
    }
    look_up(dev->prefixes, &question, &o);
    if (asker.json) {
        appctl_reply_json(asker, outcome_to_json(argv[1], argv[2], &o));
    } else {
        char *text = format_outcome(argv[2], &o);

        appctl_reply(asker, text);
        free(text);
    }
    free(o.reason);
    free(o.hint);
}
