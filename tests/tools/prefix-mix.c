/* SPDX-License-Identifier: Apache-2.0 */

#include "prefix-mix.h"

#include <stdlib.h>
#include <string.h>

#include "args.h"

/* Lengths of prefixes: what whitelists of hosts and small networks have. */
#define MIN_LEN4 24
#define MAX_LEN4 32
#define MIN_LEN6 40
#define MAX_LEN6 64

#define SEED 0x9e3779b97f4a7c15ull

/* Returns the next number of the sequence in 'state' (xorshift64*): each run
 * has the same. */
static uint64_t
next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1dull;
}

/* Returns a number below 'n', which is less than 2^32. */
static uint64_t
random_below(uint64_t *state, uint64_t n)
{
    return (next_random(state) >> 32) * n >> 32;
}

static void
fill_random(uint64_t *state, uint8_t *p, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        p[i] = next_random(state) >> 56;
    }
}

/* Makes 'addr' one that is forwarded: IPv4 of 1 to 223 without loopback and
 * link-local addresses, and without 192/8, which the tests' other addresses
 * are from; IPv6 of 2000::/3. */
static void
make_unicast(uint64_t *state, bool ipv6, uint8_t *addr)
{
    fill_random(state, addr, ipv6 ? 16 : 4);
    if (ipv6) {
        addr[0] = 0x20 | (addr[0] & 0x1f);
        return;
    }
    while (!addr[0] || addr[0] == 127 || addr[0] == 169 || addr[0] == 192
           || addr[0] >= 224) {
        addr[0] = next_random(state) >> 56;
    }
}

static void
clear_host_bits(uint8_t addr[16], unsigned int len)
{
    for (unsigned int bit = len; bit < 128; bit++) {
        addr[bit / 8] &= ~(0x80 >> bit % 8);
    }
}

static int
compare(const void *a_, const void *b_)
{
    const struct mix_prefix *a = a_, *b = b_;
    int d = memcmp(a->addr, b->addr, sizeof a->addr);

    return d ? d : a->len - b->len;
}

/* Draws prefixes until there are 'n' that are different. */
static void
make_prefixes(struct mix *mix, size_t n, uint64_t *state)
{
    unsigned int min = mix->ipv6 ? MIN_LEN6 : MIN_LEN4;
    unsigned int max = mix->ipv6 ? MAX_LEN6 : MAX_LEN4;
    size_t kept;

    mix->n = 0;
    while (mix->n < n) {
        for (size_t i = mix->n; i < n; i++) {
            struct mix_prefix *p = &mix->prefixes[i];

            make_unicast(state, mix->ipv6, p->addr);
            p->len = min + random_below(state, max - min + 1);
            clear_host_bits(p->addr, p->len);
        }
        qsort(mix->prefixes, n, sizeof *mix->prefixes, compare);
        kept = 0;
        for (size_t i = 0; i < n; i++) {
            if (!kept || compare(&mix->prefixes[kept - 1],
                                 &mix->prefixes[i])) {
                mix->prefixes[kept++] = mix->prefixes[i];
            }
        }
        mix->n = kept;
    }
}

static void
make_dsts(struct mix *mix, uint64_t *state)
{
    for (size_t i = 0; i < mix->n; i++) {
        const struct mix_prefix *p = &mix->prefixes[i];
        uint8_t host[16];

        memset(host, 0, sizeof host);
        fill_random(state, host, mix->ipv6 ? 16 : 4);
        for (unsigned int bit = 0; bit < p->len; bit++) {
            host[bit / 8] &= ~(0x80 >> bit % 8);
        }
        for (int j = 0; j < 16; j++) {
            mix->dsts[i][j] = p->addr[j] | host[j];
        }
    }
    /* Neighbors in the table must not be neighbors in popularity. */
    for (size_t i = mix->n - 1; i > 0; i--) {
        size_t j = random_below(state, i + 1);
        uint8_t dst[16];

        memcpy(dst, mix->dsts[i], sizeof dst);
        memcpy(mix->dsts[i], mix->dsts[j], sizeof dst);
        memcpy(mix->dsts[j], dst, sizeof dst);
    }
}

/* Makes '*mix' of 'n' prefixes, 1 to MIX_MAX, for mix_free(): of /24 to /32,
 * or of /40 to /64. */
void
mix_make(struct mix *mix, bool ipv6, size_t n)
{
    uint64_t state = SEED;

    mix->ipv6 = ipv6;
    mix->prefixes = calloc(n, sizeof *mix->prefixes);
    mix->dsts = calloc(n, sizeof *mix->dsts);
    if (!mix->prefixes || !mix->dsts) {
        die("no memory for %zu prefixes", n);
    }
    make_prefixes(mix, n, &state);
    make_dsts(mix, &state);
}

void
mix_free(struct mix *mix)
{
    free(mix->prefixes);
    free(mix->dsts);
}
