/* SPDX-License-Identifier: Apache-2.0 */

/* Counts, checks and drops the frames that arrive at a device: see usage(). */

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "args.h"
#include "probe.h"
#include "xdp-sink.h"
#include "xdp-sink.skel.h"

/* Seconds of which the rate is kept one by one; a longer run keeps its first
 * ones. */
#define MAX_SECONDS 3600

/* Time between two looks at the counters: the error of "seconds", and how
 * late the --count'th frame may be noticed. */
#define POLL_NS 10000000

static void
usage(void)
{
    puts("xdp-sink: count, check and drop the frames that arrive at a device\n"
         "usage: xdp-sink --dev=DEV [OPTIONS]\n"
         "  --verify          check the probes of xdp-gen and paced-send:\n"
         "                    order, loss, duplicates, corruption\n"
         "  --filler          check the filler too (sent with --filler)\n"
         "  --latency         report how long probes took, too\n"
         "  --stream=N        number of the stream expected (0)\n"
         "  --offset=N        bytes before the probe, when headers were\n"
         "                    pushed on the way (42)\n"
         "  --seconds=N       end after N seconds (on SIGINT or SIGTERM)\n"
         "  --count=N         end with the Nth frame (intact probe)\n"
         "  --pidfile=FILE    write the process id once frames are counted\n"
         "Prints one JSON object at the end: the counters; lost = numbers\n"
         "missing below the highest seen; seconds and pps from the first to\n"
         "the last arrival; longest_gap_us and longest_delay_us between and\n"
         "of probes; per_second; with --latency the time that 50 %, 90 %,\n"
         "99 % and 99.9 % of the probes took at most, to 3 % of it: p50_us,\n"
         "p90_us, p99_us, p99_9_us.");
    exit(0);
}

struct options {
    struct sink_config config;
    int ifindex;
    uint64_t seconds;
    uint64_t count;
    const char *pidfile;
};

static void
parse_options(int argc, char *argv[], struct options *o)
{
    static const struct option long_options[] = {
        {"dev", required_argument, NULL, 'd'},
        {"verify", no_argument, NULL, 'v'},
        {"filler", no_argument, NULL, 'F'},
        {"latency", no_argument, NULL, 'l'},
        {"stream", required_argument, NULL, 'i'},
        {"offset", required_argument, NULL, 'o'},
        {"seconds", required_argument, NULL, 't'},
        {"count", required_argument, NULL, 'c'},
        {"pidfile", required_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct sink_config *c = &o->config;
    const char *dev = NULL;
    int option;

    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (option) {
        case 'd': dev = optarg; break;
        case 'v': c->verify = 1; break;
        case 'F': c->filler = c->verify = 1; break;
        case 'l': c->latency = c->verify = 1; break;
        case 'i': c->stream = parse_number("stream", optarg, 0, 255); break;
        case 'o': c->offset = parse_number("offset", optarg, 0, 4095); break;
        case 't': o->seconds = parse_number("seconds", optarg, 1, 86400);
            break;
        case 'c': o->count = parse_number("count", optarg, 1, 1ull << 40);
            break;
        case 'p': o->pidfile = optarg; break;
        case 'h': usage(); break;
        default: exit(1);
        }
    }
    if (optind < argc) {
        die("%s: not an option (see --help)", argv[optind]);
    }
    o->ifindex = parse_device("--dev", dev);
}

static void
read_counters(struct xdp_sink *skel, struct sink_counters *sum)
{
    int n = libbpf_num_possible_cpus();
    struct sink_counters values[n];
    uint32_t key = 0;

    memset(sum, 0, sizeof *sum);
    if (bpf_map_lookup_elem(bpf_map__fd(skel->maps.counters), &key, values)) {
        die("reading the counters: %s", strerror(errno));
    }
    for (int i = 0; i < n; i++) {
#define X(MEMBER, MEANING) sum->MEMBER += values[i].MEMBER;
        SINK_COUNTERS
#undef X
    }
}

/* What arrived when, as seen from here every POLL_NS. */
struct history {
    uint64_t packets[MAX_SECONDS];      /* In each second of the run. */
    int n;
    uint64_t total;                     /* So far. */
    uint64_t first_total, first_time;   /* When the first had arrived. */
    uint64_t last_time;                 /* When the total last grew. */
};

static void
history_note(struct history *history, uint64_t total)
{
    if (total != history->total) {
        history->last_time = now_ns();
        if (!history->first_time) {
            history->first_time = history->last_time;
            history->first_total = total;
        }
        history->total = total;
    }
}

static void
history_end_second(struct history *history)
{
    static uint64_t counted;

    if (history->n < MAX_SECONDS) {
        history->packets[history->n++] = history->total - counted;
    }
    counted = history->total;
}

static void
print_history(const struct history *history)
{
    double seconds = (history->last_time - history->first_time) / 1e9;
    uint64_t packets = history->total - history->first_total;

    printf(", \"seconds\": %.3f, \"pps\": %.0f, \"per_second\": [",
           seconds, seconds ? packets / seconds : 0.);
    for (int i = 0; i < history->n; i++) {
        printf("%s%"PRIu64, i ? ", " : "", history->packets[i]);
    }
    printf("]");
}

/* Returns the time in the middle of 'bucket', in us. */
static double
bucket_us(uint32_t bucket)
{
    uint32_t shift = bucket < 2 * SINK_STEPS ? 0 : bucket / SINK_STEPS - 1;
    double ns = (bucket - shift * SINK_STEPS) * (double) (1ull << shift);

    return (shift ? ns + (1ull << shift) / 2. : ns) / 1e3;
}

/* Prints the time that 'percent' of the 'total' probes took at most. */
static void
print_percentile(const __u64 *delays, uint64_t total, double percent,
                 const char *name)
{
    uint64_t sum = 0;
    uint32_t i = 0;

    while (i < SINK_BUCKETS - 1
           && (sum += delays[i]) < total * percent / 100) {
        i++;
    }
    printf(", \"%s_us\": %.2f", name, bucket_us(i));
}

static void
print_latency(const __u64 *delays)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < SINK_BUCKETS; i++) {
        total += delays[i];
    }
    if (total) {
        print_percentile(delays, total, 50, "p50");
        print_percentile(delays, total, 90, "p90");
        print_percentile(delays, total, 99, "p99");
        print_percentile(delays, total, 99.9, "p99_9");
    }
}

static void
print_result(struct xdp_sink *skel, const struct history *history)
{
    const struct sink_stream *stream = &skel->bss->stream;
    struct sink_counters c;

    read_counters(skel, &c);
    printf("{\"lost\": %"PRIu64, (uint64_t) (stream->next - c.good));
#define X(MEMBER, MEANING)                                              \
    printf(", \"" #MEMBER "\": %"PRIu64, (uint64_t) c.MEMBER);
    SINK_COUNTERS
#undef X
    printf(", \"longest_gap_us\": %.1f, \"longest_gap_seq\": %"PRIu64
           ", \"longest_delay_us\": %.1f",
           stream->longest_gap / 1e3, (uint64_t) stream->longest_gap_seq,
           stream->longest_delay / 1e3);
    if (skel->rodata->config.latency) {
        print_latency(skel->bss->delays);
    }
    print_history(history);
    printf("}\n");
}

/* Attaches the program to the device's ingress.  The hook is ours: a device
 * that has one already is somebody else's. */
static void
attach(struct xdp_sink *skel, struct bpf_tc_hook *hook)
{
    LIBBPF_OPTS(bpf_tc_opts, opts,
        .prog_fd = bpf_program__fd(skel->progs.sink));
    int error = bpf_tc_hook_create(hook);

    if (error) {
        die("clsact on device %d: %s", hook->ifindex, strerror(-error));
    }
    error = bpf_tc_attach(hook, &opts);
    if (error) {
        bpf_tc_hook_destroy(hook);
        die("attaching to device %d: %s", hook->ifindex, strerror(-error));
    }
}

static void
write_pidfile(const char *name)
{
    FILE *file = fopen(name, "w");

    if (!file || fprintf(file, "%d\n", (int) getpid()) < 0 || fclose(file)) {
        die("--pidfile=%s: %s", name, strerror(errno));
    }
}

static void
run(struct xdp_sink *skel, const struct options *o, const sigset_t *ending)
{
    static struct history history;
    uint64_t next = now_ns() + 1000000000;
    struct sink_counters c;
    uint64_t elapsed = 0;
    bool done = false;

    while (!done) {
        struct timespec wait = { .tv_nsec = POLL_NS };

        done = sigtimedwait(ending, NULL, &wait) > 0;
        read_counters(skel, &c);
        if (o->count && (o->config.verify ? c.good : c.packets) >= o->count) {
            done = true;
        }
        history_note(&history, c.packets);
        if (done || now_ns() >= next) {
            history_end_second(&history);
            next += 1000000000;
            done |= o->seconds && ++elapsed >= o->seconds;
        }
    }
    print_result(skel, &history);
}

int
main(int argc, char *argv[])
{
    struct options o = { .config = { .offset = PROBE_OFFSET } };
    struct xdp_sink *skel;
    sigset_t ending;

    parse_options(argc, argv, &o);
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigprocmask(SIG_BLOCK, &ending, NULL);

    skel = xdp_sink__open();
    if (!skel) {
        die("opening the sink program: %s", strerror(errno));
    }
    memcpy((void *) &skel->rodata->config, &o.config, sizeof o.config);
    if (xdp_sink__load(skel)) {
        die("loading the sink program: %s", strerror(errno));
    }

    LIBBPF_OPTS(bpf_tc_hook, hook,
        .ifindex = o.ifindex, .attach_point = BPF_TC_INGRESS);
    attach(skel, &hook);
    if (o.pidfile) {
        write_pidfile(o.pidfile);
    }
    run(skel, &o, &ending);

    /* Both directions, or libbpf leaves the clsact behind. */
    hook.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS;
    bpf_tc_hook_destroy(&hook);
    xdp_sink__destroy(skel);
    return 0;
}
