/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-model.h"

#include <stdlib.h>
#include <string.h>

#include "util.h"

void
prefix_model_first(uint8_t addr[16], unsigned int len)
{
    for (unsigned int bit = len; bit < 128; bit++) {
        if (bit % 8 == 0) {
            memset(&addr[bit / 8], 0, 16 - bit / 8);
            return;
        }
        addr[bit / 8] &= ~(0x80 >> bit % 8);
    }
}

void
prefix_model_last(uint8_t addr[16], unsigned int len, bool ipv6)
{
    for (unsigned int bit = len; bit < (ipv6 ? 128 : 32); bit++) {
        addr[bit / 8] |= 0x80 >> bit % 8;
    }
}

bool
prefix_model_matches(const struct prefix_entry *e,
                     const struct prefix_query *query)
{
    uint8_t addr[16];

    if (e->key.ipv6 != query->ipv6 || (e->key.src && !query->has_src)
        || (e->key.has_vlan && e->key.vlan != query->vlan)
        || (e->key.has_mac && memcmp(e->key.mac, query->mac, 6))) {
        return false;
    }
    memcpy(addr, e->key.src ? query->src : query->dst, sizeof addr);
    prefix_model_first(addr, e->key.len);
    return !memcmp(addr, e->key.addr, e->key.ipv6 ? 16 : 4);
}

int
prefix_model_rank(const struct prefix_entry *e)
{
    return (e->key.src * 1000 + e->key.len * 4 + e->key.has_vlan * 2
            + e->key.has_mac);
}

static int
compare_addrs(const void *a_, const void *b_)
{
    const struct prefix_entry *const *a = a_, *const *b = b_;

    return memcmp((*a)->key.addr, (*b)->key.addr, 16);
}

void
prefix_model_init(struct prefix_model *model, const struct prefix_set *set)
{
    struct prefix_model_list *list;

    memset(model, 0, sizeof *model);
    model->set = set;
    for (size_t i = 0; i < set->n; i++) {
        const struct prefix_entry *e = &set->entries[i];

        model->lists[e->key.ipv6][e->key.src][e->key.len].n++;
    }
    for (size_t i = 0; i < set->n; i++) {
        const struct prefix_entry *e = &set->entries[i];

        list = &model->lists[e->key.ipv6][e->key.src][e->key.len];
        if (!list->entries) {
            list->entries = xmalloc(list->n * sizeof *list->entries);
            list->n = 0;
        }
        list->entries[list->n++] = e;
    }
    for (list = &model->lists[0][0][0]; list <= &model->lists[1][1][128];
         list++) {
        if (list->n) {
            qsort(list->entries, list->n, sizeof *list->entries,
                  compare_addrs);
        }
    }
}

void
prefix_model_uninit(struct prefix_model *model)
{
    for (struct prefix_model_list *list = &model->lists[0][0][0];
         list <= &model->lists[1][1][128]; list++) {
        free(list->entries);
    }
}

/* Returns the index of the first entry in 'list' whose address is not below
 * 'addr'. */
static size_t
lower_bound(const struct prefix_model_list *list, const uint8_t addr[16])
{
    size_t low = 0, high = list->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (memcmp(list->entries[middle]->key.addr, addr, 16) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Returns the entry that wins among those in 'list' that are for 'query', or
 * NULL. */
static const struct prefix_entry *
list_lookup(const struct prefix_model_list *list, const uint8_t addr[16],
            const struct prefix_query *query)
{
    const struct prefix_entry *best = NULL;

    for (size_t i = lower_bound(list, addr); i < list->n; i++) {
        const struct prefix_entry *e = list->entries[i];

        if (memcmp(e->key.addr, addr, 16)) {
            break;
        }
        if (prefix_model_matches(e, query)
            && (!best || prefix_model_rank(e) > prefix_model_rank(best))) {
            best = e;
        }
    }
    return best;
}

uint32_t
prefix_model_lookup(const struct prefix_model *model,
                    const struct prefix_query *query)
{
    for (int src = query->has_src; src >= 0; src--) {
        uint8_t addr[16] = { 0 };

        memcpy(addr, src ? query->src : query->dst, query->ipv6 ? 16 : 4);
        for (int len = query->ipv6 ? 128 : 32; len >= 0; len--) {
            const struct prefix_model_list *list
                = &model->lists[query->ipv6][src][len];
            const struct prefix_entry *e;

            if (!list->n) {
                continue;
            }
            prefix_model_first(addr, len);
            e = list_lookup(list, addr, query);
            if (e) {
                return e - model->set->entries;
            }
        }
    }
    return TABLE_NO_ENTRY;
}
