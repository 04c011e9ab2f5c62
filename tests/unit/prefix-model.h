/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_MODEL_H
#define PREFIX_MODEL_H 1

/* What a prefix table means, in the simplest way that is fast enough: for
 * each length a sorted list, asked from the longest on.  Knows nothing of
 * tries. */

#include "prefix-set.h"
#include "prefix-trie.h"

/* Entries of one family, direction and length, by address. */
struct prefix_model_list {
    const struct prefix_entry **entries;
    size_t n;
};

struct prefix_model {
    const struct prefix_set *set;
    struct prefix_model_list lists[2][2][129];  /* [ipv6][src][length] */
};

void prefix_model_init(struct prefix_model *, const struct prefix_set *);
void prefix_model_uninit(struct prefix_model *);

/* Returns the index in the set of the entry for 'query', or
 * TABLE_NO_ENTRY. */
uint32_t prefix_model_lookup(const struct prefix_model *,
                             const struct prefix_query *query);

/* Is 'entry' for frames like 'query'?  Of two that are, the one with the
 * higher rank wins. */
bool prefix_model_matches(const struct prefix_entry *entry,
                          const struct prefix_query *query);
int prefix_model_rank(const struct prefix_entry *entry);

/* Clears all bits of 'addr' but the first 'len'; sets them. */
void prefix_model_first(uint8_t addr[16], unsigned int len);
void prefix_model_last(uint8_t addr[16], unsigned int len, bool ipv6);

#endif /* prefix-model.h */
