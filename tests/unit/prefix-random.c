/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-random.h"

#include <stdlib.h>
#include <string.h>

#include "prefix-model.h"
#include "util.h"

static bool
percent(struct unit_random *r, unsigned int p)
{
    return unit_random(r, 100) < p;
}

/* Three VLANs, no tag among them, and three MACs: few, so that frames and
 * limits often have the same. */
static uint16_t
random_vlan(struct unit_random *r)
{
    static const uint16_t vlans[] = { 0, 7, 4094 };

    return vlans[unit_random(r, ARRAY_SIZE(vlans))];
}

static void
random_mac(struct unit_random *r, uint8_t mac[6])
{
    static const uint8_t macs[][6] = {
        { 0x02, 0, 0, 0, 0, 0x01 },
        { 0x02, 0, 0, 0, 0, 0x02 },
        { 0x06, 0, 0, 0, 0, 0x01 },
    };

    memcpy(mac, macs[unit_random(r, ARRAY_SIZE(macs))], 6);
}

/* Blocks that the prefixes lie in which are not inside another one: some
 * close together, some far apart. */
static void
random_block(struct unit_random *r, bool ipv6, uint8_t addr[16])
{
    static const uint8_t v4[][2] = {
        { 10, 0 }, { 10, 1 }, { 10, 255 }, { 11, 0 }, { 100, 64 },
        { 192, 0 }, { 203, 0 },
    };
    static const uint8_t v6[][4] = {
        { 0x20, 0x01, 0x0d, 0xb8 }, { 0x20, 0x01, 0x0d, 0xb9 },
        { 0x20, 0x02, 0x00, 0x00 }, { 0x2a, 0x00, 0x14, 0x50 },
    };

    for (int i = 0; i < (ipv6 ? 16 : 4); i++) {
        addr[i] = unit_random(r, 256);
    }
    if (ipv6) {
        memcpy(addr, v6[unit_random(r, ARRAY_SIZE(v6))], 4);
    } else {
        memcpy(addr, v4[unit_random(r, ARRAY_SIZE(v4))], 2);
    }
}

/* Draws a prefix: inside one of the 'n' of 'others', beside one, around one,
 * or anywhere. */
static void
random_prefix(struct unit_random *r, const struct prefix_entry *others,
              size_t n, struct prefix_entry *e)
{
    unsigned int max = e->key.ipv6 ? 128 : 32;
    unsigned int kind = n ? unit_random(r, 10) : 9;
    const struct prefix_entry *other = &others[n ? unit_random(r, n) : 0];
    unsigned int len;

    random_block(r, e->key.ipv6, e->key.addr);
    if (kind == 9) {
        /* Seldom the whole world. */
        len = percent(r, 2) ? unit_random(r, 8) : 8 + unit_random(r, max - 7);
    } else {
        uint8_t inside[16];

        memcpy(inside, e->key.addr, sizeof inside);
        memcpy(e->key.addr, other->key.addr, sizeof e->key.addr);
        len = other->key.len;
        if (kind < 5) {
            unsigned int more = 1 + unit_random(r, kind == 0 ? max : 6);

            for (unsigned int bit = len; bit < max; bit++) {
                e->key.addr[bit / 8] |= inside[bit / 8] & 0x80 >> bit % 8;
            }
            len = MIN(max, len + more);
        } else if (kind < 7 && len) {
            e->key.addr[(len - 1) / 8] ^= 0x80 >> (len - 1) % 8;
        } else if (kind < 8 && len) {
            len -= unit_random(r, MIN(len, 5));
        }
    }
    e->key.len = len;
    prefix_model_first(e->key.addr, len);
}

static void
random_entry(struct unit_random *r, const struct prefix_random_opts *opts,
             bool ipv6, const struct prefix_entry *others, size_t n,
             struct prefix_entry *e)
{
    memset(e, 0, sizeof *e);
    e->key.ipv6 = ipv6;
    random_prefix(r, others, n, e);
    e->key.src = percent(r, opts->src_percent);
    if (percent(r, opts->limited_percent)) {
        unsigned int limit = 1 + unit_random(r, 3);

        e->key.has_vlan = limit & 1;
        e->key.has_mac = limit & 2;
        e->key.vlan = e->key.has_vlan ? random_vlan(r) : 0;
        if (e->key.has_mac) {
            random_mac(r, e->key.mac);
        }
    }
    e->action = percent(r, 40) ? PREFIX_REDIRECT
                               : unit_random(r, PREFIX_N_ACTIONS);
    if (e->action == PREFIX_REDIRECT) {
        e->target = xasprintf("t%u", unit_random(r, 4));
    }
}

/* In the order that prefix-entry.h has for prefix_entry_compare(). */
static int
compare_entries(const void *a_, const void *b_)
{
    const struct prefix_entry *a = a_, *b = b_;
    int limits_a = a->key.has_vlan * 2 + a->key.has_mac;
    int limits_b = b->key.has_vlan * 2 + b->key.has_mac;
    int d;

    if (a->key.ipv6 != b->key.ipv6) {
        return a->key.ipv6 - b->key.ipv6;
    } else if (a->key.src != b->key.src) {
        return b->key.src - a->key.src;
    }
    d = memcmp(a->key.addr, b->key.addr, sizeof a->key.addr);
    if (d) {
        return d;
    } else if (a->key.len != b->key.len) {
        return a->key.len - b->key.len;
    } else if (limits_a != limits_b) {
        return limits_b - limits_a;
    } else if (a->key.vlan != b->key.vlan) {
        return a->key.vlan - b->key.vlan;
    }
    return memcmp(a->key.mac, b->key.mac, sizeof a->key.mac);
}

/* Makes a set of the 'n' 'entries', which it takes over: sorts them and leaves
 * out those with the key of another one. */
struct prefix_set *
prefix_random_from(struct prefix_entry *entries, size_t n)
{
    struct prefix_set *set = xzalloc(sizeof *set);

    ovs_refcount_init(&set->ref);
    set->version = xstrdup("random");
    set->entries = entries;
    qsort(entries, n, sizeof *entries, compare_entries);
    for (size_t i = 0; i < n; i++) {
        if (set->n && !compare_entries(&entries[set->n - 1], &entries[i])) {
            free(entries[i].target);
        } else {
            entries[set->n] = entries[i];
            set->n++;
            entries[set->n - 1].number = set->n;
        }
    }
    return set;
}

struct prefix_set *
prefix_random_set(struct unit_random *r, const struct prefix_random_opts *opts)
{
    size_t n = opts->n_ipv4 + opts->n_ipv6;
    struct prefix_entry *entries = xcalloc(n + 1, sizeof *entries);

    for (size_t i = 0; i < n; i++) {
        bool ipv6 = i >= opts->n_ipv4;
        size_t first = ipv6 ? opts->n_ipv4 : 0;

        random_entry(r, opts, ipv6, &entries[first], i - first, &entries[i]);
    }
    return prefix_random_from(entries, n);
}

void
prefix_random_free(struct prefix_set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        free(set->entries[i].target);
    }
    free(set->entries);
    free(set->version);
    free(set);
}

struct prefix_verdict
prefix_random_resolve(const struct prefix_entry *e, void *aux)
{
    unsigned int target = atoi(&e->target[1]);

    *(size_t *) aux += 1;
    return (struct prefix_verdict) {
        .action = target == 3 ? TABLE_NOT_OFFLOADED : TABLE_REDIRECT,
        .target = target,
    };
}

/* Moves 'addr' of 'n' bytes by one, up or down; what is behind the last
 * address is the first. */
static void
move_by_one(uint8_t *addr, unsigned int n, bool up)
{
    for (unsigned int i = n; i-- > 0; ) {
        if (up ? ++addr[i] != 0 : addr[i]-- != 0) {
            return;
        }
    }
}

static void
random_addr(struct unit_random *r, const struct prefix_entry *e,
            uint8_t addr[16])
{
    unsigned int n = e->key.ipv6 ? 16 : 4;
    unsigned int kind = unit_random(r, 6);
    uint8_t noise[16];

    memset(addr, 0, 16);
    memcpy(addr, e->key.addr, n);
    switch (kind) {
    case 0:
    case 1:
        /* The first one, and the one before. */
        break;
    case 2:
    case 3:
        /* The last one, and the one behind. */
        prefix_model_last(addr, e->key.len, e->key.ipv6);
        break;
    default:
        random_block(r, e->key.ipv6, noise);
        for (unsigned int bit = e->key.len; bit < n * 8; bit++) {
            addr[bit / 8] |= noise[bit / 8] & 0x80 >> bit % 8;
        }
        break;
    }
    if (kind == 1 || kind == 3) {
        move_by_one(addr, n, kind == 3);
    }
}

/* Returns a random entry of the family of entry 'like'. */
static const struct prefix_entry *
random_of_family(struct unit_random *r, const struct prefix_set *set,
                 const struct prefix_entry *like)
{
    for (;;) {
        const struct prefix_entry *e
            = &set->entries[unit_random(r, set->n)];

        if (e->key.ipv6 == like->key.ipv6) {
            return e;
        }
    }
}

void
prefix_random_query(struct unit_random *r, const struct prefix_set *set,
                    struct prefix_query *query)
{
    const struct prefix_entry *e = &set->entries[unit_random(r, set->n)];
    const struct prefix_entry *e2 = random_of_family(r, set, e);

    query->ipv6 = e->key.ipv6;
    query->has_src = true;
    random_addr(r, e, e->key.src ? query->src : query->dst);
    random_addr(r, e2, e->key.src ? query->dst : query->src);
    query->vlan = e->key.has_vlan && percent(r, 80) ? e->key.vlan
                                                    : random_vlan(r);
    if (e->key.has_mac && percent(r, 80)) {
        memcpy(query->mac, e->key.mac, sizeof query->mac);
    } else {
        random_mac(r, query->mac);
    }
}
