/* SPDX-License-Identifier: Apache-2.0 */

#ifndef UNIT_RANDOM_H
#define UNIT_RANDOM_H 1

#include <stdint.h>

/* A random number generator (xorshift64*): fast, and one a thread. */
struct unit_random {
    uint64_t state;             /* Not 0. */
};

/* Returns a random number below 'n'. */
static inline uint32_t
unit_random(struct unit_random *r, uint32_t n)
{
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return ((r->state * 0x2545f4914f6cdd1dULL >> 32) * n) >> 32;
}

#endif /* unit-random.h */
