/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-targets.h"

#include "bridge-info.h"
#include "netdev-afxdp-fast-private.h"
#include "netdev.h"
#include "openvswitch/dynamic-string.h"
#include "util.h"
#include "xdp-targets.h"

void
prefix_targets_init(struct prefix_targets *targets)
{
    shash_init(&targets->by_name);
}

/* Gives back all indexes. */
void
prefix_targets_uninit(struct prefix_targets *targets)
{
    struct shash_node *node;

    SHASH_FOR_EACH (node, &targets->by_name) {
        const struct prefix_verdict *verdict = node->data;

        xdp_target_unref(verdict->target);
    }
    shash_destroy_free_data(&targets->by_name);
}

void
prefix_targets_swap(struct prefix_targets *a, struct prefix_targets *b)
{
    shash_swap(&a->by_name, &b->by_name);
}

static bool
is_port(const char *name)
{
    const struct netdev_afxdp_fast *dev = NULL;

    while ((dev = netdev_afxdp_fast_next(dev)) != NULL) {
        if (!strcmp(netdev_get_name(&dev->lin.up), name)) {
            return true;
        }
    }
    return false;
}

/* Returns why frames of 'port' must not go to 'target' past OVS, which keeps
 * bridges apart, or NULL.  A port that is in no bridge yet is no reason.  The
 * caller frees it. */
static char *
explain_bridge(const char *target, const char *port)
{
    struct bridge_info ours, theirs;
    char *reason = NULL;

    bridge_info_of_port(port, &ours);
    bridge_info_of_port(target, &theirs);
    if (ours.name && theirs.name && strcmp(ours.name, theirs.name)) {
        reason = xasprintf("%s is in bridge %s, %s in %s", target,
                           theirs.name, port, ours.name);
    }
    bridge_info_uninit(&ours);
    bridge_info_uninit(&theirs);
    return reason;
}

/* Returns why 'target' is none of its own port's, for the caller to free. */
static char *
explain_self(const char *target)
{
    return xasprintf("redirect:%s: a port cannot be the target of its own "
                     "entries; must be another afxdp-fast port of the bridge",
                     target);
}

/* Takes the index of the target of 'entry', of port 'port', for '*index'.
 * Returns NULL or why that cannot be, for the caller to free. */
static char *
take_target(const struct prefix_entry *entry, const char *port,
            uint32_t *index)
{
    if (!strcmp(entry->target, port)) {
        return explain_self(port);
    } else if (!xdp_target_ref(entry->target, index)) {
        return xasprintf("redirect:%s: all tables together can have %d "
                         "targets", entry->target, TABLE_N_TARGETS);
    }
    return NULL;
}

static enum table_action
action_of(const char *target, const char *port)
{
    char *reason = explain_bridge(target, port);

    free(reason);
    return reason ? TABLE_NOT_OFFLOADED : TABLE_REDIRECT;
}

/* Takes an index for each target of 'set', a table of port 'port'.  Returns
 * NULL, or why that cannot be, which the caller frees; 'targets' then has
 * some of them and is to be given back all the same. */
char *
prefix_targets_resolve(struct prefix_targets *targets, const char *port,
                       const struct prefix_set *set)
{
    for (size_t i = 0; i < set->n_firsts; i++) {
        const struct prefix_entry *e = &set->entries[set->firsts[i]];
        struct prefix_verdict *verdict;
        uint32_t index;
        char *reason = take_target(e, port, &index);

        if (reason) {
            char *text = prefix_set_describe(set, e, reason);

            free(reason);
            return text;
        }
        verdict = xmalloc(sizeof *verdict);
        verdict->action = action_of(e->target, port);
        verdict->target = index;
        shash_add(&targets->by_name, e->target, verdict);
    }
    return NULL;
}

/* Returns true if resolving anew would come to other verdicts, since ports
 * have moved between bridges. */
bool
prefix_targets_changed(const struct prefix_targets *targets, const char *port)
{
    const struct shash_node *node;

    SHASH_FOR_EACH (node, &targets->by_name) {
        const struct prefix_verdict *verdict = node->data;

        if (verdict->action != action_of(node->name, port)) {
            return true;
        }
    }
    return false;
}

/* For prefix_blob_build(): what 'entry' comes to, with 'targets_' that it has
 * been resolved into.  Any thread, as long as nobody changes them. */
struct prefix_verdict
prefix_targets_verdict(const struct prefix_entry *entry, void *targets_)
{
    const struct prefix_targets *targets = targets_;

    return *(const struct prefix_verdict *) shash_find_data(
        &targets->by_name, entry->target);
}

/* Returns why frames that 'port' should redirect to 'target' go up now, or
 * NULL if they do not.  The caller frees it. */
char *
prefix_target_explain(const char *target, const char *port)
{
    struct xdp_target_info info;
    char *reason = explain_bridge(target, port);
    uint32_t index;

    if (!reason && xdp_target_ref(target, &index)) {
        if (xdp_target_get_info(index, &info)) {
            reason = nullable_xstrdup(info.reason);
        }
        xdp_target_unref(index);
    }
    return reason;
}

/* Returns why a command must not make 'port' redirect to 'target', or NULL.
 * Options and files are less strict: when the daemon starts, ports come up one
 * after another.  The caller frees it. */
char *
prefix_target_refuse(const char *target, const char *port)
{
    if (!strcmp(target, port)) {
        return explain_self(target);
    }
    if (!is_port(target)) {
        return xasprintf("redirect:%s: there is no afxdp-fast port of that "
                         "name", target);
    }

    char *reason = explain_bridge(target, port);

    if (reason) {
        char *text = xasprintf("redirect:%s: %s; must be a port of the same "
                               "bridge", target, reason);

        free(reason);
        return text;
    }
    return NULL;
}

/* Appends the targets that cannot be used now, each with the reason. */
void
prefix_targets_format_waiting(const struct prefix_targets *targets,
                              const char *port, struct ds *ds)
{
    const struct shash_node **nodes = shash_sort(&targets->by_name);
    size_t start = ds->length;

    for (size_t i = 0; i < shash_count(&targets->by_name); i++) {
        char *reason = prefix_target_explain(nodes[i]->name, port);

        if (reason) {
            ds_put_format(ds, "%s%s: %s", ds->length > start ? "; " : "",
                          nodes[i]->name, reason);
            free(reason);
        }
    }
    free(nodes);
}
