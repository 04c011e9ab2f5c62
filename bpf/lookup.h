/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Looking a frame up: the cache, behind it the tries of the table in force.
 * See xdp-table-layout.h. */

#ifndef LOOKUP_H
#define LOOKUP_H 1

#include "parse.h"
#include "table-maps.h"

/* Which table, and what was found in it. */
struct found {
    __u32 active;               /* As in struct table_live. */
    __u32 entry;                /* TABLE_NO_ENTRY: nothing. */
    __u32 verdict;              /* Of the entry. */
};

/* What a frame is looked up by: addresses as in the frame, in both words or,
 * for IPv4, in the low half of the first one; 0 where the table does not look
 * at it. */
struct key {
    __u64 dst[2], src[2];
    __u64 limits;               /* VLAN and MAC, see TABLE_VLAN_SHIFT. */
};

/* Returns 'mac' as a number of 48 bits. */
static __always_inline __u64
mac_to_u64(const __u8 *mac)
{
    return (__u64) bpf_ntohs(*(const __be16 *) mac) << 32
           | bpf_ntohl(*(const __be32 *) (mac + 2));
}

/* Fills '*key' for 'pkt'.  Returns false only in the eyes of the verifier. */
static __always_inline bool
make_key(const struct packet *pkt, __u32 active, struct key *key)
{
    const struct ethhdr *eth = bytes_at(pkt, 0, sizeof *eth, pkt->len);

    __builtin_memset(key, 0, sizeof *key);
    if (!eth) {
        return false;
    }
    if (pkt->l3.ipv6) {
        const __u64 *a = bytes_at(pkt, pkt->l3.ofs + 8, 32, pkt->len);

        if (!a) {
            return false;
        }
        key->dst[0] = a[2];
        key->dst[1] = a[3];
        if (active & TABLE_ACTIVE_SRC) {
            key->src[0] = a[0];
            key->src[1] = a[1];
        }
    } else {
        const __u32 *a = bytes_at(pkt, pkt->l3.ofs + 12, 8, pkt->len);

        if (!a) {
            return false;
        }
        key->dst[0] = a[1];
        if (active & TABLE_ACTIVE_SRC) {
            key->src[0] = a[0];
        }
    }
    if (active & TABLE_ACTIVE_VLAN) {
        key->limits = (__u64) pkt->vlan << TABLE_VLAN_SHIFT;
    }
    if (active & TABLE_ACTIVE_MAC) {
        key->limits |= mac_to_u64(eth->h_dest);
    }
    return true;
}

/* The table. */

static __always_inline struct table_line *
line_at(void *table, __u32 line)
{
    return bpf_map_lookup_elem(table, &line);
}

/* Returns word 'index', which may be beyond the line, of the node that begins
 * at 'line'; 0 if there is no such line. */
static __always_inline __u32
word_at(void *table, __u32 line, __u32 index)
{
    const struct table_line *l = line_at(table, line + index / TABLE_WORDS);

    return l ? l->word[index % TABLE_WORDS] : 0;
}

static __always_inline bool
is_node(__u32 word)
{
    return word && !(word & TABLE_LEAF);
}

/* Returns the leaf of the 32-bit address 'addr', in host order. */
static __always_inline __u32
walk4(void *table, __u32 root, __u32 root_bits, __u32 addr)
{
    __u32 word, bits;

    bits = root_bits == TABLE_MAX_ROOT_BITS ? TABLE_MAX_ROOT_BITS
                                            : TABLE_MIN_ROOT_BITS;
    word = word_at(table, root, addr >> (32 - bits));
    for (int i = 0; i < (32 - TABLE_MIN_ROOT_BITS) / TABLE_IPV4_STRIDE
                    && is_node(word); i++) {
        word = word_at(table, word,
                       addr >> ((32 - TABLE_IPV4_STRIDE - bits) & 31) & 0xff);
        bits += TABLE_IPV4_STRIDE;
    }
    return word;
}

/* Returns the leaf of the address whose halves, in host order, are 'hi' and
 * 'lo'. */
static __always_inline __u32
walk6(void *table, __u32 root, __u32 root_bits, __u64 hi, __u64 lo)
{
    __u32 word, bits;

    bits = root_bits == TABLE_MAX_ROOT_BITS ? TABLE_MAX_ROOT_BITS
                                            : TABLE_MIN_ROOT_BITS;
    word = word_at(table, root, hi >> (64 - bits));
    for (int i = 0; i < (128 - TABLE_MIN_ROOT_BITS) / TABLE_IPV6_STRIDE
                    && is_node(word); i++) {
        __u64 half = bits < 64 ? hi : lo;

        word = word_at(table, word,
                       half >> ((64 - TABLE_IPV6_STRIDE - bits) & 63) & 0xf);
        bits += TABLE_IPV6_STRIDE;
    }
    return word;
}

/* Goes along the chain that begins with 'leaf' to the first entry that takes
 * the frame.  Returns false if none does. */
static __always_inline bool
walk_chain(void *table, __u32 entries, __u32 leaf, const struct key *key,
           struct found *found)
{
    __u32 index = leaf & ~TABLE_LEAF;

    if (!(leaf & TABLE_LEAF)) {
        return false;
    }
    for (int i = 0; i < TABLE_MAX_CHAIN; i++) {
        const struct table_entry *e = (void *) line_at(table, entries + index);

        if (!e) {
            return false;
        }
        if (!((e->match ^ key->limits) & e->mask)) {
            found->entry = index;
            found->verdict = e->verdict;
            return true;
        }
        index = e->next;
        if (index == TABLE_NO_ENTRY) {
            return false;
        }
    }
    return false;
}

/* Looks the frame up in one trie of the table. */
static __always_inline bool
walk_trie(void *table, const struct table_header *h, enum table_trie trie,
          const __u64 addr[2], const struct key *key, struct found *found)
{
    __u32 root = h->root[trie];
    __u32 leaf;

    if (!root) {
        return false;
    }
    leaf = (trie == TABLE_IPV4_SRC || trie == TABLE_IPV4_DST
            ? walk4(table, root, h->root_bits[trie], bpf_ntohl(addr[0]))
            : walk6(table, root, h->root_bits[trie],
                    bpf_be64_to_cpu(addr[0]), bpf_be64_to_cpu(addr[1])));
    return walk_chain(table, h->entries, leaf, key, found);
}

/* What the cache does not know.  Global functions, which the verifier looks at
 * once, with arguments of which it knows nothing.  Each sets '*found'. */
int
walk_table4(const struct key *key, struct found *found)
{
    __u32 slot, zero = 0;
    const struct table_header *h;
    void *table;

    if (!key || !found) {
        return 0;
    }
    slot = found->active & TABLE_ACTIVE_SLOT;
    found->entry = TABLE_NO_ENTRY;
    found->verdict = TABLE_USERSPACE;
    table = bpf_map_lookup_elem(&tables, &slot);
    h = table ? bpf_map_lookup_elem(table, &zero) : NULL;
    if (!h) {
        return 0;
    }
    return (found->active & TABLE_ACTIVE_SRC
            && walk_trie(table, h, TABLE_IPV4_SRC, key->src, key, found))
           || walk_trie(table, h, TABLE_IPV4_DST, key->dst, key, found);
}

int
walk_table6(const struct key *key, struct found *found)
{
    __u32 slot, zero = 0;
    const struct table_header *h;
    void *table;

    if (!key || !found) {
        return 0;
    }
    slot = found->active & TABLE_ACTIVE_SLOT;
    found->entry = TABLE_NO_ENTRY;
    found->verdict = TABLE_USERSPACE;
    table = bpf_map_lookup_elem(&tables, &slot);
    h = table ? bpf_map_lookup_elem(table, &zero) : NULL;
    if (!h) {
        return 0;
    }
    return (found->active & TABLE_ACTIVE_SRC
            && walk_trie(table, h, TABLE_IPV6_SRC, key->src, key, found))
           || walk_trie(table, h, TABLE_IPV6_DST, key->dst, key, found);
}

/* The cache. */

static __always_inline __u64
cache_hash(const struct key *key, __u32 active)
{
    __u64 h = key->dst[0] ^ key->src[0] * HASH_MUL2 ^ key->limits
              ^ (__u64) active << 32;

    return h * HASH_MUL1;
}

static __always_inline void
look_up4(const struct key *key, struct found *found)
{
    __u64 h = cache_hash(key, found->active);
    __u32 number = h >> 55;     /* Page: 9 bits; slot: 7 bits. */
    struct cache4_page *page = bpf_map_lookup_elem(&cache4, &number);
    struct cache4_slot *slot;

    _Static_assert(CACHE4_PAGES == 1 << 9 && CACHE4_PER_PAGE == 1 << 7,
                   "bits of the hash");
    if (!page) {
        return;
    }
    slot = &page->slot[h >> 48 & (CACHE4_PER_PAGE - 1)];
    if (slot->tag != found->active || slot->dst != (__u32) key->dst[0]
        || slot->src != (__u32) key->src[0]
        || slot->limits != key->limits) {
        walk_table4(key, found);
        slot->tag = found->active;
        slot->entry = found->entry;
        slot->verdict = found->verdict;
        slot->dst = key->dst[0];
        slot->src = key->src[0];
        slot->limits = key->limits;
        return;
    }
    found->entry = slot->entry;
    found->verdict = slot->verdict;
}

static __always_inline void
look_up6(const struct key *key, struct found *found)
{
    __u64 h = cache_hash(key, found->active) ^ key->dst[1] * HASH_MUL3
              ^ key->src[1] * HASH_MUL1;
    __u32 number;
    struct cache6_page *page;
    struct cache6_slot *slot;

    _Static_assert(CACHE6_PAGES == 1 << 8 && CACHE6_PER_PAGE == 1 << 6,
                   "bits of the hash");
    h ^= h >> 32;
    h *= HASH_MUL2;
    number = h >> 56;           /* Page: 8 bits; slot: 6 bits. */
    page = bpf_map_lookup_elem(&cache6, &number);
    if (!page) {
        return;
    }
    slot = &page->slot[h >> 50 & (CACHE6_PER_PAGE - 1)];
    if (slot->tag != found->active
        || slot->dst[0] != key->dst[0] || slot->dst[1] != key->dst[1]
        || slot->src[0] != key->src[0] || slot->src[1] != key->src[1]
        || slot->limits != key->limits) {
        walk_table6(key, found);
        slot->tag = found->active;
        slot->entry = found->entry;
        slot->verdict = found->verdict;
        slot->dst[0] = key->dst[0];
        slot->dst[1] = key->dst[1];
        slot->src[0] = key->src[0];
        slot->src[1] = key->src[1];
        slot->limits = key->limits;
        return;
    }
    found->entry = slot->entry;
    found->verdict = slot->verdict;
}

/* Looks 'pkt' up in the table 'active'. */
static __always_inline void
look_up(const struct packet *pkt, __u32 active, struct found *found)
{
    struct key key;

    found->active = active;
    found->entry = TABLE_NO_ENTRY;
    found->verdict = TABLE_USERSPACE;
    if (!make_key(pkt, active, &key)) {
        return;
    }
    if (pkt->l3.ipv6) {
        look_up6(&key, found);
    } else {
        look_up4(&key, found);
    }
}

#endif /* lookup.h */
