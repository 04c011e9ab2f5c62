/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_TARGETS_H
#define PREFIX_TARGETS_H 1

/* The ports that a prefix table redirects to: their indexes in the daemon's
 * table of targets, and which of them cannot be used.  Main thread, where not
 * said otherwise. */

#include <stdbool.h>
#include <stddef.h>

#include "openvswitch/shash.h"
#include "prefix-set.h"
#include "prefix-trie.h"

struct ds;

struct prefix_targets {
    struct shash by_name;       /* Of struct prefix_verdict. */
};

void prefix_targets_init(struct prefix_targets *);
void prefix_targets_uninit(struct prefix_targets *);
void prefix_targets_swap(struct prefix_targets *, struct prefix_targets *);

char *prefix_targets_resolve(struct prefix_targets *, const char *port,
                             const struct prefix_set *);
bool prefix_targets_changed(const struct prefix_targets *, const char *port);
struct prefix_verdict prefix_targets_verdict(const struct prefix_entry *,
                                             void *targets);

char *prefix_target_explain(const char *target, const char *port);
char *prefix_target_refuse(const char *target, const char *port);
void prefix_targets_format_waiting(const struct prefix_targets *,
                                   const char *port, struct ds *);

#endif /* prefix-targets.h */
