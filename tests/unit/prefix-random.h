/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_RANDOM_H
#define PREFIX_RANDOM_H 1

/* Random prefix tables, in which prefixes lie inside and beside each other,
 * and frames that meet their edges. */

#include "prefix-set.h"
#include "prefix-trie.h"
#include "unit-random.h"

struct prefix_random_opts {
    size_t n_ipv4, n_ipv6;      /* Entries; a few less where two were drawn
                                 * alike. */
    unsigned int src_percent;       /* Of them match the source, */
    unsigned int limited_percent;   /* are limited to a VLAN, MAC or both. */
};

/* Returns a set that prefix_random_free() frees.  Actions are random as well;
 * targets are named "t0" to "t3". */
struct prefix_set *prefix_random_set(struct unit_random *,
                                     const struct prefix_random_opts *);
struct prefix_set *prefix_random_from(struct prefix_entry *entries, size_t n);
void prefix_random_free(struct prefix_set *);

/* For prefix_blob_build(): "tN" is target N, but "t3" is none that frames can
 * be redirected to.  'aux' is a size_t that counts the calls. */
struct prefix_verdict prefix_random_resolve(const struct prefix_entry *,
                                            void *aux);

/* Draws the addresses, VLAN and MAC of a frame: an address is the first or
 * last of an entry, the one before or behind, or one inside. */
void prefix_random_query(struct unit_random *, const struct prefix_set *,
                         struct prefix_query *);

#endif /* prefix-random.h */
