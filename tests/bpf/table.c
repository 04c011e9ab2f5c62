/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "table.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "afxdp-fast.skel.h"
#include "shorten.skel.h"
#include "util.h"

/* What the kernel makes the first piece of a long frame in a test run, on
 * machines with pages of 4 KB: a page without the headroom and the data that
 * it keeps behind the frame. */
#define TABLE_FIRST_PIECE 3520

static void
die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

/* Maps 'size' bytes of the values of map 'fd'. */
static void *
map_values(int fd, size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (p == MAP_FAILED) {
        die("mapping a BPF map");
    }
    return p;
}

/* Stays on the CPU that it is on, so that all counts are in one place. */
static int
pin_to_cpu(void)
{
    int cpu = sched_getcpu();
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (cpu < 0 || sched_setaffinity(0, sizeof set, &set)) {
        die("CPU affinity");
    }
    return cpu;
}

static void
write_settings(struct afxdp_fast *skel, const struct table_opts *opts)
{
    skel->rodata->table_on = true;
    skel->rodata->hints_on = opts->hints;
    skel->rodata->hints_cookie = TEST_COOKIE;
    skel->rodata->malformed_drop = opts->malformed_drop;
    skel->rodata->frags_on = opts->frags;
    skel->rodata->tags_hidden = opts->tags_hidden;
    skel->rodata->tags_follow = opts->tags_follow;
    skel->rodata->front_on = opts->front;
    skel->rodata->host_on = opts->host;
    skel->rodata->port_number = opts->port_number;
    if (opts->max_frame) {
        skel->rodata->max_frame = opts->max_frame;
    }
    if (opts->frags) {
        bpf_program__set_flags(skel->progs.afxdp_fast, BPF_F_XDP_HAS_FRAGS);
    }
}

/* Shares what the daemon's ports do. */
static void
share_maps(struct afxdp_fast *skel, const struct afxdp_fast *neighbor)
{
    if (bpf_map__reuse_fd(skel->maps.cache4,
                          bpf_map__fd(neighbor->maps.cache4))
        || bpf_map__reuse_fd(skel->maps.cache6,
                             bpf_map__fd(neighbor->maps.cache6))
        || bpf_map__reuse_fd(skel->maps.learned,
                             bpf_map__fd(neighbor->maps.learned))) {
        die("sharing maps");
    }
}

/* Enters 'key' in a map of what is the host's. */
static void
put_host(const struct bpf_map *map, const void *key)
{
    uint32_t one = 1;

    if (bpf_map_update_elem(bpf_map__fd(map), key, &one, BPF_ANY)) {
        die("a map of the host's traffic");
    }
}

/* The host is 10.0.0.2 and 2001:db8::2, at the MAC address that frames have if
 * nothing else is said, also behind the tags 7 and 8, and at another in VLAN
 * 50; and it wants a port of SCTP and one of UDP, and router
 * advertisements. */
static void
set_host(const struct afxdp_fast *skel)
{
    static const struct xdp_host_place places[] = {
        { { 2, 0, 0, 0, 0, 2 }, 0, 0 },
        { { 2, 0, 0, 0, 0, 2 }, 7, 8 },
        { { 2, 0, 0, 0, 0, 0x50 }, 50, 0 },
        { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, 0, 0 },
        { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, 50, 0 },
    };
    static const struct xdp_host_address addresses[] = {
        { 4, { 10, 0, 0, 2 } },
        { 6, { 0x20, 0x01, 0x0d, 0xb8, [15] = 2 } },
    };
    static const uint32_t ports[] = {
        XDP_HOST_PORT(IPPROTO_SCTP, 80), XDP_HOST_PORT(IPPROTO_UDP, 4789),
        XDP_HOST_PORT(IPPROTO_ICMPV6, 134),
    };

    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        put_host(skel->maps.host_places, &places[i]);
    }
    for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
        put_host(skel->maps.host_addresses, &addresses[i]);
    }
    for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
        put_host(skel->maps.host_ports, &ports[i]);
    }
}

/* The program behind one that makes the first piece of frames shorter. */
static void
load_front(struct table_program *tp)
{
    uint32_t zero = 0;

    tp->front = shorten__open_and_load();
    if (!tp->front
        || bpf_map_update_elem(bpf_map__fd(tp->front->maps.next), &zero,
                               &tp->fd, BPF_ANY)) {
        die("the program in front");
    }
}

struct table_program *
table_load(const struct table_opts *opts)
{
    struct table_program *tp = calloc(1, sizeof *tp);
    struct afxdp_fast *skel = afxdp_fast__open();
    uint32_t zero = 0;

    if (!skel) {
        die("opening the program");
    }
    write_settings(skel, opts);
    if (opts->neighbor) {
        share_maps(skel, opts->neighbor->skel);
    }
    /* libbpf forgets them when it loads. */
    tp->tables_flags = bpf_map__map_flags(
        bpf_map__inner_map(skel->maps.tables));
    tp->hits_flags = bpf_map__map_flags(bpf_map__inner_map(skel->maps.hits));
    if (afxdp_fast__load(skel)) {
        die("loading the program");
    }
    tp->skel = skel;
    tp->fd = bpf_program__fd(skel->progs.afxdp_fast);
    tp->socket = socket(AF_XDP, SOCK_RAW, 0);
    if (tp->socket < 0
        || bpf_map_update_elem(bpf_map__fd(skel->maps.xsks), &zero,
                               &tp->socket, BPF_ANY)) {
        die("AF_XDP socket");
    }
    tp->cpu = pin_to_cpu();
    tp->n_cpus = libbpf_num_possible_cpus();
    tp->per_cpu = calloc(tp->n_cpus, sizeof *tp->per_cpu);
    tp->live = map_values(bpf_map__fd(skel->maps.live), sizeof *tp->live);
    tp->live->share = 1 << 16;
    tp->targets = map_values(bpf_map__fd(skel->maps.targets),
                             TABLE_N_TARGETS * sizeof *tp->targets);
    if (opts->frags) {
        load_front(tp);
    }
    if (opts->host) {
        set_host(skel);
    }
    return tp;
}

static void
slot_uninit(struct table_slot *slot)
{
    if (slot->hits_map) {
        munmap(slot->hits_map, slot->hits_size);
    }
    memset(slot, 0, sizeof *slot);
}

void
table_unload(struct table_program *tp)
{
    slot_uninit(&tp->slots[0]);
    slot_uninit(&tp->slots[1]);
    munmap((void *) tp->live, sizeof *tp->live);
    munmap((void *) tp->targets, TABLE_N_TARGETS * sizeof *tp->targets);
    shorten__destroy(tp->front);
    afxdp_fast__destroy(tp->skel);
    close(tp->socket);
    free(tp->per_cpu);
    free(tp);
}

/* Puts a new array of 'n' values into slot 'slot' of 'outer', and returns its
 * values. */
static void *
new_inner(const struct bpf_map *outer, uint32_t slot, uint32_t flags,
          uint32_t value_size, uint32_t n)
{
    LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags);
    int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "test_table", 4, value_size,
                            n, &opts);
    void *values;

    if (fd < 0) {
        die("making a table's map");
    }
    values = map_values(fd, (size_t) n * value_size);
    if (bpf_map_update_elem(bpf_map__fd(outer), &slot, &fd, BPF_ANY)) {
        die("putting a table into its slot");
    }
    close(fd);
    return values;
}

void
table_fill(struct table_program *tp, unsigned int slot,
           const struct prefix_set *set,
           struct prefix_verdict (*resolve)(const struct prefix_entry *,
                                            void *aux), void *aux)
{
    struct table_slot *s = &tp->slots[slot];
    static uint32_t n_loads;    /* Of tables, by all programs. */
    uint32_t stride = (MAX(set->n, 1) + 1) & ~1U;
    uint32_t n_hits = tp->n_cpus * stride;
    struct prefix_blob blob;
    char *error = prefix_blob_build(set, resolve, aux, &blob);
    void *lines;

    if (error) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    lines = new_inner(tp->skel->maps.tables, slot, tp->tables_flags,
                      TABLE_LINE, blob.n_lines);
    memcpy(lines, blob.lines, blob.n_lines * TABLE_LINE);
    munmap(lines, blob.n_lines * TABLE_LINE);

    slot_uninit(s);
    s->n = set->n;
    s->hits_size = (size_t) n_hits * sizeof *s->hits;
    s->hits_map = new_inner(tp->skel->maps.hits, slot, tp->hits_flags,
                            sizeof *s->hits, n_hits);
    s->hits = (struct table_counter *) s->hits_map + tp->cpu * stride;
    tp->live->counters_stride[slot] = stride;
    s->active = (++n_loads << TABLE_ACTIVE_SHIFT | blob.active_flags
                 | slot);
    prefix_blob_uninit(&blob);
}

void
table_activate(struct table_program *tp, unsigned int slot)
{
    tp->live->active = slot < TABLE_NO_SLOT ? tp->slots[slot].active : 0;
}

void
table_set_target(struct table_program *tp, uint32_t index, int ifindex,
                 uint32_t mtu, bool ready)
{
    uint32_t device = ifindex;

    if (bpf_map_update_elem(bpf_map__fd(tp->skel->maps.devices), &index,
                            &device, BPF_ANY)) {
        die("device of a target");
    }
    tp->targets[index].ifindex = ifindex;
    tp->targets[index].mtu = mtu;
    tp->targets[index].flags = 0;
    tp->targets[index].ready = ready;
}

void
table_set_target_sg(struct table_program *tp, uint32_t index)
{
    tp->targets[index].flags |= TABLE_TARGET_SG;
}

static void
read_counters(struct table_program *tp)
{
    struct xdp_counters *counters = &tp->counters;
    uint32_t zero = 0;

    if (bpf_map_lookup_elem(bpf_map__fd(tp->skel->maps.counters), &zero,
                            tp->per_cpu)) {
        die("reading counters");
    }
    memset(counters, 0, sizeof *counters);
    for (int cpu = 0; cpu < tp->n_cpus; cpu++) {
        for (int i = 0; i < XDP_N_COUNTERS; i++) {
            counters->n[i] += tp->per_cpu[cpu].n[i];
        }
    }
}

uint32_t
table_run(struct table_program *tp, const void *frame, size_t len,
          struct xdp_counters *counters)
{
    LIBBPF_OPTS(bpf_test_run_opts, opts,
                .data_in = frame,
                .data_size_in = len);

    if (bpf_prog_test_run_opts(tp->fd, &opts)) {
        die("BPF_PROG_TEST_RUN");
    }
    read_counters(tp);
    *counters = tp->counters;
    return opts.retval;
}

/* Bytes to put in front of the frame for shorten.bpf.c to take away. */
static uint32_t
filler(const struct table_source *source, size_t len)
{
    if (!source->first_piece || source->first_piece >= len
        || source->first_piece >= TABLE_FIRST_PIECE) {
        return 0;
    }
    return TABLE_FIRST_PIECE - source->first_piece;
}

/* Takes apart what the test run returned. */
static void
take_output(struct table_outcome *outcome, const uint8_t *out, size_t out_len,
            uint32_t meta)
{
    outcome->meta_len = meta;
    outcome->len = out_len - meta;
    if (meta > sizeof outcome->meta
        || outcome->len > sizeof outcome->frame) {
        die("a test run's output");
    }
    memcpy(outcome->meta, out, meta);
    memcpy(outcome->frame, out + meta, outcome->len);
}

void
table_run_frame(struct table_program *tp,
                const struct table_source *source, const void *frame,
                size_t len, struct table_outcome *outcome)
{
    static uint8_t in[TABLE_MAX_FRAME + TABLE_FIRST_PIECE];
    static uint8_t out[TABLE_MAX_FRAME + TABLE_FIRST_PIECE];
    static const struct table_source whole;
    const struct table_source *s = source ? source : &whole;
    uint32_t fill = filler(s, len);
    struct xdp_md ctx = {
        .data = s->meta,
        .data_end = s->meta + fill + len,
    }, ctx_out;
    LIBBPF_OPTS(bpf_test_run_opts, opts,
                .data_in = in,
                .data_size_in = s->meta + fill + len,
                .data_out = out,
                .data_size_out = sizeof out,
                .ctx_in = &ctx,
                .ctx_size_in = sizeof ctx,
                .ctx_out = &ctx_out,
                .ctx_size_out = sizeof ctx_out);
    struct xdp_counters before = tp->counters;
    int fd = tp->fd;

    memset(in, 0xee, s->meta + fill);
    memcpy(in + s->meta + fill, frame, len);
    outcome->error = 0;
    if (fill) {
        tp->front->bss->filler = fill;
        fd = bpf_program__fd(tp->front->progs.shorten_first);
    }
    if (bpf_prog_test_run_opts(fd, &opts)) {
        outcome->error = errno;
        return;
    }
    read_counters(tp);
    for (int i = 0; i < XDP_N_COUNTERS; i++) {
        outcome->counted[i] = tp->counters.n[i] - before.n[i];
    }
    outcome->verdict = opts.retval;
    take_output(outcome, out, opts.data_size_out, ctx_out.data);
}
