/* SPDX-License-Identifier: Apache-2.0 */

/* Random prefixes, and a destination in each, to measure prefix tables
 * with. */

#ifndef PREFIX_MIX_H
#define PREFIX_MIX_H 1

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mix_prefix {
    uint8_t addr[16];           /* In network order; IPv4: the first 4. */
    uint8_t len;
};

struct mix {
    bool ipv6;
    size_t n;
    struct mix_prefix *prefixes;        /* All different, by address. */
    uint8_t (*dsts)[16];                /* One in each, shuffled, as many. */
};

/* Most prefixes of a mix. */
#define MIX_MAX (1 << 21)

void mix_make(struct mix *, bool ipv6, size_t n);
void mix_free(struct mix *);

#endif /* prefix-mix.h */
