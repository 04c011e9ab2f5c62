/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-trie.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "openvswitch/dynamic-string.h"
#include "openvswitch/util.h"
#include "util.h"

/* A root of 16 bits spares one step of IPv4 and two of IPv6, and takes 256 kB:
 * four times what so many entries take. */
#define LARGE_ROOT_PREFIXES 1024

/* Nodes below the root on the way to the longest prefix. */
#define IPV4_DENSE_DEPTH ((TABLE_IPV4_DENSE_BITS - TABLE_MIN_ROOT_BITS) \
                          / TABLE_IPV4_STRIDE)
#define IPV4_LOW_DEPTH ((32 - TABLE_IPV4_DENSE_BITS) / TABLE_LOW_STRIDE)
#define IPV6_DEPTH ((128 - TABLE_MIN_ROOT_BITS) / TABLE_LOW_STRIDE)
#define MAX_DEPTH MAX(IPV4_DENSE_DEPTH + IPV4_LOW_DEPTH, IPV6_DEPTH)

#define NODE_LINES(STRIDE) ((1U << (STRIDE)) / TABLE_WORDS)

/* Lines that an entry can need, its own among them. */
#define IPV4_ENTRY_LINES (1 \
                          + IPV4_DENSE_DEPTH * NODE_LINES(TABLE_IPV4_STRIDE) \
                          + IPV4_LOW_DEPTH * NODE_LINES(TABLE_LOW_STRIDE))
#define IPV6_ENTRY_LINES (1 + IPV6_DEPTH * NODE_LINES(TABLE_LOW_STRIDE))

/* A word has 31 bits for the number of a line, and of an entry. */
BUILD_ASSERT_DECL((uint64_t) PREFIX_SET_MAX * MAX(IPV4_ENTRY_LINES,
                                                  IPV6_ENTRY_LINES)
                  + TABLE_N_TRIES * NODE_LINES(TABLE_MAX_ROOT_BITS) + 1
                  < TABLE_LEAF);

/* A trie to be, and the entries that go into it, which stand side by side in
 * the set.  The nodes at depth D, of which the root has 0, are chosen from by
 * the address's bits ofs[D] up to ofs[D + 1]. */
struct trie {
    const struct prefix_entry *entries;     /* Of the whole set. */
    size_t first, end;
    uint8_t ofs[MAX_DEPTH + 2];
};

/* The same number for 'enum table_trie' and for the order of the set. */
static enum table_trie
trie_of_entry(const struct prefix_entry *e)
{
    return (e->key.ipv6 ? TABLE_IPV6_SRC : TABLE_IPV4_SRC) + !e->key.src;
}

/* Returns the stride of nodes below the root that begin at bit 'ofs'. */
static unsigned int
trie_stride(enum table_trie trie, unsigned int ofs)
{
    return ((trie == TABLE_IPV4_SRC || trie == TABLE_IPV4_DST)
            && ofs < TABLE_IPV4_DENSE_BITS
            ? TABLE_IPV4_STRIDE : TABLE_LOW_STRIDE);
}

static void
set_strides(struct trie *trie, enum table_trie t)
{
    unsigned int len = (t == TABLE_IPV4_SRC || t == TABLE_IPV4_DST
                        ? 32 : 128);
    unsigned int ofs = (trie->end - trie->first >= LARGE_ROOT_PREFIXES
                        ? TABLE_MAX_ROOT_BITS : TABLE_MIN_ROOT_BITS);

    trie->ofs[0] = 0;
    trie->ofs[1] = ofs;
    for (unsigned int depth = 1; ofs < len; depth++) {
        ofs += trie_stride(t, ofs);
        trie->ofs[depth + 1] = ofs;
    }
}

/* Divides the entries of 'set' among the 'tries'. */
static void
find_tries(const struct prefix_set *set, struct trie tries[TABLE_N_TRIES])
{
    size_t i = 0;

    for (int t = 0; t < TABLE_N_TRIES; t++) {
        struct trie *trie = &tries[t];

        trie->entries = set->entries;
        trie->first = i;
        while (i < set->n && trie_of_entry(&set->entries[i]) == t) {
            i++;
        }
        trie->end = i;
        set_strides(trie, t);
    }
    ovs_assert(i == set->n);
}

/* Returns the 'n' bits of 'addr' from bit 'ofs' on.  As nodes are, they are
 * half a byte, one or two, and cross the border of a byte only as 16. */
static unsigned int
addr_bits(const uint8_t *addr, unsigned int ofs, unsigned int n)
{
    unsigned int byte = addr[ofs / 8];

    return (n == 16 ? byte << 8 | addr[ofs / 8 + 1]
            : n == 8 ? byte
            : byte >> (4 - ofs % 8) & 0xf);
}

/* Returns how many bits, from the first on, 'a' and 'b' have in common. */
static unsigned int
common_bits(const uint8_t *a, const uint8_t *b)
{
    for (unsigned int i = 0; i < 16; i++) {
        if (a[i] != b[i]) {
            return i * 8 + clz32(a[i] ^ b[i]) - 24;
        }
    }
    return 128;
}

/* Returns how many bits choose from the nodes at 'depth'. */
static unsigned int
depth_bits(const struct trie *trie, unsigned int depth)
{
    return trie->ofs[depth + 1] - trie->ofs[depth];
}

/* Returns the depth of the node whose words prefixes of 'len' bits fill. */
static unsigned int
depth_of_len(const struct trie *trie, unsigned int len)
{
    unsigned int depth = 0;

    while (len > trie->ofs[depth + 1]) {
        depth++;
    }
    return depth;
}

/* Returns the depth of the last node that is on the way both to entry 'i' and
 * to the entry before, where the latter's way has nodes down to 'depth'. */
static unsigned int
shared_depth(const struct trie *trie, size_t i, unsigned int depth)
{
    unsigned int common;

    if (i == trie->first) {
        return 0;
    }
    common = common_bits(trie->entries[i - 1].key.addr,
                         trie->entries[i].key.addr);
    while (trie->ofs[depth] > common) {
        depth--;
    }
    return depth;
}

/* Returns the number of lines that 'trie' takes. */
static size_t
trie_lines(const struct trie *trie)
{
    size_t n_lines = NODE_LINES(depth_bits(trie, 0));
    unsigned int depth = 0;

    if (trie->first == trie->end) {
        return 0;
    }
    for (size_t i = trie->first; i < trie->end; i++) {
        unsigned int want = depth_of_len(trie, trie->entries[i].key.len);

        for (depth = shared_depth(trie, i, depth); depth < want; depth++) {
            n_lines += NODE_LINES(depth_bits(trie, depth + 1));
        }
    }
    return n_lines;
}

/* Memory of the table. */

static uint32_t *
node_words(struct table_line *lines, uint32_t line)
{
    return (uint32_t *) &lines[line];
}

static const uint32_t *
node_words_const(const struct table_line *lines, uint32_t line)
{
    return (const uint32_t *) &lines[line];
}

static const struct table_header *
get_header(const struct table_line *lines)
{
    return (const struct table_header *) lines;
}

static const struct table_entry *
get_entry(const struct table_line *lines, uint32_t i)
{
    return ALIGNED_CAST(const struct table_entry *,
                        &lines[get_header(lines)->entries + i]);
}

static struct table_entry *
get_entry_rw(struct table_line *lines, uint32_t i)
{
    return CONST_CAST(struct table_entry *, get_entry(lines, i));
}

/* Returns how many entries there are to try for addresses that start with
 * entry 'i', one more than allowed at most. */
static unsigned int
chain_length(const struct table_line *lines, uint32_t i)
{
    unsigned int n;

    for (n = 0; i != TABLE_NO_ENTRY && n <= TABLE_MAX_CHAIN; n++) {
        i = get_entry(lines, i)->next;
    }
    return n;
}

static char *
chain_error(const struct prefix_entry *e)
{
    struct ds key = DS_EMPTY_INITIALIZER;
    char *error;

    prefix_entry_format_key(e, &key);
    error = xasprintf("entry %u: %s: with the entries for its prefix, and for "
                      "shorter ones, that are limited to a VLAN or a MAC, "
                      "there are more than %d to try for one address",
                      e->number, ds_cstr(&key), TABLE_MAX_CHAIN);
    ds_destroy(&key);
    return error;
}

static bool
same_prefix(const struct prefix_entry *a, const struct prefix_entry *b)
{
    return (a->key.len == b->key.len
            && !memcmp(a->key.addr, b->key.addr, sizeof a->key.addr));
}

/* Says which entries to try after the one at 'first', up to the one before
 * 'end': all those of one prefix, for addresses where 'cover' was the word of
 * the trie without them. */
static char *
link_entries(const struct trie *trie, struct table_line *lines,
             size_t first, size_t end, uint32_t cover)
{
    uint32_t rest = cover ? cover & ~TABLE_LEAF : TABLE_NO_ENTRY;

    for (size_t i = end; i-- > first; ) {
        struct table_entry *e = get_entry_rw(lines, i);

        e->next = e->mask ? rest : TABLE_NO_ENTRY;
        rest = i;
    }
    return (chain_length(lines, first) > TABLE_MAX_CHAIN
            ? chain_error(&trie->entries[first]) : NULL);
}

/* Adds a node of 'bits' below 'slot', on line 'line': all of it is what 'slot'
 * was. */
static void
add_node(struct table_line *lines, unsigned int bits, uint32_t *slot,
         uint32_t line)
{
    uint32_t *words = node_words(lines, line);

    for (unsigned int i = 0; i < 1U << bits; i++) {
        words[i] = *slot;
    }
    *slot = line;
}

/* Makes the prefix of the entries from 'first' up to 'end' the one of all
 * words below it, in the node on line 'node' at 'depth'. */
static char *
add_prefix(const struct trie *trie, struct table_line *lines, uint32_t node,
           unsigned int depth, size_t first, size_t end)
{
    const struct prefix_entry *e = &trie->entries[first];
    unsigned int ofs = trie->ofs[depth];
    unsigned int bits = depth_bits(trie, depth);
    uint32_t *words = node_words(lines, node) + addr_bits(e->key.addr, ofs,
                                                          bits);
    uint32_t cover = *words;

    /* Longer prefixes come later: there is no node yet where this one goes. */
    ovs_assert(!cover || cover & TABLE_LEAF);
    for (unsigned int i = 0; i < 1U << (ofs + bits - e->key.len); i++) {
        words[i] = TABLE_LEAF | first;
    }
    return link_entries(trie, lines, first, end, cover);
}

/* Builds 'trie' from the line '*line' on, and moves '*line' behind it. */
static char *
build_trie(const struct trie *trie, struct table_line *lines, uint32_t *line)
{
    uint32_t path[MAX_DEPTH + 1] = { *line };
    unsigned int depth = 0;
    size_t end;

    *line += NODE_LINES(depth_bits(trie, 0));
    for (size_t i = trie->first; i < trie->end; i = end) {
        const struct prefix_entry *e = &trie->entries[i];
        unsigned int want = depth_of_len(trie, e->key.len);
        char *error;

        for (depth = shared_depth(trie, i, depth); depth < want; depth++) {
            unsigned int index = addr_bits(e->key.addr, trie->ofs[depth],
                                           depth_bits(trie, depth));
            unsigned int bits = depth_bits(trie, depth + 1);

            add_node(lines, bits, node_words(lines, path[depth]) + index,
                     *line);
            path[depth + 1] = *line;
            *line += NODE_LINES(bits);
        }
        for (end = i + 1; end < trie->end; end++) {
            if (!same_prefix(e, &trie->entries[end])) {
                break;
            }
        }
        error = add_prefix(trie, lines, path[want], want, i, end);
        if (error) {
            return error;
        }
    }
    return NULL;
}

static uint32_t
entry_verdict(const struct prefix_entry *e,
              struct prefix_verdict (*resolve)(const struct prefix_entry *,
                                               void *aux), void *aux)
{
    struct prefix_verdict v = { .action = TABLE_USERSPACE };

    switch (e->action) {
    case PREFIX_REDIRECT:
        v = resolve(e, aux);
        break;
    case PREFIX_DROP:
        v.action = TABLE_DROP;
        break;
    case PREFIX_HOST:
        v.action = TABLE_HOST;
        break;
    case PREFIX_USERSPACE:
    case PREFIX_N_ACTIONS:
        break;
    }
    if (v.action != TABLE_REDIRECT) {
        return v.action;
    }
    return (v.action | (e->rewrite ? TABLE_VERDICT_REWRITE : 0)
            | v.target << TABLE_VERDICT_TARGET_SHIFT);
}

/* As in 'match' of an entry. */
static uint64_t
mac_to_u64(const uint8_t mac[6])
{
    uint64_t u = 0;

    for (int i = 0; i < 6; i++) {
        u = u << 8 | mac[i];
    }
    return u;
}

/* Fills in all of '*te' but 'next', and adds to '*active_flags'. */
static void
fill_entry(const struct prefix_entry *e, uint32_t verdict,
           struct table_entry *te, uint32_t *active_flags)
{
    te->verdict = verdict;
    if (e->key.src) {
        *active_flags |= TABLE_ACTIVE_SRC;
    }
    if (e->key.has_vlan) {
        *active_flags |= TABLE_ACTIVE_VLAN;
        te->match |= (uint64_t) e->key.vlan << TABLE_VLAN_SHIFT;
        te->mask |= TABLE_VLAN_MASK;
    }
    if (e->key.has_mac) {
        *active_flags |= TABLE_ACTIVE_MAC;
        te->match |= mac_to_u64(e->key.mac);
        te->mask |= TABLE_MAC_MASK;
    }
    if (verdict & TABLE_VERDICT_REWRITE) {
        te->rewrite = e->rewrite;
        memcpy(te->set_src, e->set_src, sizeof te->set_src);
        memcpy(te->set_dst, e->set_dst, sizeof te->set_dst);
        te->set_vlan = e->set_vlan;
        te->set_tpid = e->set_tpid;
    }
}

/* Allocates zeroed memory for 'n_lines' lines. */
static char *
blob_init(struct prefix_blob *blob, size_t n_lines)
{
    void *p = mmap(NULL, n_lines * TABLE_LINE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED) {
        return xasprintf("no memory for a table of %"PRIuSIZE" bytes: %s",
                         n_lines * TABLE_LINE, ovs_strerror(errno));
    }
    /* With small pages, a large table takes several times as long: most of it
     * goes into page faults. */
    madvise(p, n_lines * TABLE_LINE, MADV_HUGEPAGE);
    blob->lines = p;
    blob->n_lines = n_lines;
    blob->active_flags = 0;
    return NULL;
}

char *
prefix_blob_build(const struct prefix_set *set,
                  struct prefix_verdict (*resolve)(const struct prefix_entry *,
                                                   void *aux),
                  void *aux, struct prefix_blob *blob)
{
    struct trie tries[TABLE_N_TRIES];
    struct table_header *header;
    uint32_t line = 1;
    size_t n_lines = 1;
    char *error;

    memset(blob, 0, sizeof *blob);
    if (set->n > PREFIX_SET_MAX) {
        return xasprintf("%"PRIuSIZE" entries: at most %d are allowed",
                         set->n, PREFIX_SET_MAX);
    }
    find_tries(set, tries);
    for (int t = 0; t < TABLE_N_TRIES; t++) {
        n_lines += trie_lines(&tries[t]);
    }
    error = blob_init(blob, n_lines + set->n);
    if (error) {
        return error;
    }

    header = (struct table_header *) blob->lines;
    header->entries = n_lines;
    header->n_entries = set->n;
    for (size_t i = 0; i < set->n; i++) {
        fill_entry(&set->entries[i],
                   entry_verdict(&set->entries[i], resolve, aux),
                   get_entry_rw(blob->lines, i), &blob->active_flags);
    }
    for (int t = 0; t < TABLE_N_TRIES; t++) {
        if (tries[t].first == tries[t].end) {
            continue;
        }
        header->root[t] = line;
        header->root_bits[t] = depth_bits(&tries[t], 0);
        error = build_trie(&tries[t], blob->lines, &line);
        if (error) {
            prefix_blob_uninit(blob);
            return error;
        }
    }
    ovs_assert(line == n_lines);
    return NULL;
}

void
prefix_blob_uninit(struct prefix_blob *blob)
{
    if (blob->lines) {
        munmap(blob->lines, blob->n_lines * TABLE_LINE);
    }
    memset(blob, 0, sizeof *blob);
}

/* Returns the entry to start with for 'addr', or TABLE_NO_ENTRY. */
static uint32_t
trie_lookup(const struct table_line *lines, enum table_trie trie,
            const uint8_t *addr)
{
    const struct table_header *header = get_header(lines);
    unsigned int bits = header->root_bits[trie];
    uint32_t word = header->root[trie];
    unsigned int ofs = 0;

    while (word && !(word & TABLE_LEAF)) {
        word = node_words_const(lines, word)[addr_bits(addr, ofs, bits)];
        ofs += bits;
        bits = trie_stride(trie, ofs);
    }
    return word ? word & ~TABLE_LEAF : TABLE_NO_ENTRY;
}

/* Returns the first entry that is for 'query', from entry 'i' on. */
static uint32_t
chain_lookup(const struct table_line *lines, uint32_t i,
             const struct prefix_query *query)
{
    uint64_t limits = ((uint64_t) query->vlan << TABLE_VLAN_SHIFT
                       | mac_to_u64(query->mac));

    while (i != TABLE_NO_ENTRY) {
        const struct table_entry *e = get_entry(lines, i);

        if (!((e->match ^ limits) & e->mask)) {
            return i;
        }
        i = e->next;
    }
    return TABLE_NO_ENTRY;
}

uint32_t
prefix_blob_lookup(const struct table_line *lines,
                   const struct prefix_query *query)
{
    enum table_trie src = query->ipv6 ? TABLE_IPV6_SRC : TABLE_IPV4_SRC;
    enum table_trie dst = query->ipv6 ? TABLE_IPV6_DST : TABLE_IPV4_DST;
    uint32_t i = TABLE_NO_ENTRY;

    if (query->has_src) {
        i = chain_lookup(lines, trie_lookup(lines, src, query->src), query);
    }
    if (i == TABLE_NO_ENTRY) {
        i = chain_lookup(lines, trie_lookup(lines, dst, query->dst), query);
    }
    return i;
}
