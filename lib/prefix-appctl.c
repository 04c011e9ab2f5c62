/* SPDX-License-Identifier: Apache-2.0 */

/* The commands that change a prefix table: afxdp-fast/prefix-apply, -add, -del
 * and -rollback; and the registration of the others. */

#include <config.h>
#include "prefix-appctl.h"

#include <string.h>

#include "appctl-command.h"
#include "netdev-afxdp-fast-private.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/json.h"
#include "prefix-check.h"
#include "prefix-lookup.h"
#include "prefix-show.h"
#include "prefix-table.h"
#include "util.h"

/* A change that is under way. */
struct change {
    struct appctl_asker asker;
    char *port;
    char *notice;                   /* For the answer, or NULL. */
};

static struct change *
change_create(struct appctl_asker asker, const char *port)
{
    struct change *change = xzalloc(sizeof *change);

    change->asker = asker;
    change->port = xstrdup(port);
    return change;
}

static void
answer_done(const struct change *change, const struct prefix_table *table)
{
    if (change->asker.json) {
        struct json *object = json_object_create();

        prefix_show_put_head(change->port, table, object);
        json_put_text(object, "notice", change->notice);
        appctl_reply_json(change->asker, object);
    } else {
        struct ds ds = DS_EMPTY_INITIALIZER;

        if (change->notice) {
            ds_put_format(&ds, "notice: %s\n", change->notice);
        }
        ds_put_format(&ds, "%s:\n", change->port);
        prefix_show_head(table, &ds);
        appctl_reply(change->asker, ds_cstr(&ds));
        ds_destroy(&ds);
    }
}

/* A prefix_done_cb.  With an error the table may be on its way out. */
static void
change_done(struct prefix_table *table, const char *error, void *change_)
{
    struct change *change = change_;

    if (error) {
        appctl_reply_error(change->asker, error);
    } else {
        answer_done(change, table);
    }
    free(change->notice);
    free(change->port);
    free(change);
}

/* A prefix_done_cb of a roll-back, which may have left no pin. */
static void
rollback_done(struct prefix_table *table, const char *error, void *change_)
{
    struct change *change = change_;

    if (!error) {
        change->notice = nullable_xstrdup(prefix_table_pin_error(table));
    }
    change_done(table, error, change);
}

static void
prefix_apply(struct appctl_asker asker, int argc OVS_UNUSED,
             const char *argv[])
{
    struct netdev_afxdp_fast *dev = appctl_find_port(asker, argv[1]);

    if (dev) {
        prefix_table_apply(dev->prefixes, change_done,
                           change_create(asker, argv[1]));
    }
}

static void
prefix_rollback(struct appctl_asker asker, int argc OVS_UNUSED,
                const char *argv[])
{
    struct netdev_afxdp_fast *dev = appctl_find_port(asker, argv[1]);

    if (dev) {
        prefix_table_rollback(dev->prefixes, rollback_done,
                              change_create(asker, argv[1]));
    }
}

/* Returns why a command may not add 'entry', for the caller to free, or
 * NULL. */
static char *
check_entry(const struct prefix_table *table,
            const struct prefix_entry *entry)
{
    struct prefix_set *set;
    char *error;

    error = prefix_set_with(NULL, entry, &set);
    if (!error) {
        error = prefix_table_check_set(table, set);
        prefix_set_unref(set);
    }
    return error;
}

static char *
format_key(const struct prefix_entry *entry)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    prefix_entry_format_key(entry, &ds);
    return ds_steal_cstr(&ds);
}

static void
prefix_add(struct appctl_asker asker, int argc OVS_UNUSED,
           const char *argv[])
{
    struct netdev_afxdp_fast *dev = appctl_find_port(asker, argv[1]);
    struct prefix_entry entry;
    bool masked;
    char *error;

    if (!dev) {
        return;
    }
    error = prefix_entry_parse(argv[2], &entry, &masked);
    if (error) {
        appctl_reply_error(asker, error);
        free(error);
        return;
    }
    error = check_entry(dev->prefixes, &entry);
    if (error) {
        appctl_reply_error(asker, error);
        free(error);
    } else {
        struct change *change = change_create(asker, argv[1]);

        if (masked) {
            char *key = format_key(&entry);

            change->notice = xasprintf("%s: host bits are cleared: %s",
                                       argv[2], key);
            free(key);
        }
        prefix_table_add(dev->prefixes, &entry, change_done, change);
    }
    prefix_entry_uninit(&entry);
}

/* Parses an entry, or only its key.  '*has_action' says which.  Returns what
 * is wrong, for the caller to free, or NULL. */
static char *
parse_entry_or_key(const char *text, struct prefix_entry *entry,
                   bool *has_action)
{
    bool masked;

    /* A key has an equals sign behind its first comma only, if at all. */
    *has_action = memchr(text, '=', strcspn(text, ",")) != NULL;
    return (*has_action ? prefix_entry_parse : prefix_entry_parse_key)(
        text, entry, &masked);
}

/* Returns why 'entry', of which the action was said as well, is not what is
 * there, for the caller to free.  Returns NULL if it is, or if there is no
 * such entry, which the table says. */
static char *
check_action(const struct prefix_table *table,
             const struct prefix_entry *entry)
{
    const struct prefix_set *set = prefix_table_get_set(table);
    const struct prefix_entry *there;
    struct ds ds = DS_EMPTY_INITIALIZER;

    there = set ? prefix_set_find(set, entry) : NULL;
    if (!there || prefix_entry_same_action(there, entry)) {
        return NULL;
    }
    prefix_entry_format(entry, &ds);
    ds_put_cstr(&ds, ": the entry is another one: ");
    prefix_entry_format(there, &ds);
    return ds_steal_cstr(&ds);
}

static void
prefix_del(struct appctl_asker asker, int argc OVS_UNUSED,
           const char *argv[])
{
    struct netdev_afxdp_fast *dev = appctl_find_port(asker, argv[1]);
    struct prefix_entry entry;
    bool has_action;
    char *error;

    if (!dev) {
        return;
    }
    error = parse_entry_or_key(argv[2], &entry, &has_action);
    if (error) {
        appctl_reply_error(asker, error);
        free(error);
        return;
    }
    error = has_action ? check_action(dev->prefixes, &entry) : NULL;
    if (error) {
        appctl_reply_error(asker, error);
        free(error);
    } else {
        prefix_table_del(dev->prefixes, &entry, change_done,
                         change_create(asker, argv[1]));
    }
    prefix_entry_uninit(&entry);
}

void
prefix_appctl_init(void)
{
    static const struct appctl_command commands[] = {
        { "afxdp-fast/prefix-check", "PORT FILE [limit=N]", 2, 3,
          prefix_check },
        { "afxdp-fast/prefix-apply", "PORT", 1, 1, prefix_apply },
        { "afxdp-fast/prefix-add", "PORT ENTRY", 2, 2, prefix_add },
        { "afxdp-fast/prefix-del", "PORT ENTRY", 2, 2, prefix_del },
        { "afxdp-fast/prefix-show", "PORT [PREFIX] [from=N] [limit=N]", 1, 4,
          prefix_show },
        { "afxdp-fast/prefix-lookup",
          "PORT ADDRESS [src=ADDRESS] [vlan=N] [dmac=MAC]", 2, 5,
          prefix_lookup },
        { "afxdp-fast/prefix-rollback", "PORT", 1, 1, prefix_rollback },
        { "afxdp-fast/prefix-history", "PORT", 1, 1, prefix_history },
    };

    appctl_commands_register(commands, ARRAY_SIZE(commands));
}
