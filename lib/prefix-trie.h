/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_TRIE_H
#define PREFIX_TRIE_H 1

/* Builds the memory of a prefix table (xdp-table-layout.h) from a set, and
 * looks addresses up in it as the program does.
 *
 * Thread rule: any thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prefix-set.h"
#include "xdp-table-layout.h"

/* What the program is to do for an entry: TABLE_REDIRECT and a target's
 * index, or TABLE_NOT_OFFLOADED where that cannot be. */
struct prefix_verdict {
    enum table_action action;
    uint32_t target;
};

struct prefix_blob {
    struct table_line *lines;       /* Page-aligned, of n_lines * 64 bytes. */
    size_t n_lines;
    uint32_t active_flags;          /* TABLE_ACTIVE_SRC, ...: what verdicts
                                     * depend on. */
};

/* Builds the table of 'set'; entry I of the set is entry I of the table.
 * 'resolve' says what each PREFIX_REDIRECT comes to; the others need no
 * asking.  Returns NULL, or what is wrong, for the caller to free: entries
 * limited to VLANs or MACs can be too many for one address
 * (TABLE_MAX_CHAIN), and a table too large for 2^31 lines. */
char *prefix_blob_build(const struct prefix_set *set,
                        struct prefix_verdict (*resolve)(
                            const struct prefix_entry *, void *aux),
                        void *aux, struct prefix_blob *);
void prefix_blob_uninit(struct prefix_blob *);

/* What a frame is looked up by. */
struct prefix_query {
    bool ipv6;
    uint8_t src[16], dst[16];       /* Network order; IPv4: the first 4. */
    bool has_src;                   /* Else source entries are passed over. */
    uint16_t vlan;                  /* 0: no tag. */
    uint8_t mac[6];
};

/* Returns the index of the entry that a frame like 'query' meets, or
 * TABLE_NO_ENTRY, from the memory that the program reads. */
uint32_t prefix_blob_lookup(const struct table_line *lines,
                            const struct prefix_query *);

#endif /* prefix-trie.h */
