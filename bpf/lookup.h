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
 * for IPv4, in the low half of the first one; what the table does not look at
 * is 0. */
struct key {
    __u64 dst[2], src[2];
    __u64 limits;               /* VLAN and MAC, see TABLE_VLAN_SHIFT. */
};

/* Does the verdict depend on more than the destination? */
#define TABLE_ACTIVE_MORE \
    (TABLE_ACTIVE_SRC | TABLE_ACTIVE_VLAN | TABLE_ACTIVE_MAC)

/* Returns 'mac' as a number of 48 bits. */
static __always_inline __u64
mac_to_u64(const __u8 *mac)
{
    return (__u64) bpf_ntohs(*(const __be16 *) mac) << 32
           | bpf_ntohl(*(const __be32 *) (mac + 2));
}

/* Returns the VLAN and the MAC that verdicts depend on. */
static __always_inline __u64
limits_of(const struct packet *pkt, __u32 active)
{
    const struct ethhdr *eth = pkt->data;
    __u64 limits = 0;

    if (active & TABLE_ACTIVE_VLAN) {
        limits = (__u64) pkt->vlan << TABLE_VLAN_SHIFT;
    }
    if (active & TABLE_ACTIVE_MAC) {
        limits |= mac_to_u64(eth->h_dest);
    }
    return limits;
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
    for (int i = 0; i < (TABLE_IPV4_DENSE_BITS - TABLE_MIN_ROOT_BITS)
                        / TABLE_IPV4_STRIDE
                    && bits < TABLE_IPV4_DENSE_BITS && is_node(word); i++) {
        word = word_at(table, word,
                       addr >> ((32 - TABLE_IPV4_STRIDE - bits) & 31) & 0xff);
        bits += TABLE_IPV4_STRIDE;
    }
    for (int i = 0; i < (32 - TABLE_IPV4_DENSE_BITS) / TABLE_LOW_STRIDE
                    && is_node(word); i++) {
        word = word_at(table, word,
                       addr >> ((32 - TABLE_LOW_STRIDE - bits) & 31) & 0xf);
        bits += TABLE_LOW_STRIDE;
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
    for (int i = 0; i < (128 - TABLE_MIN_ROOT_BITS) / TABLE_LOW_STRIDE
                    && is_node(word); i++) {
        __u64 half = bits < 64 ? hi : lo;

        word = word_at(table, word,
                       half >> ((64 - TABLE_LOW_STRIDE - bits) & 63) & 0xf);
        bits += TABLE_LOW_STRIDE;
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

/* Looks up 'key' in the source and the destination trie of one family.  Sets
 * all of '*found' but 'active'. */
static __always_inline bool
walk_table(const struct key *key, enum table_trie src, enum table_trie dst,
           struct found *found)
{
    __u32 slot = found->active & TABLE_ACTIVE_SLOT, zero = 0;
    void *table = bpf_map_lookup_elem(&tables, &slot);
    const struct table_header *h;

    found->entry = TABLE_NO_ENTRY;
    found->verdict = TABLE_USERSPACE;
    h = table ? bpf_map_lookup_elem(table, &zero) : NULL;
    if (!h) {
        return false;
    }
    return (found->active & TABLE_ACTIVE_SRC
            && walk_trie(table, h, src, key->src, key, found))
           || walk_trie(table, h, dst, key->dst, key, found);
}

/* What the cache does not know.  Global functions, which the verifier looks at
 * once, with arguments of which it knows nothing. */
int
walk_table4(const struct key *key, struct found *found)
{
    return key && found
           && walk_table(key, TABLE_IPV4_SRC, TABLE_IPV4_DST, found);
}

int
walk_table6(const struct key *key, struct found *found)
{
    return key && found
           && walk_table(key, TABLE_IPV6_SRC, TABLE_IPV6_DST, found);
}

/* The cache. */

/* Is 'slot' about this address? */
static __always_inline bool
slot4_is(const struct cache4_slot *slot, const struct key *key, __u32 active)
{
    return slot->tag == active && slot->dst == (__u32) key->dst[0]
           && (!(active & TABLE_ACTIVE_MORE)
               || (slot->src == (__u32) key->src[0]
                   && slot->limits == key->limits));
}

/* Chooses the slot of 'set' that has to go: one of another table, else the
 * second one, so that what came first, which most often is what comes most
 * often, stays; but the first one from time to time, so that it does not stay
 * for ever. */
static __always_inline struct cache4_slot *
victim4(struct cache4_set *set, __u32 active, __u64 dice)
{
    if (set->way[0].tag != active || !(dice & 7)) {
        return &set->way[0];
    }
    return &set->way[1];
}

/* Looks up what is not in 'set', and puts it there.  'dice' is any number. */
static __always_inline void
fill4(struct cache4_set *set, const struct key *key, __u64 dice,
      struct found *found)
{
    struct cache4_slot *slot = victim4(set, found->active, dice);

    walk_table4(key, found);
    slot->tag = found->active;
    slot->dst = key->dst[0];
    slot->entry = found->entry;
    slot->verdict = found->verdict;
    slot->limits = key->limits;
    slot->src = key->src[0];
}

static __always_inline void
look_up4(const struct packet *pkt, __u64 dice, struct found *found)
{
    const __u32 *addrs = pkt->ip + 12;
    __u32 active = found->active;
    struct key key = { .dst[0] = addrs[1] };
    __u64 h = (key.dst[0] | (__u64) active << 32) * HASH_MUL1;
    struct cache4_page *page;
    struct cache4_set *set;
    const struct cache4_slot *slot;
    __u32 number;

    if (active & TABLE_ACTIVE_MORE) {
        key.src[0] = active & TABLE_ACTIVE_SRC ? addrs[0] : 0;
        key.limits = limits_of(pkt, active);
        h ^= (key.src[0] ^ key.limits) * HASH_MUL2;
    }
    _Static_assert(CACHE4_PAGES == 1 << 9 && CACHE4_PER_PAGE == 1 << 6,
                   "bits of the hash");
    number = h >> 55;
    page = bpf_map_lookup_elem(&cache4, &number);
    if (!page) {
        return;                 /* For the verifier. */
    }
    set = &page->set[h >> 49 & (CACHE4_PER_PAGE - 1)];
    slot = &set->way[0];
    if (!slot4_is(slot, &key, active)) {
        slot = &set->way[1];
        if (!slot4_is(slot, &key, active)) {
            fill4(set, &key, dice, found);
            return;
        }
    }
    found->entry = slot->entry;
    found->verdict = slot->verdict;
}

/* Looks up what is not in 'slot', and puts it there. */
static __always_inline void
fill6(struct cache6_slot *slot, __u32 active, const struct key *key_)
{
    struct found found = { .active = active };
    struct key key = *key_;

    walk_table6(&key, &found);
    slot->tag = active;
    slot->entry = found.entry;
    slot->verdict = found.verdict;
    slot->dst[0] = key_->dst[0];
    slot->dst[1] = key_->dst[1];
    slot->src[0] = key_->src[0];
    slot->src[1] = key_->src[1];
    slot->limits = key_->limits;
}

static __always_inline void
look_up6(const struct packet *pkt, struct found *found)
{
    const __u64 *addrs = pkt->ip + 8;
    __u32 active = found->active;
    struct key key = { .dst = { addrs[2], addrs[3] } };
    struct cache6_page *page;
    struct cache6_slot *slot;
    __u32 number;
    __u64 h;

    h = hash_mix(hash_mix(active, key.dst[0]), key.dst[1]);
    if (active & TABLE_ACTIVE_MORE) {
        if (active & TABLE_ACTIVE_SRC) {
            key.src[0] = addrs[0];
            key.src[1] = addrs[1];
        }
        key.limits = limits_of(pkt, active);
        h = hash_mix(hash_mix(h, key.src[0]), key.src[1]) ^ key.limits;
    }
    h *= HASH_MUL2;
    _Static_assert(CACHE6_PAGES == 1 << 8 && CACHE6_PER_PAGE == 1 << 6,
                   "bits of the hash");
    number = h >> 56;
    page = bpf_map_lookup_elem(&cache6, &number);
    if (!page) {
        return;                 /* For the verifier. */
    }
    slot = &page->slot[h >> 50 & (CACHE6_PER_PAGE - 1)];
    if (slot->tag != active
        || slot->dst[0] != key.dst[0] || slot->dst[1] != key.dst[1]
        || (active & TABLE_ACTIVE_MORE
            && (slot->src[0] != key.src[0] || slot->src[1] != key.src[1]
                || slot->limits != key.limits))) {
        fill6(slot, active, &key);
    }
    found->entry = slot->entry;
    found->verdict = slot->verdict;
}

/* Looks 'pkt' up in the table 'active'.  'dice' is any number that changes
 * from frame to frame. */
static __always_inline void
look_up(const struct packet *pkt, __u32 active, __u64 dice,
        struct found *found)
{
    found->active = active;
    found->entry = TABLE_NO_ENTRY;
    found->verdict = TABLE_USERSPACE;
    if (pkt->l3.ipv6) {
        look_up6(pkt, found);
    } else {
        look_up4(pkt, dice, found);
    }
}

#endif /* lookup.h */
