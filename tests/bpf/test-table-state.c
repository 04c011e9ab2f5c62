/* SPDX-License-Identifier: Apache-2.0 */

/* What the program keeps from frame to frame: its cache, the source MACs that
 * were seen, counters of entries. */

#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "openvswitch/dynamic-string.h"
#include "report.h"
#include "table-fixtures.h"
#include "util.h"

/* Runs the program on the frame 'spec'; returns which counter of 'kind' has
 * counted it. */
static enum xdp_counter
meet(struct table_program *tp, const char *spec, enum counter_kind kind)
{
    struct table_outcome o;
    struct frame f;

    frame_make(&f, spec);
    table_run_frame(tp, NULL, f.data, f.len, &o);
    CHECK(!o.error, "%s", ovs_strerror(o.error));
    for (enum xdp_counter c = 0; c < XDP_N_COUNTERS; c++) {
        if (counter_kind(c) == kind && o.counted[c]) {
            return c;
        }
    }
    return XDP_N_COUNTERS;
}

/* Checks that the frame 'spec' comes to 'verdict', now and from the cache. */
static void
check_meets(struct table_program *tp, const char *spec,
            enum xdp_counter verdict)
{
    for (int i = 0; i < 2; i++) {
        enum xdp_counter c = meet(tp, spec, COUNTER_VERDICT);

        CHECK(c == verdict, "%s: %s, not %s%s", spec, counter_name(c),
              counter_name(verdict), i ? ", from the cache" : "");
    }
}

/* Without redirects here: they may go up to be learned. */
static void
test_cache_keys(void)
{
    struct table_program *tp = lab_program(0);

    test_begin("what the cache keeps for one VLAN, MAC or source is not "
               "taken for another");
    lab_set_table(tp, "10.0.0.2=drop,vlan=7 10.0.0.2=host "
                      "2001:db8::2=drop,vlan=7 2001:db8::2=host");
    for (int i = 0; i < 2; i++) {
        check_meets(tp, "eth tag tci=7 ip4 udp", XDP_C_DROP_PREFIX);
        check_meets(tp, "eth tag tci=8 ip4 udp", XDP_C_TO_HOST);
        check_meets(tp, "eth ip4 udp", XDP_C_TO_HOST);
        check_meets(tp, "eth tag tci=7 ip6 udp", XDP_C_DROP_PREFIX);
        check_meets(tp, "eth tag tci=8 ip6 udp", XDP_C_TO_HOST);
    }
    lab_set_table(tp, "10.0.0.2=drop,dmac=02:00:00:00:00:07 10.0.0.2=host");
    for (int i = 0; i < 2; i++) {
        check_meets(tp, "eth dmac=02:00:00:00:00:07 ip4 udp",
                    XDP_C_DROP_PREFIX);
        check_meets(tp, "eth dmac=02:00:00:00:00:08 ip4 udp", XDP_C_TO_HOST);
    }
    lab_set_table(tp, "10.0.0.7=drop,src 10.0.0.2=host "
                      "2001:db8::7=drop,src 2001:db8::2=host");
    for (int i = 0; i < 2; i++) {
        check_meets(tp, "eth ip4 from=10.0.0.7 udp", XDP_C_DROP_PREFIX);
        check_meets(tp, "eth ip4 from=10.0.0.8 udp", XDP_C_TO_HOST);
        check_meets(tp, "eth ip6 from=2001:db8::7 udp", XDP_C_DROP_PREFIX);
        check_meets(tp, "eth ip6 from=2001:db8::8 udp", XDP_C_TO_HOST);
    }
    test_end();
}

static void
test_cache_generations(void)
{
    struct table_program *tp = lab_program(0);

    test_begin("what the cache keeps of one table is not taken for another's");
    for (int i = 0; i < 3; i++) {
        lab_set_table(tp, "10.0.0.2=drop 2001:db8::2=host");
        check_meets(tp, "eth ip4 udp", XDP_C_DROP_PREFIX);
        check_meets(tp, "eth ip6 udp", XDP_C_TO_HOST);
        lab_set_table(tp, "10.0.0.2=host 2001:db8::2=drop");
        check_meets(tp, "eth ip4 udp", XDP_C_TO_HOST);
        check_meets(tp, "eth ip6 udp", XDP_C_DROP_PREFIX);
        lab_set_table(tp, NULL);
        check_meets(tp, "eth ip4 udp", XDP_C_TO_USERSPACE);
        lab_set_table(tp, "10.0.0.3=host");
        check_meets(tp, "eth ip4 udp", XDP_C_TO_USERSPACE);
    }
    test_end();
}

static void
test_cache_ports(void)
{
    struct table_program *a = lab_program(0);
    struct table_program *b = lab_program(LAB_NEIGHBOR);

    test_begin("what the cache keeps for one port is not taken for another");
    lab_set_table(a, "10.0.0.2=drop 2001:db8::2=host");
    lab_set_table(b, "10.0.0.2=host 2001:db8::2=drop");
    for (int i = 0; i < 3; i++) {
        check_meets(a, "eth ip4 udp", XDP_C_DROP_PREFIX);
        check_meets(b, "eth ip4 udp", XDP_C_TO_HOST);
        check_meets(a, "eth ip6 udp", XDP_C_TO_HOST);
        check_meets(b, "eth ip6 udp", XDP_C_DROP_PREFIX);
    }
    test_end();
}

/* Flows for test_cache_crowd(): so many that several of one destination meet
 * in a slot of the cache, where only the comparison tells them apart. */
#define N_CROWD 20000
#define CROWD_MACS 60

/* Makes flow 'i' of those that differ in destination MAC, every tenth of which
 * an entry is limited to, or in source.  Returns what has to become of it. */
static enum xdp_counter
make_crowd(struct frame *f, int i, bool src)
{
    bool drop = src ? i & 1 : i % 10 == 0;
    size_t len;
    uint8_t *addrs = frame_addrs(f, &len);

    if (src) {
        addrs[len / 2 - 2] = i >> 8;
        addrs[len / 2 - 1] = i;
        addrs[len == 8 ? 1 : 4] = drop ? 0x80 : 0;
    } else {
        f->data[3] = drop ? 0 : 1 + i % 251;
        f->data[4] = drop ? 0 : i >> 8;
        f->data[5] = drop ? i / 10 % CROWD_MACS : i;
    }
    return drop ? XDP_C_DROP_PREFIX : XDP_C_TO_HOST;
}

static void
run_crowd(struct table_program *tp, const char *spec, bool src)
{
    static struct table_outcome o;
    static struct frame f;

    frame_make(&f, spec);
    for (int i = 0; i < 2 * N_CROWD; i++) {
        enum xdp_counter c = make_crowd(&f, i % N_CROWD, src);

        table_run_frame(tp, NULL, f.data, f.len, &o);
        CHECK(o.counted[c], "%s: flow %d of %d is not in %s", spec,
              i % N_CROWD, N_CROWD, counter_name(c));
    }
}

static void
test_cache_crowd(void)
{
    struct table_program *tp = lab_program(0);
    struct ds s = DS_EMPTY_INITIALIZER;

    test_begin("in a crowded cache no flow is taken for one of another MAC");
    ds_put_cstr(&s, "10.0.0.2=host 2001:db8::2=host");
    for (int i = 0; i < CROWD_MACS; i++) {
        ds_put_format(&s, " 10.0.0.2=drop,dmac=02:00:00:00:00:%02x"
                      " 2001:db8::2=drop,dmac=02:00:00:00:00:%02x", i, i);
    }
    lab_set_table(tp, ds_cstr(&s));
    run_crowd(tp, "eth ip4 esp", false);
    run_crowd(tp, "eth ip6 esp", false);
    test_end();
    ds_destroy(&s);

    test_begin("in a crowded cache no flow is taken for one of another "
               "source");
    lab_set_table(tp, "10.0.0.0/9=host,src 10.128.0.0/9=drop,src "
                      "2001:db8::/33=host,src 2001:db8:8000::/33=drop,src");
    run_crowd(tp, "eth ip4 esp", true);
    run_crowd(tp, "eth ip6 esp", true);
    test_end();
}

/* Appends entries of one prefix for VLANs 1 to 'n'. */
static void
put_chain(struct ds *s, const char *prefix, int n)
{
    for (int vlan = 1; vlan <= n; vlan++) {
        ds_put_format(s, "%s=%s,vlan=%d ", prefix, vlan % 2 ? "drop" : "host",
                      vlan);
    }
}

static void
test_chain(void)
{
    struct table_program *tp = lab_program(0);
    struct ds s = DS_EMPTY_INITIALIZER;
    char spec[64];

    test_begin("each of %d entries of a chain is met", TABLE_MAX_CHAIN);
    put_chain(&s, "10.0.0.2", TABLE_MAX_CHAIN - 1);
    ds_put_cstr(&s, "10.0.0.0/8=userspace ");
    put_chain(&s, "2001:db8::2", TABLE_MAX_CHAIN);
    lab_set_table(tp, ds_cstr(&s));
    for (int vlan = 1; vlan <= TABLE_MAX_CHAIN; vlan++) {
        enum xdp_counter c = vlan % 2 ? XDP_C_DROP_PREFIX : XDP_C_TO_HOST;

        snprintf(spec, sizeof spec, "eth tag tci=%d ip6 udp", vlan);
        check_meets(tp, spec, c);
        snprintf(spec, sizeof spec, "eth tag tci=%d ip4 udp", vlan);
        check_meets(tp, spec, vlan < TABLE_MAX_CHAIN ? c : XDP_C_TO_USERSPACE);
    }
    check_meets(tp, "eth tag tci=65 ip6 udp", XDP_C_TO_USERSPACE);
    test_end();
    ds_destroy(&s);
}

void
test_table_lookup(void)
{
    test_cache_keys();
    test_cache_generations();
    test_cache_ports();
    test_cache_crowd();
    test_chain();
}

/* Does the frame 'spec' go up to be learned? */
static bool
is_learned(struct table_program *tp, const char *spec)
{
    enum xdp_counter c = meet(tp, spec, COUNTER_UP);

    CHECK(c == XDP_C_UP_LEARN || c == XDP_N_COUNTERS, "%s: %s", spec,
          counter_name(c));
    return c == XDP_C_UP_LEARN;
}

/* Checks that of several frames 'spec' the first one goes up, and no other. */
static void
check_learned_once(struct table_program *tp, const char *spec)
{
    CHECK(is_learned(tp, spec), "%s: the first did not go up", spec);
    for (int i = 0; i < 20; i++) {
        CHECK(!is_learned(tp, spec), "%s: another one goes up", spec);
    }
}

static void
begin_epoch(struct table_program *tp, uint32_t epoch)
{
    tp->live->now = epoch << LEARN_EPOCH_SHIFT;
}

static void
test_learn_once(struct table_program *tp, struct table_program *neighbor)
{
    test_begin("of each source MAC, VLAN and port the first frame goes up, "
               "the next do not");
    lab_forget(tp);
    check_learned_once(tp, "eth smac=02:00:00:00:07:01 ip4 udp");
    check_learned_once(tp, "eth smac=02:00:00:00:07:02 ip4 udp");
    check_learned_once(tp, "eth smac=06:00:00:00:07:01 ip4 udp");
    check_learned_once(tp, "eth smac=02:00:00:00:07:01 tag ip4 udp");
    check_learned_once(tp, "eth smac=02:00:00:00:07:01 tag tci=101 ip4 udp");
    check_learned_once(neighbor, "eth smac=02:00:00:00:07:01 ip4 udp");
    test_end();

    test_begin("the flow's other addresses do not make a source MAC new");
    CHECK(!is_learned(tp, "eth smac=02:00:00:00:07:01 ip4 to=10.0.0.9 tcp"),
          "it goes up again");
    test_end();

    test_begin("a source MAC is seen again in the next epoch, not before");
    begin_epoch(tp, 1);
    check_learned_once(tp, "eth smac=02:00:00:00:07:01 ip4 udp");
    tp->live->now += (1 << LEARN_EPOCH_SHIFT) - 1;
    CHECK(!is_learned(tp, "eth smac=02:00:00:00:07:01 ip4 udp"),
          "it goes up before");
    tp->live->now++;
    check_learned_once(tp, "eth smac=02:00:00:00:07:01 ip4 udp");
    test_end();
}

/* Finds a source MAC that is taken for that of 'first' in the present epoch,
 * beginning with number '*n', and makes 'spec' a frame of it.  Returns false
 * if there is none. */
static bool
find_collision(struct table_program *tp, const char *first, unsigned int *n,
               char spec[64])
{
    for (unsigned int end = *n + 20 * LEARN_SLOTS; *n < end; ) {
        snprintf(spec, 64, "eth smac=02:00:00:%02x:%02x:%02x ip4 udp",
                 *n >> 16 & 0xff, *n >> 8 & 0xff, *n & 0xff);
        ++*n;
        lab_forget(tp);
        is_learned(tp, first);
        if (!is_learned(tp, spec)) {
            return true;
        }
    }
    return false;
}

/* If the same two were taken for one another each time, OVS would forget the
 * one that always comes second. */
static void
test_learn_collisions(struct table_program *tp)
{
    const char *first = "eth smac=02:00:00:99:00:00 ip4 udp";
    unsigned int n = 0;
    char spec[64];

    test_begin("two source MACs that are taken for one another in one epoch "
               "are not in the next ones");
    for (int i = 0; i < 8; i++) {
        int n_missed = 0;

        begin_epoch(tp, 1000);
        CHECK(find_collision(tp, first, &n, spec), "no two are");
        for (int epoch = 1001; epoch <= 1100; epoch++) {
            begin_epoch(tp, epoch);
            is_learned(tp, first);
            n_missed += !is_learned(tp, spec);
        }
        CHECK(n_missed <= 3, "\"%s\" missed %d of 100 epochs", spec,
              n_missed);
    }
    test_end();
}

void
test_table_learn(void)
{
    struct table_program *tp = lab_program(0);
    struct table_program *neighbor = lab_program(LAB_NEIGHBOR);

    lab_set_table(tp, "0.0.0.0/0=redirect:out");
    lab_set_table(neighbor, "0.0.0.0/0=redirect:out");
    test_learn_once(tp, neighbor);
    test_learn_collisions(tp);
}

/* Flows: so many that a share of them that is 5 % off does not happen. */
#define N_FLOWS 2000

/* Makes flow 'i', half of them IPv6. */
static void
make_flow(struct frame *f, int i)
{
    frame_make(f, i % 2 ? "eth ip6 udp nosum pay=10"
                        : "eth ip4 udp nosum pay=10");
    frame_set_ports(f, 1024 + i / 2, 53);
}

/* Returns how many of the flows take the fast path.  If 'hashes' are given,
 * each has to go or stay as its hash says; else stores those of all flows,
 * none of which may take it. */
static int
count_fast(struct table_program *tp, uint32_t share, uint32_t *hashes,
           bool store)
{
    struct table_outcome o;
    struct frame f;
    int n = 0;

    tp->live->share = share;
    for (int i = 0; i < N_FLOWS; i++) {
        make_flow(&f, i);
        lab_run(tp, NULL, f.data, f.len, &o);
        CHECK(o.counted[XDP_C_REDIRECT] + o.counted[XDP_C_UP_SHARE] == 1,
              "flow %d is neither redirected nor outside the share", i);
        if (store && o.meta_len == sizeof(struct xdp_hints)) {
            hashes[i] = ((struct xdp_hints *) o.meta)->hash;
        }
        CHECK(o.counted[XDP_C_REDIRECT] == (hashes[i] >> 16 < share),
              "flow %d, hash %"PRIx32", share %"PRIu32, i, hashes[i], share);
        n += o.counted[XDP_C_REDIRECT];
    }
    return n;
}

void
test_table_share(void)
{
    struct table_program *tp = lab_program(LAB_HINTS);
    static uint32_t hashes[N_FLOWS];
    int percents[] = { 0, 1, 10, 50, 99, 100 };

    lab_set_table(tp, "0.0.0.0/0=redirect:out ::/0=redirect:out");
    for (size_t i = 0; i < ARRAY_SIZE(percents); i++) {
        int p = percents[i], n;

        test_begin("with a share of %d %% so many flows take the fast path, "
                   "by their hash", p);
        n = count_fast(tp, (p << 16) / 100, hashes, !p);
        CHECK(p % 100 ? abs(n * 100 / N_FLOWS - p) < 5
                        && n > 0 && n < N_FLOWS
                      : n == p * N_FLOWS / 100,
              "%d of %d did", n, N_FLOWS);
        test_end();
    }
    tp->live->share = 1 << 16;
}

/* Returns the counters of 'entry' on 'cpu' of the table in 'slot'. */
static const volatile struct table_counter *
counter_at(const struct table_program *tp, unsigned int slot, int cpu,
           size_t entry)
{
    const volatile struct table_counter *hits = tp->slots[slot].hits_map;

    return &hits[cpu * tp->live->counters_stride[slot] + entry];
}

static void
pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set)) {
        ovs_fatal(errno, "CPU %d", cpu);
    }
}

/* Checks all counters of all CPUs: 'expected' packets at each CPU and
 * entry. */
static void
check_hits(const struct table_program *tp, unsigned int slot,
           const uint64_t *expected)
{
    for (int cpu = 0; cpu < tp->n_cpus; cpu++) {
        for (size_t i = 0; i < tp->slots[slot].n; i++) {
            uint64_t n = counter_at(tp, slot, cpu, i)->packets;
            uint64_t x = expected[cpu * tp->slots[slot].n + i];

            CHECK(n == x, "entry %"PRIuSIZE" on CPU %d: %"PRIu64" packets, "
                  "not %"PRIu64, i, cpu, n, x);
        }
    }
}

/* Runs a frame for each entry on 'cpu', and checks what was counted. */
static void
hit_all(struct table_program *tp, unsigned int slot, int cpu,
        uint64_t *expected)
{
    static const char *const specs[] = {
        "eth ip4 to=10.0.0.1 udp", "eth ip4 to=10.0.0.2 udp pay=10",
        "eth ip4 to=10.0.0.3 udp pay=100", "eth ip4 to=10.0.0.4 tcp pay=5",
        "eth ip4 to=10.0.0.5 tcp",
    };
    struct table_outcome o;
    struct frame f;

    for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
        const volatile struct table_counter *c;
        unsigned long long bytes;

        c = counter_at(tp, slot, cpu, i);
        bytes = c->bytes;
        tp->live->now++;
        frame_make(&f, specs[i]);
        lab_run(tp, NULL, f.data, f.len, &o);
        /* The last entry is not offloaded: nobody has decided. */
        if (i < 4) {
            expected[cpu * tp->slots[slot].n + i]++;
            CHECK(c->last == tp->live->now,
                  "entry %"PRIuSIZE": the time of its last frame", i);
            CHECK(c->bytes == bytes + o.len,
                  "entry %"PRIuSIZE": %llu bytes more, not %"PRIuSIZE, i,
                  c->bytes - bytes, o.len);
        }
        check_hits(tp, slot, expected);
    }
}

void
test_table_hits(void)
{
    struct table_program *tp = lab_program(0);
    unsigned int slot;
    uint64_t *expected;
    cpu_set_t allowed;

    test_begin("a frame counts for its entry, where its CPU counts, and "
               "nowhere else");
    lab_set_table(tp, "10.0.0.1=redirect:out 10.0.0.2=drop 10.0.0.3=host "
                      "10.0.0.4=userspace 10.0.0.5=redirect:" LAB_WAITING);
    slot = tp->live->active & TABLE_ACTIVE_SLOT;
    expected = xcalloc(tp->n_cpus * tp->slots[slot].n, sizeof *expected);
    CPU_ZERO(&allowed);
    for (int cpu = 0; cpu < tp->n_cpus; cpu++) {
        CPU_SET(cpu, &allowed);
    }
    sched_setaffinity(0, sizeof allowed, &allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int i = 0; i < 3; i++) {
        for (int cpu = 0; cpu < tp->n_cpus; cpu++) {
            if (CPU_ISSET(cpu, &allowed)) {
                pin(cpu);
                hit_all(tp, slot, cpu, expected);
            }
        }
    }
    pin(tp->cpu);
    free(expected);
    test_end();

    test_begin("a frame that goes up instead does not count for its entry");
    lab_set_table(tp, "0.0.0.0/0=redirect:down");
    slot = tp->live->active & TABLE_ACTIVE_SLOT;
    check_meets(tp, "eth ip4 udp", XDP_C_TO_USERSPACE);
    CHECK(!counter_at(tp, slot, tp->cpu, 0)->packets, "it has");
    test_end();

    test_begin("a frame counts with the bytes that it is sent with");
    lab_set_table(tp, "0.0.0.0/0=redirect:out,push-vlan=5");
    slot = tp->live->active & TABLE_ACTIVE_SLOT;
    for (int i = 0; i < 2 && !counter_at(tp, slot, tp->cpu, 0)->packets; i++) {
        meet(tp, "eth ip4 udp pay=58", COUNTER_VERDICT);
    }
    CHECK(counter_at(tp, slot, tp->cpu, 0)->bytes == 104, "%llu bytes",
          counter_at(tp, slot, tp->cpu, 0)->bytes);
    test_end();
}
