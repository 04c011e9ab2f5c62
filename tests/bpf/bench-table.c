/* SPDX-License-Identifier: Apache-2.0 */

/* What a frame costs that the prefix table forwards, in nanoseconds more than
 * a bare redirect: see usage().
 *
 * BPF_PROG_TEST_RUN repeats one frame, whose destination draw.bpf.c changes
 * in each round, in front of the program and of the bare redirect alike. */

#include <config.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "afxdp-fast.skel.h"
#include "args.h"
#include "draw.h"
#include "draw.skel.h"
#include "flow-table.h"
#include "frame.h"
#include "prefix-generation.h"
#include "prefix-mix.h"
#include "prefix-set.h"
#include "prefix-trie.h"
#include "util.h"
#include "xdp-layout.h"

/* Loopback is there in every network namespace; no frame reaches it, since a
 * test run ends with the verdict. */
#define TARGET_IFINDEX 1
#define TARGET 0
#define TARGET_MTU 1500

/* A table in force in slot 0, the first one of this program's. */
#define SLOT 0
#define ACTIVE (1 << TABLE_ACTIVE_SHIFT)

/* Of a thousand frames at least so many take the fast path: of the others,
 * some go up for the sake of MAC learning, or look as if their checksum were
 * unfinished. */
#define MIN_REDIRECTED 999

static const struct scenario {
    const char *name;
    bool ipv6;
    uint32_t n;                 /* Prefixes, with a destination in each. */
    double exponent;            /* 0: uniform. */
    int asked;                  /* ns, 0: nothing was. */
} scenarios[] = {
    { "one", false, 1, 0, 20 },
    { "10k-uniform", false, 10000, 0, 30 },
    { "1m-zipf-1.2", false, 1000000, 1.2, 130 },
    { "1m-zipf-1.0", false, 1000000, 1.0, 0 },
    { "one-ipv6", true, 1, 0, 0 },
    { "10k-uniform-ipv6", true, 10000, 0, 0 },
    { "1m-zipf-1.2-ipv6", true, 1000000, 1.2, 0 },
    { "1m-zipf-1.0-ipv6", true, 1000000, 1.0, 0 },
};

struct options {
    const char *scenarios;      /* Commas between them; NULL: all. */
    uint32_t rounds;            /* Of a run. */
    unsigned int runs;          /* Of which the median counts. */
    unsigned int cpu;
    bool program_only;
};

static void
usage(void)
{
    puts("bench-table: ns a frame that the prefix table forwards takes more\n"
         "than a bare redirect, by BPF_PROG_TEST_RUN\n"
         "usage: bench-table [OPTIONS]\n"
         "  --scenarios=NAME[,NAME...]  (all)");
    for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++) {
        printf("      %s\n", scenarios[i].name);
    }
    puts("  --runs=N        of the program and the bare redirect in turn (9)\n"
         "  --rounds=N      of one run (4000000)\n"
         "  --cpu=N         CPU to run on (1)\n"
         "  --program-only  leave the bare redirect out, for a profiler\n"
         "Prints medians, with the smallest and the largest difference of a\n"
         "pair of runs.");
    exit(0);
}

static void
parse_options(int argc, char *argv[], struct options *o)
{
    static const struct option long_options[] = {
        {"scenarios", required_argument, NULL, 's'},
        {"runs", required_argument, NULL, 'n'},
        {"rounds", required_argument, NULL, 'r'},
        {"cpu", required_argument, NULL, 'c'},
        {"program-only", no_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (option) {
        case 's': o->scenarios = optarg; break;
        case 'n': o->runs = parse_number("runs", optarg, 1, 10000); break;
        case 'r': o->rounds = parse_number("rounds", optarg, 1, 1 << 30);
            break;
        case 'c': o->cpu = parse_number("cpu", optarg, 0, 1023); break;
        case 'p': o->program_only = true; break;
        case 'h': usage(); break;
        default: exit(1);
        }
    }
    if (optind < argc) {
        die("%s: not an option (see --help)", argv[optind]);
    }
}

/* The table. */

static struct prefix_verdict
resolve(const struct prefix_entry *e OVS_UNUSED, void *aux OVS_UNUSED)
{
    return (struct prefix_verdict) { TABLE_REDIRECT, TARGET };
}

/* Returns the kernel's memory of a table with the prefixes of 'mix', all of
 * which redirect, and the value of 'live' that puts it in force. */
static struct prefix_generation *
make_generation(const struct mix *mix, struct table_live *live)
{
    struct prefix_entry *entries = xcalloc(mix->n, sizeof *entries);
    struct prefix_set set = { .entries = entries, .n = mix->n };
    struct prefix_generation *gen;
    struct prefix_blob blob;
    char *error = NULL;

    for (size_t i = 0; i < mix->n; i++) {
        memcpy(entries[i].key.addr, mix->prefixes[i].addr, 16);
        entries[i].key.len = mix->prefixes[i].len;
        entries[i].key.ipv6 = mix->ipv6;
        entries[i].action = PREFIX_REDIRECT;
    }
    error = prefix_blob_build(&set, resolve, NULL, &blob);
    if (error || prefix_generation_create(&blob, mix->n, &gen, &error)) {
        die("%s", error);
    }
    memset(live, 0, sizeof *live);
    live->active = ACTIVE | SLOT | blob.active_flags;
    live->share = 1 << 16;
    live->counters_stride[SLOT] = prefix_generation_stride(gen);
    prefix_blob_uninit(&blob);
    free(entries);
    return gen;
}

/* The program, loaded as the daemon does. */

static void
set_value(const struct bpf_map *map, uint32_t key, const void *value)
{
    if (bpf_map_update_elem(bpf_map__fd(map), &key, value, BPF_ANY)) {
        die("map %s: %s", bpf_map__name(map), strerror(errno));
    }
}

static struct afxdp_fast *
load_program(void)
{
    const struct table_target target = {
        .ready = 1, .ifindex = TARGET_IFINDEX, .mtu = TARGET_MTU,
    };
    const uint32_t ifindex = TARGET_IFINDEX;
    struct afxdp_fast *skel = afxdp_fast__open();

    if (!skel) {
        die("opening the program: %s", strerror(errno));
    }
    skel->rodata->table_on = true;
    skel->rodata->frags_on = true;
    bpf_program__set_flags(skel->progs.afxdp_fast, BPF_F_XDP_HAS_FRAGS);
    if (afxdp_fast__load(skel)) {
        die("loading the program: %s", strerror(errno));
    }
    set_value(skel->maps.targets, TARGET, &target);
    set_value(skel->maps.devices, TARGET, &ifindex);
    return skel;
}

static void
put_in_force(const struct afxdp_fast *skel,
             const struct prefix_generation *gen,
             const struct table_live *live)
{
    const struct xdp_table_fds fds = {
        .tables = bpf_map__fd(skel->maps.tables),
        .hits = bpf_map__fd(skel->maps.hits),
        .live = bpf_map__fd(skel->maps.live),
    };
    char *error = NULL;

    if (prefix_generation_enter(gen, &fds, SLOT, &error)) {
        die("%s", error);
    }
    set_value(skel->maps.live, 0, live);
}

static uint64_t
read_counter(const struct afxdp_fast *skel, enum xdp_counter which)
{
    int n_cpus = libbpf_num_possible_cpus();
    struct xdp_counters *per_cpu = xcalloc(n_cpus, sizeof *per_cpu);
    uint64_t sum = 0;
    uint32_t zero = 0;

    if (bpf_map_lookup_elem(bpf_map__fd(skel->maps.counters), &zero,
                            per_cpu)) {
        die("reading counters: %s", strerror(errno));
    }
    for (int cpu = 0; cpu < n_cpus; cpu++) {
        sum += per_cpu[cpu].n[which];
    }
    free(per_cpu);
    return sum;
}

/* What stands in front of it. */

static void
fill_draws(struct draw *skel, const struct mix *mix, double exponent)
{
    uint32_t *flows = xcalloc(N_DRAWS, sizeof *flows);

    if (exponent) {
        flow_table_zipf(flows, N_DRAWS, mix->n, exponent);
    } else {
        flow_table_uniform(flows, N_DRAWS, mix->n);
    }
    for (size_t i = 0; i < N_DRAWS; i++) {
        const uint8_t *dst = mix->dsts[flows[i]];

        if (mix->ipv6) {
            memcpy(skel->bss->draws6[i], dst, 16);
        } else {
            memcpy(&skel->bss->draws4[i], dst, 4);
        }
    }
    free(flows);
}

/* Returns a program that draws destinations and runs the program 'fd', or the
 * bare redirect if that is negative. */
static struct draw *
load_draw(int fd, const struct mix *mix, double exponent)
{
    const uint32_t ifindex = TARGET_IFINDEX;
    struct draw *skel = draw__open();

    if (!skel) {
        die("opening the program in front: %s", strerror(errno));
    }
    skel->rodata->ipv6 = mix->ipv6;
    if (draw__load(skel)) {
        die("loading the program in front: %s", strerror(errno));
    }
    fd = fd < 0 ? bpf_program__fd(skel->progs.bare) : fd;
    set_value(skel->maps.next, 0, &fd);
    set_value(skel->maps.device, 0, &ifindex);
    fill_draws(skel, mix, exponent);
    return skel;
}

/* The frame. */

static uint16_t
checksum(const uint8_t *p, size_t len, uint32_t sum)
{
    for (size_t i = 0; i < len; i += 2) {
        sum += p[i] << 8 | p[i + 1];
    }
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return ~sum;
}

static void
put_be16(uint8_t *p, uint16_t value)
{
    p[0] = value >> 8;
    p[1] = value;
}

/* Makes a frame that draw.bpf.c keeps valid, checksums included: with the
 * destination's two places 0, which both become sums of 0xffff. */
static void
make_frame(struct frame *f, bool ipv6)
{
    size_t addrs_len;
    uint8_t *addrs;

    frame_make(f, ipv6 ? "eth ip6 udp pay=16" : "eth ip4 udp pay=18");
    ovs_assert(f->len == (ipv6 ? DRAW_LEN6 : DRAW_LEN4));
    addrs = frame_addrs(f, &addrs_len);
    memset(addrs + addrs_len / 2, 0, addrs_len / 2);
    memset(f->data + f->l4 + 8, 0, f->len - f->l4 - 8);
    put_be16(f->data + f->l4 + 4, f->len - f->l4);
    put_be16(f->data + f->l4 + 6,
             checksum(addrs, addrs_len + f->len - f->l4,
                      17 + f->len - f->l4));
    if (!ipv6) {
        put_be16(f->data + DRAW_ID, 0);
        put_be16(f->data + f->l3 + 10, checksum(f->data + f->l3, 20, 0));
    }
}

/* Measuring. */

/* Returns ns that this thread has run, without those in which others had its
 * CPU. */
static uint64_t
thread_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

/* Returns ns a round. */
static double
run(const struct draw *skel, const struct frame *f, uint32_t rounds)
{
    LIBBPF_OPTS(bpf_test_run_opts, opts,
                .data_in = f->data,
                .data_size_in = f->len,
                .repeat = rounds);
    uint64_t start = thread_ns();

    if (bpf_prog_test_run_opts(bpf_program__fd(skel->progs.draw), &opts)) {
        die("test run: %s", strerror(errno));
    }
    return (double) (thread_ns() - start) / rounds;
}

static int
compare_doubles(const void *a_, const void *b_)
{
    const double *a = a_, *b = b_;

    return *a < *b ? -1 : *a > *b;
}

static double
median(double *values, unsigned int n)
{
    qsort(values, n, sizeof *values, compare_doubles);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

static void
measure(const struct scenario *s, const struct options *o,
        const struct draw *bare, const struct draw *table)
{
    double *b = xcalloc(o->runs, sizeof *b);
    double *t = xcalloc(o->runs, sizeof *t);
    double *more = xcalloc(o->runs, sizeof *more);
    struct frame f;

    make_frame(&f, s->ipv6);
    run(table, &f, N_DRAWS);
    for (unsigned int i = 0; i < o->runs; i++) {
        b[i] = o->program_only ? 0 : run(bare, &f, o->rounds);
        t[i] = run(table, &f, o->rounds);
        more[i] = t[i] - b[i];
    }
    printf("%-18s %5.1f %7.1f", s->name, median(b, o->runs),
           median(t, o->runs));
    printf("   %+5.1f", median(more, o->runs));
    printf(" (%+.1f..%+.1f)", more[0], more[o->runs - 1]);
    if (s->asked) {
        printf("  asked: %d", s->asked);
    }
    putchar('\n');
    fflush(stdout);
    free(b);
    free(t);
    free(more);
}

static void
bench(const struct scenario *s, const struct options *o)
{
    struct afxdp_fast *program = load_program();
    struct prefix_generation *gen;
    struct draw *bare, *table;
    struct table_live live;
    uint64_t redirected, rounds;
    struct mix mix;

    mix_make(&mix, s->ipv6, s->n);
    gen = make_generation(&mix, &live);
    put_in_force(program, gen, &live);
    bare = load_draw(-1, &mix, s->exponent);
    table = load_draw(bpf_program__fd(program->progs.afxdp_fast), &mix,
                      s->exponent);
    measure(s, o, bare, table);

    redirected = read_counter(program, XDP_C_REDIRECT);
    rounds = (uint64_t) o->runs * o->rounds + N_DRAWS;
    if (redirected < rounds / 1000 * MIN_REDIRECTED) {
        die("%s: only %"PRIu64" of %"PRIu64" frames took the fast path",
            s->name, redirected, rounds);
    }
    draw__destroy(bare);
    draw__destroy(table);
    prefix_generation_destroy(gen);
    afxdp_fast__destroy(program);
    mix_free(&mix);
}

/* Is 'name' one of the words of 'list'? */
static bool
is_in_list(const char *list, const char *name)
{
    size_t len = strlen(name);

    for (const char *p = list; (p = strstr(p, name)); p += len) {
        if ((p == list || p[-1] == ',') && (!p[len] || p[len] == ',')) {
            return true;
        }
    }
    return false;
}

int
main(int argc, char *argv[])
{
    struct options o = { .rounds = 4000000, .runs = 9, .cpu = 1 };
    int n = 0;

    parse_options(argc, argv, &o);
    /* Of attempts that libbpf makes again without BTF. */
    libbpf_set_print(NULL);
    pin_to_cpu(o.cpu);
    printf("%-18s %5s %7s   %5s\n", "ns a frame", "bare", "program", "more");
    for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++) {
        if (!o.scenarios || is_in_list(o.scenarios, scenarios[i].name)) {
            bench(&scenarios[i], &o);
            n++;
        }
    }
    if (!n) {
        die("--scenarios=%s: none of these (see --help)", o.scenarios);
    }
    return 0;
}
