/* SPDX-License-Identifier: Apache-2.0 */

/* usage: reference [FRAMES]
 *
 * Runs the program on FRAMES frames to addresses at the edges of prefixes and
 * inside, over pairs of random tables, and compares what becomes of each with
 * a reference: with one table in force, while a thread puts the one and the
 * other in force, and with the other one in force. */

#include <config.h>

#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prefix-model.h"
#include "prefix-random.h"
#include "report.h"
#include "table.h"
#include "util.h"

/* Two pairs of tables each, of about so many entries of each family. */
static const size_t sizes[] = { 1, 4, 12, 50, 200, 800, 3000, 20000 };
#define N_ROUNDS (2 * ARRAY_SIZE(sizes))

/* Targets: "t0" to "t2"; "t3" is none that frames can be redirected to.  MTU
 * above all frames here. */
#define N_TARGETS 3
#define MTU 1500

/* How often OVS may want to see one frame again: see UP_LEARN. */
#define MAX_RETRIES 3

enum phase { BEFORE, DURING, AFTER, N_PHASES };

static const char *const sentences[N_PHASES] = {
    [BEFORE] = "each frame meets the entry that the reference has",
    [DURING] = "while two tables are swapped, each frame meets the entry that "
               "the reference has for one of them",
    [AFTER] = "after the swaps, each frame meets the entry that the reference "
              "has for the last table",
};

/* One of the two tables. */
struct side {
    unsigned int slot;
    struct prefix_set *set;
    struct prefix_model model;
    uint64_t *hits;             /* What the program should have counted. */
    uint64_t n_answers;
};

struct test {
    struct table_program *tp;
    struct unit_random random;
    bool ready[N_TARGETS];
    struct side sides[2];
    struct xdp_counters counters;       /* So far. */

    char why[N_PHASES][512];            /* First failure, or "". */
    char why_hits[512];
    uint64_t n[N_PHASES];
    uint64_t n_swaps;
    uint64_t n_hits;                    /* Frames for which there is one. */
    uint64_t n_expected[XDP_N_COUNTERS];
    uint64_t n_ipv6;
};

static void
fail(char why[512], const char *format, ...)
{
    va_list args;

    if (!why[0]) {
        va_start(args, format);
        vsnprintf(why, 512, format, args);
        va_end(args);
    }
}

/* Frames. */

struct frame {
    uint8_t data[128];
    size_t len;
};

static void
put(struct frame *f, const void *data, size_t len)
{
    memcpy(&f->data[f->len], data, len);
    f->len += len;
}

static void
put16(struct frame *f, uint16_t value)
{
    put(f, &(uint16_t) { htons(value) }, 2);
}

/* Appends the tags of a frame that is in 'vlan': if 0, none, or a priority
 * tag.  Another tag behind does not count. */
static void
put_tags(struct frame *f, struct unit_random *r, uint16_t vlan)
{
    if (vlan || unit_random(r, 4) == 0) {
        put16(f, unit_random(r, 2) ? 0x8100 : 0x88a8);
        put16(f, vlan | unit_random(r, 16) << 12);
        if (unit_random(r, 4) == 0) {
            put16(f, 0x8100);
            put16(f, 1 + unit_random(r, 4094));
        }
    }
}

/* Makes a packet of a protocol (253, RFC 3692) that has neither ports nor a
 * checksum. */
static void
make_frame(struct frame *f, struct unit_random *r,
           const struct prefix_query *query)
{
    static const uint8_t source[] = { 0x02, 0xbe, 0xef, 0, 0, 0x01 };
    uint8_t ip4[12] = { 0x45, 0, 0, 28, 0, 0, 0, 0, 64, 253, 0, 0 };
    uint8_t ip6[8] = { 0x60, 0, 0, 0, 0, 8, 253, 64 };

    f->len = 0;
    put(f, query->mac, 6);
    put(f, source, 6);
    put_tags(f, r, query->vlan);
    put16(f, query->ipv6 ? ETHERTYPE_IPV6 : ETHERTYPE_IP);
    if (query->ipv6) {
        put(f, ip6, sizeof ip6);
        put(f, query->src, 16);
        put(f, query->dst, 16);
    } else {
        put(f, ip4, sizeof ip4);
        put(f, query->src, 4);
        put(f, query->dst, 4);
    }
    put(f, "payload", 8);
}

/* Expectations. */

/* Is 'a' multicast, broadcast or link-local? */
static bool
is_group(const uint8_t *a, bool ipv6)
{
    static const uint8_t broadcast[4] = { 255, 255, 255, 255 };

    return (ipv6
            ? a[0] == 0xff || (a[0] == 0xfe && a[1] >= 0x80 && a[1] <= 0xbf)
            : (a[0] >= 224 && a[0] <= 239) || (a[0] == 169 && a[1] == 254)
              || !memcmp(a, broadcast, 4));
}

struct expected {
    uint32_t verdict;           /* XDP_DROP, ... */
    enum xdp_counter what;      /* Counter of what becomes of the frame. */
    uint32_t entry;             /* That counts the frame, or
                                 * TABLE_NO_ENTRY. */
};

/* What a redirect to 'target' comes to; returns XDP_C_REDIRECT if it is
 * one. */
static enum xdp_counter
expect_redirect(const struct test *t, const char *target,
                const struct prefix_query *query)
{
    unsigned int index = atoi(&target[1]);

    if (index >= N_TARGETS) {
        return XDP_C_UP_NOT_OFFLOADED;
    }
    if (is_group(query->src, query->ipv6)
        || is_group(query->dst, query->ipv6)) {
        return XDP_C_UP_GROUP;
    }
    return t->ready[index] ? XDP_C_REDIRECT : XDP_C_UP_NOT_READY;
}

static struct expected
expect(const struct test *t, const struct side *side,
       const struct prefix_query *query)
{
    uint32_t i = prefix_model_lookup(&side->model, query);
    struct expected x = { XDP_REDIRECT, XDP_C_UP_NO_MATCH, i };
    const struct prefix_entry *e;

    if (i == TABLE_NO_ENTRY) {
        return x;
    }
    e = &side->set->entries[i];
    switch (e->action) {
    case PREFIX_REDIRECT:
        x.what = expect_redirect(t, e->target, query);
        if (x.what != XDP_C_REDIRECT) {
            x.entry = TABLE_NO_ENTRY;
        }
        break;
    case PREFIX_DROP:
        x.verdict = XDP_DROP;
        x.what = XDP_C_DROP_PREFIX;
        break;
    case PREFIX_HOST:
        x.verdict = XDP_PASS;
        x.what = XDP_C_TO_HOST;
        break;
    default:
        x.what = XDP_C_UP_ENTRY;
        break;
    }
    return x;
}

/* Is 'counted' what the program counts for a frame of 'len' bytes of which
 * becomes 'what'? */
static bool
counted_is(const struct xdp_counters *counted, enum xdp_counter what,
           size_t len)
{
    struct xdp_counters x = { .n = { 0 } };

    x.n[what] = 1;
    if (what == XDP_C_REDIRECT) {
        x.n[XDP_C_REDIRECT_BYTES] = len;
    } else if (what != XDP_C_DROP_PREFIX && what != XDP_C_TO_HOST) {
        x.n[XDP_C_TO_USERSPACE] = 1;
    }
    return !memcmp(&x, counted, sizeof x);
}

/* One frame. */

/* What came of a frame. */
struct outcome {
    uint32_t verdict;
    struct xdp_counters counted;
};

static void
run_frame(struct test *t, const struct frame *f, struct outcome *o)
{
    struct xdp_counters now;

    for (int i = 0; i <= MAX_RETRIES; i++) {
        o->verdict = table_run(t->tp, f->data, f->len, &now);
        for (int j = 0; j < XDP_N_COUNTERS; j++) {
            o->counted.n[j] = now.n[j] - t->counters.n[j];
        }
        t->counters = now;
        if (!o->counted.n[XDP_C_UP_LEARN]) {
            return;
        }
    }
}

/* Is 'o' the outcome that the reference has for 'side'?  Then keeps its own
 * count of the entry's hits. */
static bool
agrees(struct test *t, struct side *side, const struct prefix_query *query,
       size_t len, const struct outcome *o)
{
    struct expected x = expect(t, side, query);

    if (o->verdict != x.verdict || !counted_is(&o->counted, x.what, len)) {
        return false;
    }
    if (x.entry != TABLE_NO_ENTRY) {
        const volatile struct table_counter *hits
            = &t->tp->slots[side->slot].hits[x.entry];

        if (hits->packets != side->hits[x.entry] + 1) {
            return false;
        }
        side->hits[x.entry]++;
    }
    side->n_answers++;
    t->n_expected[x.what]++;
    t->n_hits += x.what != XDP_C_UP_NO_MATCH;
    return true;
}

static const char *
counter_name(enum xdp_counter counter)
{
    static const char *const names[] = {
#define XDP_COUNTER(ENUM, NAME, DESCRIPTION) NAME,
        XDP_COUNTERS(XDP_COUNTER)
#undef XDP_COUNTER
    };

    return names[counter];
}

static void
describe_failure(struct test *t, char why[512],
                 const struct prefix_query *query, const struct outcome *o)
{
    int family = query->ipv6 ? AF_INET6 : AF_INET;
    char src[64], dst[64], counted[256] = "";

    inet_ntop(family, query->src, src, sizeof src);
    inet_ntop(family, query->dst, dst, sizeof dst);
    for (int i = 0; i < XDP_N_COUNTERS; i++) {
        size_t len = strlen(counted);

        if (o->counted.n[i]) {
            snprintf(counted + len, sizeof counted - len, " %s",
                     counter_name(i));
        }
    }
    fail(why, "%s to %s, VLAN %u, MAC ..:%02x: verdict %u, counters%s; the "
         "reference has %s for entry %d in one table, %s for entry %d in the "
         "other", src, dst, query->vlan, query->mac[5], o->verdict, counted,
         counter_name(expect(t, &t->sides[0], query).what),
         (int) prefix_model_lookup(&t->sides[0].model, query),
         counter_name(expect(t, &t->sides[1], query).what),
         (int) prefix_model_lookup(&t->sides[1].model, query));
}

/* Makes 'query' one for a destination that is the same all the time: with many
 * sources and MACs, so that the program's cache has to tell them apart. */
static void
make_hot(struct unit_random *r, const struct prefix_query hot[2],
         struct prefix_query *query)
{
    memcpy(query->dst, hot[query->ipv6].dst, sizeof query->dst);
    if (unit_random(r, 2)) {
        for (int i = 1; i < 6; i++) {
            query->mac[i] = unit_random(r, 256);
        }
    }
}

/* Draws a destination of each family from the entries of 'set'. */
static void
draw_hot(struct unit_random *r, const struct prefix_set *set,
         struct prefix_query hot[2])
{
    bool drawn[2] = { false, false };

    while (!drawn[0] || !drawn[1]) {
        struct prefix_query query = { .has_src = true };

        prefix_random_query(r, set, &query);
        hot[query.ipv6] = query;
        drawn[query.ipv6] = true;
    }
}

/* Runs 'n' frames; the tables that may be in force are 'sides' in
 * 'allowed'. */
static void
run_frames(struct test *t, enum phase phase, bool allow0, bool allow1,
           uint64_t n)
{
    struct prefix_query hot[2];

    draw_hot(&t->random, t->sides[allow1].set, hot);
    for (uint64_t i = 0; i < n && !t->why[phase][0]; i++) {
        const struct side *drawn = &t->sides[allow0 && allow1
                                             ? unit_random(&t->random, 2)
                                             : allow1];
        struct prefix_query query = { .has_src = true };
        struct outcome o;
        struct frame f;

        prefix_random_query(&t->random, drawn->set, &query);
        if (unit_random(&t->random, 2)) {
            make_hot(&t->random, hot, &query);
        }
        make_frame(&f, &t->random, &query);
        run_frame(t, &f, &o);
        if (!(allow0 && agrees(t, &t->sides[0], &query, f.len, &o))
            && !(allow1 && agrees(t, &t->sides[1], &query, f.len, &o))) {
            describe_failure(t, t->why[phase], &query, &o);
        }
        t->n[phase]++;
        t->n_ipv6 += query.ipv6;
    }
}

/* Rounds. */

struct swapper {
    struct table_program *tp;
    pthread_t thread;
    volatile bool stop;
    uint64_t n;
};

static void *
swapper_main(void *swapper_)
{
    struct swapper *s = swapper_;

    while (!s->stop) {
        table_activate(s->tp, ++s->n & 1);
        usleep(20);
    }
    return NULL;
}

static void
side_init(struct test *t, struct side *side, unsigned int slot, size_t size,
          bool with_src, bool with_limits)
{
    size_t n_calls = 0;

    side->slot = slot;
    side->set = prefix_random_set(&t->random, &(struct prefix_random_opts) {
        .n_ipv4 = 1 + size,
        .n_ipv6 = 1 + size,
        .src_percent = with_src ? 15 : 0,
        .limited_percent = with_limits ? 25 : 0,
    });
    prefix_model_init(&side->model, side->set);
    side->hits = xcalloc(side->set->n, sizeof *side->hits);
    side->n_answers = 0;
    table_fill(t->tp, slot, side->set, prefix_random_resolve, &n_calls);
}

/* Compares all hits that the program has counted with those that it should
 * have. */
static void
check_hits(struct test *t, const struct side *side)
{
    for (size_t i = 0; i < side->set->n; i++) {
        uint64_t got = t->tp->slots[side->slot].hits[i].packets;

        if (got != side->hits[i]) {
            fail(t->why_hits, "entry %zu of %zu: %"PRIu64" hits, not "
                 "%"PRIu64, i, side->set->n, got, side->hits[i]);
        }
    }
}

static void
side_uninit(struct side *side)
{
    prefix_model_uninit(&side->model);
    prefix_random_free(side->set);
    free(side->hits);
}

/* All targets but one are ready, in each round another one. */
static void
set_targets(struct test *t, unsigned int round)
{
    for (unsigned int i = 0; i < N_TARGETS; i++) {
        t->ready[i] = i != round % N_TARGETS;
        table_set_target(t->tp, i, if_nametoindex("lo"), MTU, t->ready[i]);
    }
}

static void
run_during(struct test *t, uint64_t n)
{
    struct swapper swapper = { .tp = t->tp };

    if (pthread_create(&swapper.thread, NULL, swapper_main, &swapper)) {
        fail(t->why[DURING], "no thread");
        return;
    }
    run_frames(t, DURING, true, true, n);
    swapper.stop = true;
    pthread_join(swapper.thread, NULL);
    t->n_swaps += swapper.n;
}

static void
run_round(struct test *t, unsigned int round, uint64_t n)
{
    size_t size = sizes[round / 2];
    bool limits = round % 2;
    uint64_t answers;

    set_targets(t, round);
    side_init(t, &t->sides[0], 0, size, true, limits);
    side_init(t, &t->sides[1], 1, size, false, limits);

    table_activate(t->tp, 0);
    run_frames(t, BEFORE, true, false, n / 4);
    answers = t->sides[0].n_answers;
    run_during(t, n / 2);
    if (t->sides[0].n_answers - answers < n / 20
        || t->sides[1].n_answers < n / 20) {
        fail(t->why[DURING], "of %"PRIu64" answers, %"PRIu64" are of the one "
             "and %"PRIu64" of the other table", n / 2,
             t->sides[0].n_answers - answers, t->sides[1].n_answers);
    }
    table_activate(t->tp, 1);
    run_frames(t, AFTER, false, true, n - n / 4 - n / 2);

    check_hits(t, &t->sides[0]);
    check_hits(t, &t->sides[1]);
    table_activate(t->tp, TABLE_NO_SLOT);
    side_uninit(&t->sides[0]);
    side_uninit(&t->sides[1]);
}

static void
report(const struct test *t)
{
    static const enum xdp_counter verdicts[] = {
        XDP_C_REDIRECT, XDP_C_DROP_PREFIX, XDP_C_TO_HOST, XDP_C_UP_ENTRY,
        XDP_C_UP_NOT_OFFLOADED, XDP_C_UP_NOT_READY, XDP_C_UP_GROUP,
        XDP_C_UP_NO_MATCH,
    };
    uint64_t n = t->n[BEFORE] + t->n[DURING] + t->n[AFTER];

    for (enum phase phase = 0; phase < N_PHASES; phase++) {
        test_begin("%s", sentences[phase]);
        CHECK(!t->why[phase][0], "%s", t->why[phase]);
        test_end();
    }
    test_begin("no entry counts a frame that met another one");
    CHECK(!t->why_hits[0], "%s", t->why_hits);
    test_end();

    test_begin("at least half of the frames have an entry, and a quarter is "
               "of each family");
    CHECK(t->n_hits >= n / 2, "%"PRIu64" of %"PRIu64, t->n_hits, n);
    CHECK(t->n_ipv6 >= n / 4 && t->n_ipv6 <= n - n / 4,
          "%"PRIu64" of %"PRIu64" are IPv6", t->n_ipv6, n);
    test_end();

    test_begin("each verdict of an entry was met");
    for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++) {
        const char *name = counter_name(verdicts[i]);

        fprintf(stderr, "%s: %"PRIu64"\n", name, t->n_expected[verdicts[i]]);
        CHECK(t->n_expected[verdicts[i]], "%s was not", name);
    }
    test_end();
    fprintf(stderr, "%"PRIu64" frames, %"PRIu64" with an entry, %"PRIu64
            " swaps\n", n, t->n_hits, t->n_swaps);
}

int
main(int argc, char *argv[])
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    struct test t = { .random = { 0x5eed5eed5eed5eed } };

    t.tp = table_load(&(struct table_opts) { .hints = false });
    for (unsigned int round = 0; round < N_ROUNDS; round++) {
        run_round(&t, round, n / N_ROUNDS);
    }
    report(&t);
    table_unload(t.tp);
    return 0;
}
