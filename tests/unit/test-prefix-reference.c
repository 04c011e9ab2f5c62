/* SPDX-License-Identifier: Apache-2.0 */

/* usage: test-prefix-reference [QUERIES | time]
 *
 * prefix-trie.h: random tables, against a reference.  QUERIES is how many
 * look-ups to compare, of each kind of table; "time" prints instead how long
 * large tables take to build, and how large they are. */

#include <config.h>
#include "prefix-trie.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "prefix-model.h"
#include "prefix-random.h"
#include "util.h"
#include "unit.h"

static size_t n_queries = 500000;

static bool
build_ok(const struct prefix_set *set, struct prefix_blob *blob)
{
    size_t n_resolved = 0;
    char *error = prefix_blob_build(set, prefix_random_resolve, &n_resolved,
                                    blob);

    if (error) {
        unit_fail(OVS_SOURCE_LOCATOR, "%s", error);
        free(error);
        return false;
    }
    return true;
}

/* The plainest reference of all: compares each entry. */
static uint32_t
linear_lookup(const struct prefix_set *set, const struct prefix_query *query)
{
    uint32_t best = TABLE_NO_ENTRY;

    for (size_t i = 0; i < set->n; i++) {
        const struct prefix_entry *e = &set->entries[i];

        if (prefix_model_matches(e, query)
            && (best == TABLE_NO_ENTRY
                || (prefix_model_rank(e)
                    > prefix_model_rank(&set->entries[best])))) {
            best = i;
        }
    }
    return best;
}

/* Compares 'n' look-ups in a random table with the reference, and every so
 * many of them with the linear one.  Adds to '*n_hits'. */
static void
compare_table(struct unit_random *r, const struct prefix_random_opts *opts,
              size_t n, size_t *n_hits)
{
    struct prefix_set *set = prefix_random_set(r, opts);
    size_t linear_each = 1 + set->n / 64;
    struct prefix_model model;
    struct prefix_blob blob;

    if (build_ok(set, &blob)) {
        prefix_model_init(&model, set);
        for (size_t i = 0; i < n; i++) {
            struct prefix_query query;
            uint32_t want, got;

            prefix_random_query(r, set, &query);
            query.has_src = unit_random(r, 8) != 0;
            want = prefix_model_lookup(&model, &query);
            got = prefix_blob_lookup(blob.lines, &query);
            *n_hits += want != TABLE_NO_ENTRY;
            CHECK_INT(got, want);
            if (i % linear_each == 0) {
                CHECK_INT(linear_lookup(set, &query), want);
            }
        }
        prefix_model_uninit(&model);
        prefix_blob_uninit(&blob);
    }
    prefix_random_free(set);
}

static void
compare_tables(const struct prefix_random_opts *opts, size_t per_table)
{
    struct unit_random r = { 0x123456789abcdef };
    size_t n_hits = 0, n;

    for (n = 0; n < n_queries; n += per_table) {
        struct prefix_random_opts o = *opts;

        /* Of many tables, no two have the same size. */
        o.n_ipv4 -= unit_random(&r, o.n_ipv4);
        o.n_ipv6 -= unit_random(&r, o.n_ipv6);
        compare_table(&r, &o, per_table, &n_hits);
    }
    CHECK(n_hits >= n / 2);
    CHECK(n_hits < n);
}

static void
small_random(void)
{
    compare_tables(&(struct prefix_random_opts) {
        .n_ipv4 = 20, .n_ipv6 = 20, .src_percent = 20, .limited_percent = 40,
    }, 500);
}

static void
large_random(void)
{
    compare_tables(&(struct prefix_random_opts) {
        .n_ipv4 = 6000, .n_ipv6 = 6000, .src_percent = 30,
        .limited_percent = 15,
    }, 50000);
}

static void
unlimited_random(void)
{
    compare_tables(&(struct prefix_random_opts) {
        .n_ipv4 = 3000, .n_ipv6 = 3000,
    }, 50000);
}

/* Large tables. */

static void
random_bytes(struct unit_random *r, uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = unit_random(r, 256);
    }
}

/* Returns the CPU time that the program has taken, in ms. */
static long long int
cpu_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static void
time_table(const char *name, size_t n, bool ipv6, unsigned int min_len,
           unsigned int max_len, unsigned int block_len)
{
    static const uint8_t block[4] = { 0x20, 0x01, 0x0d, 0xb8 };
    struct unit_random r = { 0xfedcba9876543210 };
    struct prefix_entry *entries = xcalloc(n, sizeof *entries);
    struct prefix_set *set;
    struct prefix_blob blob;
    long long int start;

    for (size_t i = 0; i < n; i++) {
        struct prefix_entry *e = &entries[i];

        e->key.ipv6 = ipv6;
        e->key.len = min_len + unit_random(&r, max_len - min_len + 1);
        random_bytes(&r, e->key.addr, ipv6 ? 16 : 4);
        memcpy(e->key.addr, block, block_len / 8);
        prefix_model_first(e->key.addr, e->key.len);
        e->action = PREFIX_DROP;
    }
    set = prefix_random_from(entries, n);
    start = cpu_ms();
    if (build_ok(set, &blob)) {
        printf("%-32s %8"PRIuSIZE" entries: %5lld ms of CPU, %5"PRIuSIZE
               " MB\n",
               name, set->n, cpu_ms() - start,
               blob.n_lines * TABLE_LINE >> 20);
        prefix_blob_uninit(&blob);
    }
    prefix_random_free(set);
}

static void
time_tables(void)
{
    time_table("IPv4 /24", 1000000, false, 24, 24, 0);
    time_table("IPv4 /16 to /32", 1000000, false, 16, 32, 0);
    time_table("IPv4 /8 to /32", 1000000, false, 8, 32, 0);
    time_table("IPv4 /32", 1000000, false, 32, 32, 0);
    time_table("IPv6 /32 to /64", 1000000, true, 32, 64, 0);
    time_table("IPv6 /56 in 2001:db8::/32", 200000, true, 56, 56, 32);
    time_table("IPv6 /128 in 2001:db8::/32", 1000000, true, 128, 128, 32);
}

int
main(int argc, char *argv[])
{
    if (argc > 1 && !strcmp(argv[1], "time")) {
        time_tables();
        return unit_exit_status();
    } else if (argc > 1) {
        n_queries = atoll(argv[1]);
    }
    unit_run("small random tables agree with the reference", small_random);
    unit_run("large random tables agree with the reference", large_random);
    unit_run("tables without source entries or limits agree with the "
             "reference", unlimited_random);
    return unit_exit_status();
}
