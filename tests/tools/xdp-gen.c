/* SPDX-License-Identifier: Apache-2.0 */

/* Sends test frames from inside the kernel: see usage(). */

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "args.h"
#include "flow-table.h"
#include "frame.h"
#include "prefix-mix.h"
#include "probe.h"
#include "xdp-gen.h"
#include "xdp-gen.skel.h"

/* Program runs a system call, if it is to end after a number of frames.  Each
 * call ends in an RCU wait of some 20 ms, so few long calls reach the full
 * rate; but none is longer than about a second, or the end would come late.  A
 * multiple of GEN_BATCH keeps the program's idea of a batch that of the
 * kernel. */
#define RUNS_PER_CALL (16384 * GEN_BATCH)

/* Program runs of a call that a signal ends: more than there is time for. */
#define RUNS_UNTIL_SIGNAL (UINT32_MAX / GEN_BATCH * GEN_BATCH)

/* The exponent of --order=zipf. */
#define DEFAULT_EXPONENT 1.0

static void
usage(void)
{
    puts("xdp-gen: send test frames by BPF_PROG_TEST_RUN with live frames\n"
         "usage: xdp-gen --dev=DEV[,DEV] [OPTIONS]\n"
         "The frames leave through the DEVs, in turn: veths whose peers have\n"
         "GRO on or an XDP program (without either the kernel drops them\n"
         "silently).\n"
         "  --size=N[,N...]   frame sizes in bytes, in turn (64)\n"
         "  --count=N         frames in all (as many as fit in --seconds)\n"
         "  --seconds=N       time at most (10)\n"
         "  --rate=N          frames a second (as fast as it goes); the\n"
         "                    waiting keeps the CPU busy all the same\n"
         "  --leave-out       after a pause that others forced upon it, go\n"
         "                    on at that rate and do not catch up\n"
         "  --burst=N[-N]     frames between two flushes, random when a\n"
         "                    range is given (64)\n"
         "  --flows=N         5-tuples (1)\n"
         "  --order=turn|uniform|zipf[:S]\n"
         "                    which of them is next: each in turn (default),\n"
         "                    any, or number k as likely as 1 / k^S (S = 1)\n"
         "  --prefixes=N      a destination for each flow, in prefix number\n"
         "                    FLOW modulo N of those of \"make-prefixes\" (all to\n"
         "                    192.0.2.1)\n"
         "  --stream=N        number in the probe, 0 to 255 (0)\n"
         "  --filler          write the filler that xdp-sink --verify checks\n"
         "  --dst=MAC --src=MAC\n"
         "  --cpu=N           CPU to run on\n"
         "Prints {\"sent\": frames handed to DEV, \"seconds\": until the\n"
         "last of them}.");
    exit(0);
}

struct options {
    struct gen_config config;
    uint64_t seconds;
    bool uniform;               /* The order of flows... */
    double exponent;            /* ...or Zipf with this, if not 0. */
    uint32_t n_prefixes;        /* 0: one destination. */
    uint8_t dst[6], src[6];
};

static void
parse_devs(struct gen_config *c, char *text)
{
    char *save;

    c->n_devs = 0;
    for (char *s = strtok_r(text, ",", &save); s;
         s = strtok_r(NULL, ",", &save)) {
        if (c->n_devs >= GEN_MAX_DEVS) {
            die("--dev: more than %d devices", GEN_MAX_DEVS);
        }
        c->ifindexes[c->n_devs++] = parse_device("--dev", s);
    }
}

static void
parse_order(struct options *o, const char *text)
{
    int n = 0;

    o->config.by_table = strcmp(text, "turn") != 0;
    o->exponent = 0;
    o->uniform = !strcmp(text, "uniform");
    if (!o->config.by_table || o->uniform) {
        return;
    }
    o->exponent = DEFAULT_EXPONENT;
    if (strcmp(text, "zipf")
        && (sscanf(text, "zipf:%lf%n", &o->exponent, &n) != 1 || text[n]
            || !(o->exponent > 0 && o->exponent <= 10))) {
        die("--order=%s: expected turn, uniform, zipf or zipf:S with S above "
            "0 and at most 10", text);
    }
}

static void
parse_sizes(struct gen_config *c, char *text)
{
    char *save;

    c->n_sizes = 0;
    c->max_size = 0;
    for (char *s = strtok_r(text, ",", &save); s;
         s = strtok_r(NULL, ",", &save)) {
        if (c->n_sizes >= GEN_MAX_SIZES) {
            die("--size: more than %d sizes", GEN_MAX_SIZES);
        }
        uint32_t size = parse_number("size", s, PROBE_MIN_SIZE,
                                     PROBE_MAX_SIZE);
        c->sizes[c->n_sizes++] = size;
        c->max_size = size > c->max_size ? size : c->max_size;
    }
}

static void
parse_burst(struct gen_config *c, char *text)
{
    char *dash = strchr(text, '-');

    if (dash) {
        *dash++ = '\0';
    }
    c->burst_min = parse_number("burst", text, 1, GEN_BATCH);
    c->burst_max = (dash
                    ? parse_number("burst", dash, c->burst_min, GEN_BATCH)
                    : c->burst_min);
}

static void
parse_options(int argc, char *argv[], struct options *o)
{
    static const struct option long_options[] = {
        {"dev", required_argument, NULL, 'd'},
        {"size", required_argument, NULL, 's'},
        {"count", required_argument, NULL, 'c'},
        {"seconds", required_argument, NULL, 't'},
        {"rate", required_argument, NULL, 'r'},
        {"burst", required_argument, NULL, 'b'},
        {"leave-out", no_argument, NULL, 'l'},
        {"flows", required_argument, NULL, 'f'},
        {"order", required_argument, NULL, 'o'},
        {"prefixes", required_argument, NULL, 'x'},
        {"stream", required_argument, NULL, 'i'},
        {"filler", no_argument, NULL, 'F'},
        {"dst", required_argument, NULL, 'D'},
        {"src", required_argument, NULL, 'S'},
        {"cpu", required_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct gen_config *c = &o->config;
    int option;

    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (option) {
        case 'd': parse_devs(c, optarg); break;
        case 's': parse_sizes(c, optarg); break;
        case 'c': c->count = parse_number("count", optarg, 1, 1ull << 40);
            break;
        case 't': o->seconds = parse_number("seconds", optarg, 1, 86400);
            break;
        case 'r':
            c->interval = 1000000000 / parse_number("rate", optarg, 1,
                                                    100000000);
            break;
        case 'b': parse_burst(c, optarg); break;
        case 'f': c->flows = parse_number("flows", optarg, 1, 1 << 22); break;
        case 'l': c->leave_out = 1; break;
        case 'o': parse_order(o, optarg); break;
        case 'x':
            o->n_prefixes = parse_number("prefixes", optarg, 1, MIX_MAX);
            break;
        case 'i': c->stream = parse_number("stream", optarg, 0, 255); break;
        case 'F': c->filler = 1; break;
        case 'D': parse_mac("dst", optarg, o->dst); break;
        case 'S': parse_mac("src", optarg, o->src); break;
        case 'p': pin_to_cpu(parse_number("cpu", optarg, 0, 1023)); break;
        case 'h': usage(); break;
        default: exit(1);
        }
    }
    if (optind < argc) {
        die("%s: not an option (see --help)", argv[optind]);
    }
    if (!c->n_devs) {
        die("--dev: a device is needed");
    }
    if (o->n_prefixes) {
        /* In turn, too: by a table that repeats itself. */
        c->by_table = c->dst_by_table = 1;
    }
}

/* Makes the template of the headers and the part of their checksum that no
 * frame changes. */
static void
init_headers(struct options *o, uint8_t *template)
{
    struct gen_config *c = &o->config;

    frame_init(template, c->max_size, o->dst, o->src);
    c->ip_sum = 0;
    for (int i = 14; i < 34; i += 2) {
        uint16_t word;

        memcpy(&word, template + i, 2);
        if (i != 16 && i != 24 && i < 26) {
            c->ip_sum += word;
        }
    }
    memcpy(&c->daddr, template + 30, sizeof c->daddr);
}

/* Draws the flows, and their destinations. */
static void
fill_tables(uint32_t *flows, uint32_t *dsts, const struct options *o)
{
    struct mix mix;

    if (o->exponent) {
        flow_table_zipf(flows, GEN_TABLE_SIZE, o->config.flows, o->exponent);
    } else if (o->uniform) {
        flow_table_uniform(flows, GEN_TABLE_SIZE, o->config.flows);
    } else {
        for (uint32_t i = 0; i < GEN_TABLE_SIZE; i++) {
            flows[i] = i % o->config.flows;
        }
    }
    if (o->n_prefixes) {
        mix_make(&mix, false, o->n_prefixes);
        for (uint32_t i = 0; i < GEN_TABLE_SIZE; i++) {
            memcpy(&dsts[i], mix.dsts[flows[i] % mix.n], sizeof dsts[i]);
        }
        mix_free(&mix);
    }
}

static void
nothing(int signal)
{
}

/* Arranges for a signal after 'seconds', which ends the call of that moment,
 * and again and again in case it comes between two calls. */
static void
set_timer(uint64_t seconds)
{
    struct itimerval timer = {
        .it_value.tv_sec = seconds, .it_interval.tv_usec = 100000,
    };
    struct sigaction action = { .sa_handler = nothing };

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* Returns the program runs of one call. */
static uint32_t
runs_per_call(const struct gen_config *c)
{
    if (c->count == UINT64_MAX) {
        return RUNS_UNTIL_SIGNAL;
    }

    /* A short count in a long call would be runs that only drop: two runs a
     * frame are what random bursts take. */
    uint64_t runs = c->count / GEN_BATCH * GEN_BATCH * 2 + GEN_BATCH;
    return c->interval || runs > RUNS_PER_CALL ? RUNS_PER_CALL : runs;
}

static void
run(struct xdp_gen *skel, uint8_t *template, const struct options *o)
{
    struct gen_state *state = &skel->bss->state;
    LIBBPF_OPTS(bpf_test_run_opts, opts,
        .data_in = template,
        .data_size_in = o->config.max_size,
        .flags = BPF_F_TEST_XDP_LIVE_FRAMES,
        .batch_size = GEN_BATCH,
        .repeat = runs_per_call(&o->config));
    uint64_t start = now_ns();

    set_timer(o->seconds);
    state->start = start;
    state->deadline = start + o->seconds * 1000000000;
    while (state->sent < o->config.count && now_ns() < state->deadline) {
        if (bpf_prog_test_run_opts(bpf_program__fd(skel->progs.generate),
                                   &opts) && errno != EINTR) {
            die("BPF_PROG_TEST_RUN: %s (live frames need Linux 5.18)",
                strerror(errno));
        }
    }
    if (state->failed) {
        die("%"PRIu64" frames could not be made", (uint64_t) state->failed);
    }
    printf("{\"sent\": %"PRIu64", \"seconds\": %.6f}\n",
           (uint64_t) state->sent,
           state->sent ? (state->last - start) / 1e9 : 0.);
}

int
main(int argc, char *argv[])
{
    struct options o = {
        .config = {
            .count = UINT64_MAX, .flows = 1,
            .burst_min = GEN_BATCH, .burst_max = GEN_BATCH,
            .n_sizes = 1, .sizes = { PROBE_MIN_SIZE },
            .max_size = PROBE_MIN_SIZE,
        },
        .seconds = 10,
        .dst = { 0x02, 0, 0, 0, 0, 2 },
        .src = { 0x02, 0, 0, 0, 0, 1 },
    };
    uint8_t template[PROBE_MAX_SIZE];
    struct xdp_gen *skel;

    parse_options(argc, argv, &o);
    init_headers(&o, template);

    skel = xdp_gen__open();
    if (!skel) {
        die("opening the generator program: %s", strerror(errno));
    }
    memcpy((void *) &skel->rodata->config, &o.config, sizeof o.config);
    memcpy(&skel->bss->headers, template, sizeof skel->bss->headers);
    fill_tables(skel->bss->flow_table, skel->bss->dst_table, &o);
    if (xdp_gen__load(skel)) {
        die("loading the generator program: %s", strerror(errno));
    }
    run(skel, template, &o);
    xdp_gen__destroy(skel);
    return 0;
}
