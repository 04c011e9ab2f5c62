/* SPDX-License-Identifier: Apache-2.0 */

/* Properties of the flow hash, of the program as it is loaded. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "harness.h"

/* Flows of one distribution test: eight for each entry of OVS's exact match
 * cache, which has 8,192. */
#define N_FLOWS 65536

static uint32_t
hash_of(const struct program *program, const char *spec)
{
    struct frame f;

    frame_make(&f, spec);
    return run_for_hash(program, f.data, f.len);
}

static void
check_same(const struct program *program, const char *name, const char *a,
           const char *b)
{
    test_begin("%s", name);
    CHECK(hash_of(program, a) == hash_of(program, b),
          "\"%s\" and \"%s\" differ", a, b);
    test_end();
}

static void
check_differ(const struct program *program, const char *name, const char *a,
             const char *b)
{
    test_begin("%s", name);
    CHECK(hash_of(program, a) != hash_of(program, b),
          "\"%s\" and \"%s\" are the same", a, b);
    test_end();
}

#define V4 "eth ip4 udp pay=64"
#define V6 "eth ip6 udp pay=64"

static void
test_no_part(const struct program *program)
{
    check_same(program, "the payload is no part of the hash",
               V4, "eth ip4 udp pay=1000");
    check_same(program, "VLAN tags are no part of the hash",
               V4, "eth stag tag ip4 udp pay=64");
    check_same(program, "IPv4 options are no part of the hash",
               V4, "eth ip4opt udp pay=64");
    check_same(program, "the TTL is no part of the hash",
               V4, "eth ip4 udp pay=64 set=8:3");
    check_same(program, "the TOS is no part of the hash",
               V4, "eth ip4 udp pay=64 set=1:0xb8");
    check_same(program, "the IP ID is no part of the hash",
               V4, "eth ip4 udp pay=64 set=5:0x99");
    check_same(program, "IPv6 extension headers are no part of the hash",
               V6, "eth ip6 hbh rt dst udp pay=64");
    check_same(program, "the IPv6 flow label is no part of the hash",
               V6, "eth ip6 udp pay=64 set=3:0x77");

}

/* Checks that bytes 'first' to 'last' of the IP header are part of the
 * hash. */
static void
test_bytes(const struct program *program, const char *spec, int first,
           int last)
{
    uint32_t hash = hash_of(program, spec);

    test_begin("bytes %d to %d of the IP packet are part of the hash: %s",
               first, last, spec);
    for (int i = first; i <= last; i++) {
        char changed[64];

        snprintf(changed, sizeof changed, "%s set=%d:0x5a", spec, i);
        CHECK(hash != hash_of(program, changed), "byte %d is not", i);
    }
    test_end();
}

static void
test_part(const struct program *program)
{
    check_differ(program, "the IPv4 protocol is part of the hash",
                 V4, "eth ip4 tcp pay=64");
    check_differ(program, "the IPv6 protocol is part of the hash",
                 V6, "eth ip6 tcp pay=64");
    test_bytes(program, V4, 12, 23);
    test_bytes(program, V6, 8, 43);
}

static void
test_fragments(const struct program *program)
{
    check_same(program, "first and middle IPv4 fragment have the same hash",
               "eth ip4 udp pay=64 first", "eth ip4 udp pay=64 more");
    check_same(program, "first and last IPv4 fragment have the same hash",
               "eth ip4 udp pay=64 first", "eth ip4 pay=20 last set=9:17");
    check_same(program, "first and last IPv6 fragment have the same hash",
               "eth ip6 frag udp pay=64 first", "eth ip6 frag udp last");
    check_same(program, "IPv6 fragments with unlike types have the same hash",
               "eth ip6 frag dst udp first", "eth ip6 frag udp last");
}

static void
test_directions(const struct program *program)
{
    struct frame f;
    uint32_t there;
    size_t len;

    test_begin("the two directions of a connection are two flows");
    frame_make(&f, V4);
    there = run_for_hash(program, f.data, f.len);
    memcpy(frame_addrs(&f, &len), "\x0a\0\0\x02" "\x0a\0\0\x01", 8);
    frame_set_ports(&f, 0x50, 0x1234);
    CHECK(there != run_for_hash(program, f.data, f.len), "same hash");
    test_end();
}

/* The hash outlives a daemon and even a release: tunnels take source ports
 * from it, and a share of flows may be chosen by it. */
static void
test_known(const struct program *program)
{
    uint32_t v4, v6;

    test_begin("the hashes of two known flows are what they always were");
    v4 = hash_of(program, V4);
    v6 = hash_of(program, V6);
    CHECK(v4 == 0x7a22d404, "IPv4: %#x", v4);
    CHECK(v6 == 0x14524b8e, "IPv6: %#x", v6);
    test_end();
}

/* What belongs to a flow, and what does not. */
void
test_hash(const struct program *program)
{
    test_known(program);
    test_no_part(program);
    test_part(program);
    test_fragments(program);
    test_directions(program);
}

/* Ways to make N_FLOWS flows: each changes frame 'f' to the i-th. */

static void
flow_ports(struct frame *f, unsigned int i)
{
    frame_set_ports(f, i, 80);
}

static void
flow_both_ports(struct frame *f, unsigned int i)
{
    frame_set_ports(f, 1024 + i / 256, 1024 + i % 256);
}

/* Which bytes of the addresses i goes to, counted from the source's first. */
static void
flow_bytes(struct frame *f, unsigned int i, int high, int low)
{
    size_t len;
    uint8_t *addrs = frame_addrs(f, &len);

    addrs[high] = i >> 8;
    addrs[low] = i;
}

static void
flow_v4_dst(struct frame *f, unsigned int i)
{
    flow_bytes(f, i, 6, 7);
}

static void
flow_v4_pairs(struct frame *f, unsigned int i)
{
    flow_bytes(f, i, 3, 7);
}

static void
flow_v4_first_bytes(struct frame *f, unsigned int i)
{
    flow_bytes(f, i, 0, 4);
}

static void
flow_v6_dst(struct frame *f, unsigned int i)
{
    flow_bytes(f, i, 30, 31);
}

static void
flow_v6_pairs(struct frame *f, unsigned int i)
{
    flow_bytes(f, i, 15, 31);
}

static void
flow_v6_prefixes(struct frame *f, unsigned int i)
{
    flow_bytes(f, i, 4, 20);
}

static const struct shape {
    const char *name;
    const char *spec;
    void (*make)(struct frame *, unsigned int i);
} shapes[] = {
    { "source ports", "eth ip4 udp", flow_ports },
    { "pairs of ports", "eth ip4 tcp", flow_both_ports },
    { "hosts of an IPv4 /16", "eth ip4 udp", flow_v4_dst },
    { "pairs of hosts of an IPv4 /24", "eth ip4 udp", flow_v4_pairs },
    { "pairs of IPv4 /8 networks", "eth ip4 icmp", flow_v4_first_bytes },
    { "source ports over IPv6", "eth ip6 udp", flow_ports },
    { "hosts of an IPv6 /112", "eth ip6 tcp", flow_v6_dst },
    { "pairs of hosts of an IPv6 /120", "eth ip6 tcp", flow_v6_pairs },
    { "pairs of IPv6 /40 networks", "eth ip6 icmp", flow_v6_prefixes },
};

/* Checks that 'bits' bits of the hashes from 'shift' on are spread as chance
 * would spread them.  The sum of squares over 'n' buckets has the mean n - 1
 * and the variance 2 (n - 1); six deviations above is one in a billion. */
static void
check_spread(const uint32_t *hashes, int shift, int bits)
{
    static unsigned int counts[1 << 16];
    unsigned int n = 1u << bits;
    double expected = (double) N_FLOWS / n, chi2 = 0, excess;

    memset(counts, 0, sizeof counts);
    for (int i = 0; i < N_FLOWS; i++) {
        counts[hashes[i] >> shift & (n - 1)]++;
    }
    for (unsigned int i = 0; i < n; i++) {
        double d = counts[i] - expected;

        chi2 += d * d / expected;
    }
    excess = chi2 - (n - 1);
    CHECK(excess <= 0 || excess * excess <= 36.0 * 2 * (n - 1),
          "bits %d to %d: chi-square %.0f of %u buckets",
          shift, shift + bits - 1, chi2, n);
}

static int
compare_hashes(const void *a_, const void *b_)
{
    uint32_t a = *(const uint32_t *) a_, b = *(const uint32_t *) b_;

    return a < b ? -1 : a > b;
}

/* Of N_FLOWS random numbers of 32 bits, half a pair on average are equal;
 * more than eight pairs are one in ten million. */
static void
check_duplicates(uint32_t *hashes)
{
    int n = 0;

    qsort(hashes, N_FLOWS, sizeof *hashes, compare_hashes);
    for (int i = 1; i < N_FLOWS; i++) {
        n += hashes[i] == hashes[i - 1];
    }
    CHECK(n <= 8, "%d of %d flows share a hash", n, N_FLOWS);
}

/* Fills 'n' bytes at random. */
static void
randomize(uint8_t *p, size_t n, unsigned int *seed)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = rand_r(seed) >> 8;
    }
}

/* Checks in how many of N flows each bit of the hash turns over when bit
 * 'bit' of the byte at 'p', one of frame 'f', does. */
static void
check_avalanche(const struct program *program, struct frame *f, uint8_t *p,
                int bit, unsigned int *seed)
{
    enum { N = 128 };
    unsigned int turned[32] = { 0 };
    size_t len;
    uint8_t *addrs = frame_addrs(f, &len);

    for (int i = 0; i < N; i++) {
        uint32_t change;

        randomize(addrs, len, seed);
        randomize(f->data + f->l4, 4, seed);
        change = run_for_hash(program, f->data, f->len);
        *p ^= 1 << bit;
        change ^= run_for_hash(program, f->data, f->len);
        for (int k = 0; k < 32; k++) {
            turned[k] += change >> k & 1;
        }
    }
    /* The mean is 64 and the deviation 5.7. */
    for (int k = 0; k < 32; k++) {
        CHECK(turned[k] >= 27 && turned[k] <= 101,
              "bit %d of byte %td turns bit %d over in %u of %d flows",
              bit, p - f->data, k, turned[k], N);
    }
}

static void
test_avalanche(const struct program *program, const char *spec)
{
    unsigned int seed = 1;
    struct frame f;
    uint8_t *addrs;
    size_t len;

    test_begin("each bit of a flow turns over half of the hash: %s", spec);
    frame_make(&f, spec);
    addrs = frame_addrs(&f, &len);
    for (int bit = 0; bit < 8; bit++) {
        for (size_t i = 0; i < len; i++) {
            check_avalanche(program, &f, addrs + i, bit, &seed);
        }
        for (int i = 0; i < 4; i++) {
            check_avalanche(program, &f, f.data + f.l4 + i, bit, &seed);
        }
    }
    test_end();
}

void
test_hash_distribution(const struct program *program)
{
    static uint32_t hashes[N_FLOWS];
    struct frame f;

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        test_begin("65,536 flows spread evenly: %s", shapes[i].name);
        frame_make(&f, shapes[i].spec);
        for (int j = 0; j < N_FLOWS; j++) {
            shapes[i].make(&f, j);
            hashes[j] = run_for_hash(program, f.data, f.len);
        }
        check_spread(hashes, 0, 13);    /* OVS's first probe... */
        check_spread(hashes, 13, 13);   /* ...and its second. */
        check_spread(hashes, 24, 8);
        check_spread(hashes, 0, 8);
        check_duplicates(hashes);
        test_end();
    }

    test_avalanche(program, "eth ip4 udp");
    test_avalanche(program, "eth ip6 udp");
}
