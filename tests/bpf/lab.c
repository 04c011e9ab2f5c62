/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "lab.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "afxdp-fast.skel.h"
#include "util.h"

#define READY 1
#define SG 2
#define EMPTY 4

static const struct {
    const char *name;
    uint32_t mtu;
    unsigned int flags;
} targets[] = {
#define LAB_TARGET(NAME, MTU, FLAGS) { NAME, MTU, FLAGS },
    LAB_TARGETS(LAB_TARGET)
#undef LAB_TARGET
};

/* Programs, by settings. */
static struct place {
    struct table_program *program;
    unsigned int settings;
    unsigned int slot;          /* In force. */
    struct prefix_set *set;     /* Or NULL. */
    char *prefixes;             /* That it was made of, or NULL. */
} places[32];
static size_t n_places;

static struct place *
place_of(const struct table_program *program)
{
    for (size_t i = 0; i < n_places; i++) {
        if (places[i].program == program) {
            return &places[i];
        }
    }
    ovs_fatal(0, "no such program");
}

static void
set_targets(struct table_program *program)
{
    int lo = if_nametoindex("lo");
    struct bpf_map *devices = program->skel->maps.devices;

    for (uint32_t i = 0; i < ARRAY_SIZE(targets); i++) {
        table_set_target(program, i, lo, targets[i].mtu,
                         targets[i].flags & READY);
        if (targets[i].flags & SG) {
            table_set_target_sg(program, i);
        }
        if (targets[i].flags & EMPTY) {
            bpf_map_delete_elem(bpf_map__fd(devices), &i);
        }
    }
}

struct table_program *
lab_program(unsigned int settings)
{
    const struct table_opts opts = {
        .hints = settings & LAB_HINTS,
        .malformed_drop = settings & LAB_DROP_MALFORMED,
        .frags = settings & LAB_FRAGS,
        .tags_hidden = settings & LAB_TAGS_HIDDEN,
        .tags_follow = settings & LAB_TAGS_FOLLOW,
        .front = settings & LAB_FRONT,
        .host = settings & LAB_HOST,
        .max_frame = settings & LAB_MAX_FRAME ? LAB_FRAME_MAX : 0,
        .port_number = settings & LAB_NEIGHBOR ? 8 : 7,
        .neighbor = settings & LAB_NEIGHBOR ? lab_program(0) : NULL,
    };
    struct place *p;

    for (p = places; p < places + n_places; p++) {
        if (p->settings == settings) {
            return p->program;
        }
    }
    ovs_assert(n_places < ARRAY_SIZE(places));
    n_places++;
    *p = (struct place) {
        .program = table_load(&opts),
        .settings = settings,
    };
    set_targets(p->program);
    return p->program;
}

void
lab_close(void)
{
    while (n_places) {
        struct place *p = &places[--n_places];

        table_unload(p->program);
        prefix_set_unref(p->set);
        free(p->prefixes);
    }
}

uint32_t
lab_target(const char *name)
{
    uint32_t i;

    for (i = 0; i < ARRAY_SIZE(targets); i++) {
        if (!strcmp(name, targets[i].name)) {
            return i;
        }
    }
    if (strcmp(name, LAB_UNKNOWN)) {
        ovs_fatal(0, "no target %s", name);
    }
    return TABLE_N_TARGETS;
}

static struct prefix_verdict
resolve(const struct prefix_entry *e, void *aux OVS_UNUSED)
{
    struct prefix_verdict verdict = { TABLE_NOT_OFFLOADED, 0 };

    if (strcmp(e->target, LAB_WAITING)) {
        verdict.action = TABLE_REDIRECT;
        verdict.target = lab_target(e->target);
    }
    return verdict;
}

void
lab_set_set(struct table_program *program, struct prefix_set *set)
{
    struct place *p = place_of(program);

    free(p->prefixes);
    p->prefixes = NULL;
    p->slot = !p->slot;
    table_fill(program, p->slot, set, resolve, NULL);
    table_activate(program, p->slot);
    prefix_set_unref(p->set);
    p->set = set;
}

const struct prefix_set *
lab_set_table(struct table_program *program, const char *prefixes)
{
    struct place *p = place_of(program);
    struct prefix_set *set;
    char *error;

    if (!prefixes) {
        table_activate(program, TABLE_NO_SLOT);
        return NULL;
    }
    if (!p->prefixes || strcmp(p->prefixes, prefixes)) {
        error = prefix_set_from_option(prefixes, &set);
        if (error) {
            ovs_fatal(0, "%s: %s", prefixes, error);
        }
        lab_set_set(program, set);
        p->prefixes = xstrdup(prefixes);
    }
    table_activate(program, p->slot);
    return p->set;
}

/* Fills the only value of a per-CPU map, on all CPUs, with zeros, or with
 * 'first' in the first word. */
static void
fill_percpu(const struct bpf_map *map, uint32_t first)
{
    size_t size = ROUND_UP(bpf_map__value_size(map), 8);
    int n_cpus = libbpf_num_possible_cpus();
    uint8_t *values = xzalloc(n_cpus * size);
    uint32_t zero = 0;

    for (int cpu = 0; cpu < n_cpus; cpu++) {
        memcpy(&values[cpu * size], &first, sizeof first);
    }
    if (bpf_map_update_elem(bpf_map__fd(map), &zero, values, BPF_ANY)) {
        ovs_fatal(errno, "writing a map");
    }
    free(values);
}

void
lab_forget(const struct table_program *program)
{
    fill_percpu(program->skel->maps.learned, 0);
}

void
lab_set_note(const struct table_program *program, bool tag_put_back)
{
    BUILD_ASSERT_DECL(!offsetof(struct xdp_front_note, tag_put_back));

    fill_percpu(program->skel->maps.front_note, tag_put_back);
}

uint32_t
lab_max_meta(void)
{
    static uint32_t max;
    struct table_outcome o = { .error = EINVAL };
    uint8_t frame[64] = { 0 };

    for (uint32_t meta = 252; !max; meta -= 4) {
        table_run_frame(lab_program(0), &(struct table_source) {
                            .meta = meta
                        }, frame, sizeof frame, &o);
        max = o.error ? 0 : meta;
    }
    return max;
}

void
lab_run(struct table_program *program, const struct table_source *source,
        const void *frame, size_t len, struct table_outcome *o)
{
    table_run_frame(program, source, frame, len, o);
    if (!o->error && o->counted[XDP_C_UP_LEARN]) {
        table_run_frame(program, source, frame, len, o);
    }
}

static const struct {
    const char *name, *description;
} counters[] = {
#define XDP_COUNTER(ENUM, NAME, DESCRIPTION) { NAME, DESCRIPTION },
    XDP_COUNTERS(XDP_COUNTER)
#undef XDP_COUNTER
};

enum counter_kind
counter_kind(enum xdp_counter c)
{
    const char *d = counters[c].description;

    return (!strncmp(d, "verdict:", 8) ? COUNTER_VERDICT
            : !strncmp(d, "up:", 3) ? COUNTER_UP
            : !strncmp(d, "hints:", 6) ? COUNTER_HINTS
            : COUNTER_OTHER);
}

const char *
counter_name(enum xdp_counter c)
{
    return counters[c].name;
}

uint64_t
counted_of_kind(const struct table_outcome *o, enum counter_kind kind)
{
    uint64_t n = 0;

    for (enum xdp_counter c = 0; c < XDP_N_COUNTERS; c++) {
        n += counter_kind(c) == kind ? o->counted[c] : 0;
    }
    return n;
}
