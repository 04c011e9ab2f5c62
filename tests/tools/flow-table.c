/* SPDX-License-Identifier: Apache-2.0 */

/* Tables that say to which flow each frame belongs.  They are drawn from a
 * generator with a fixed seed: each run sends the same sequence. */

#include "flow-table.h"

#include <math.h>
#include <stdlib.h>

#include "args.h"

#define SEED 0x9e3779b97f4a7c15ull

/* Returns the next number of the sequence in 'state' (xorshift64*). */
static uint64_t
next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1dull;
}

/* Returns a number from 0 to below 1. */
static double
next_fraction(uint64_t *state)
{
    return (next_random(state) >> 11) * 0x1p-53;
}

/* Fills the 'size' entries of 'table' with numbers below 'flows', each as
 * likely as any other. */
void
flow_table_uniform(uint32_t *table, size_t size, uint32_t flows)
{
    uint64_t state = SEED;

    for (size_t i = 0; i < size; i++) {
        table[i] = next_fraction(&state) * flows;
    }
}

/* Returns the first of the 'n' rising numbers at 'sums' that is above
 * 'value', the last if none is. */
static uint32_t
first_above(const double *sums, uint32_t n, double value)
{
    uint32_t low = 0;
    uint32_t high = n - 1;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (sums[middle] > value) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Fills the 'size' entries of 'table' with numbers below 'flows' of which
 * number k is as likely as 1 / (k + 1) ^ 'exponent': a few flows carry most
 * of the frames. */
void
flow_table_zipf(uint32_t *table, size_t size, uint32_t flows, double exponent)
{
    double *sums = malloc(flows * sizeof *sums);
    uint64_t state = SEED;
    double sum = 0;

    if (!sums) {
        die("no memory for %u flows", flows);
    }
    for (uint32_t i = 0; i < flows; i++) {
        sum += pow(i + 1, -exponent);
        sums[i] = sum;
    }
    for (size_t i = 0; i < size; i++) {
        table[i] = first_above(sums, flows, next_fraction(&state) * sum);
    }
    free(sums);
}
