/* SPDX-License-Identifier: Apache-2.0 */

#include "harness.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "afxdp-fast.skel.h"

/* Queues of the socket map: more than the tests use. */
#define N_QUEUES 4

struct program {
    struct afxdp_fast *skel;
    int socket;
    int n_cpus;
    struct xdp_counters *per_cpu;   /* Room for 'n_cpus'. */
};

static void
die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

/* The maps of a table are there only for a program that has one. */
static void
omit_table(struct afxdp_fast *skel)
{
    struct bpf_map *maps[] = {
        skel->maps.live, skel->maps.tables, skel->maps.hits,
        skel->maps.targets, skel->maps.devices, skel->maps.cache4,
        skel->maps.cache6, skel->maps.learned,
    };

    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        bpf_map__set_autocreate(maps[i], false);
    }
}

/* Loads the program as the daemon would, without a table, and with a socket
 * for queue 0.  The socket need not be bound: a test run stops at the
 * verdict. */
struct program *
program_load(bool hints)
{
    struct program *program = calloc(1, sizeof *program);

    program->skel = afxdp_fast__open();
    if (!program->skel) {
        die("opening the program");
    }
    program->skel->rodata->hints_on = hints;
    program->skel->rodata->hints_cookie = TEST_COOKIE;
    bpf_map__set_max_entries(program->skel->maps.xsks, N_QUEUES);
    omit_table(program->skel);
    if (afxdp_fast__load(program->skel)) {
        die("loading the program");
    }
    program->n_cpus = libbpf_num_possible_cpus();
    program->per_cpu = calloc(program->n_cpus, sizeof *program->per_cpu);
    program->socket = -1;
    program_open_socket(program, 0);
    return program;
}

void
program_unload(struct program *program)
{
    program_close_socket(program);
    afxdp_fast__destroy(program->skel);
    free(program->per_cpu);
    free(program);
}

int
program_fd(const struct program *program)
{
    return bpf_program__fd(program->skel->progs.afxdp_fast);
}

void
program_open_socket(struct program *program, uint32_t queue)
{
    program->socket = socket(AF_XDP, SOCK_RAW, 0);
    if (program->socket < 0
        || bpf_map_update_elem(bpf_map__fd(program->skel->maps.xsks), &queue,
                               &program->socket, BPF_ANY)) {
        die("AF_XDP socket");
    }
}

void
program_close_socket(struct program *program)
{
    if (program->socket >= 0) {
        close(program->socket);
        program->socket = -1;
    }
}

static void
read_counters(const struct program *program, uint64_t sums[XDP_N_COUNTERS])
{
    uint32_t zero = 0;

    memset(sums, 0, XDP_N_COUNTERS * sizeof *sums);
    if (bpf_map_lookup_elem(bpf_map__fd(program->skel->maps.counters), &zero,
                            program->per_cpu)) {
        die("reading counters");
    }
    for (int cpu = 0; cpu < program->n_cpus; cpu++) {
        for (int i = 0; i < XDP_N_COUNTERS; i++) {
            sums[i] += program->per_cpu[cpu].n[i];
        }
    }
}

/* Takes apart what the test run returned: metadata, if any, and the frame. */
static void
take_output(const uint8_t *out, size_t out_len, const uint8_t *frame,
            size_t len, size_t meta, struct outcome *outcome)
{
    size_t out_meta = out_len - len;

    outcome->intact = out_len >= len && !memcmp(out + out_meta, frame, len);
    outcome->have_hints = outcome->intact
                          && out_meta == meta + sizeof outcome->hints;
    if (outcome->have_hints) {
        memcpy(&outcome->hints, out, sizeof outcome->hints);
    }
}

/* Runs 'program' on the 'len' bytes at 'frame'.  'source' may be NULL. */
void
run(const struct program *program, const struct source *source,
    const void *frame, size_t len, struct outcome *outcome)
{
    static uint8_t in[4096], out[4096];
    uint32_t meta = source ? source->meta : 0;
    struct xdp_md ctx = {
        .data = meta,
        .data_end = meta + len,
        .ingress_ifindex = source ? source->ifindex : 0,
        .rx_queue_index = source ? source->queue : 0,
    };
    LIBBPF_OPTS(bpf_test_run_opts, opts,
                .data_in = in,
                .data_size_in = meta + len,
                .data_out = out,
                .data_size_out = sizeof out);
    uint64_t before[XDP_N_COUNTERS];

    if (source) {
        opts.ctx_in = &ctx;
        opts.ctx_size_in = sizeof ctx;
    }
    memset(outcome, 0, sizeof *outcome);
    memset(in, 0xee, meta);
    memcpy(in + meta, frame, len);
    read_counters(program, before);
    if (bpf_prog_test_run_opts(program_fd(program), &opts)) {
        outcome->error = errno;
        return;
    }
    read_counters(program, outcome->counted);
    for (int i = 0; i < XDP_N_COUNTERS; i++) {
        outcome->counted[i] -= before[i];
    }
    outcome->verdict = opts.retval;
    take_output(out, opts.data_size_out, frame, len, meta, outcome);
}

/* Returns the hash in the hints of a frame that must have one: in a loop over
 * many frames, without reading the counters. */
uint32_t
run_for_hash(const struct program *program, const void *frame, size_t len)
{
    static uint8_t out[4096];
    LIBBPF_OPTS(bpf_test_run_opts, opts,
                .data_in = frame,
                .data_size_in = len,
                .data_out = out,
                .data_size_out = sizeof out);
    struct xdp_hints hints;

    if (bpf_prog_test_run_opts(program_fd(program), &opts)) {
        die("BPF_PROG_TEST_RUN");
    }
    memcpy(&hints, out, sizeof hints);
    if (opts.data_size_out != len + sizeof hints
        || !(hints.flags & XDP_HINT_HASH)) {
        test_fail("a frame without a hash");
    }
    return hints.hash;
}

/* What holds for every frame whatever is in it, with hints on and a socket:
 * it goes up whole, with hints of ours that point into the frame, and each
 * group of counters has counted it once. */
void
check_invariants(const struct outcome *o, size_t len)
{
    uint64_t n_parse = 0;

    CHECK(!o->error, "%zu bytes: %s", len, strerror(o->error));
    CHECK(o->verdict == XDP_REDIRECT, "verdict %u", o->verdict);
    CHECK(o->intact, "the frame was changed");
    CHECK(o->have_hints, "no hints in front");
    CHECK(o->hints.cookie == TEST_COOKIE, "cookie %llx", o->hints.cookie);
    CHECK(!o->hints.mark && !o->hints.reserved, "unused fields are not 0");
    CHECK(o->hints.flags & XDP_HINT_HASH || !o->hints.hash, "stray hash");
    CHECK(o->hints.flags & XDP_HINT_L3
          ? o->hints.l3_ofs + 20 <= len : !o->hints.l3_ofs,
          "l3_ofs %u of %zu", o->hints.l3_ofs, len);
    CHECK(o->hints.flags & XDP_HINT_L4
          ? o->hints.l4_ofs + 4 <= len : !o->hints.l4_ofs,
          "l4_ofs %u of %zu", o->hints.l4_ofs, len);
    CHECK(o->counted[XDP_C_TO_USERSPACE] == 1
          && !o->counted[XDP_C_DROP_NO_SOCKET], "verdict miscounted");
    CHECK(o->counted[XDP_C_HINTS_WRITTEN] == 1
          && !o->counted[XDP_C_HINTS_NO_ROOM], "hints miscounted");
    for (int i = XDP_C_PARSE_FRAGMENT; i < XDP_N_COUNTERS; i++) {
        n_parse += o->counted[i];
    }
    CHECK(n_parse <= 1, "%llu parse counters",
          (unsigned long long) n_parse);
}
