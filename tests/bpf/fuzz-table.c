/* SPDX-License-Identifier: Apache-2.0 */

/* usage: fuzz-table [FRAMES [CAPTURES [SEED]]]
 *
 * Runs the program on FRAMES (100,000) frames: random bytes, those of the
 * fixtures and of the captures in the folder CAPTURES, with changes; over
 * random tables and settings.  The same frames each time, if SEED is the
 * same. */

#include <config.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "afxdp-fast.skel.h"
#include "fuzz.h"
#include "openvswitch/dynamic-string.h"
#include "table-fixtures.h"
#include "util.h"

/* Frames for one table. */
#define BATCH 2000

/* A test run's longest frame without frags: a page less what the kernel keeps
 * around it. */
#define MAX_LINEAR 3400

static const unsigned int settings[] = {
    0, LAB_HINTS, LAB_DROP_MALFORMED, LAB_FRAGS, LAB_FRAGS | LAB_HINTS,
    LAB_FRAGS | LAB_DROP_MALFORMED | LAB_MAX_FRAME, LAB_TAGS_HIDDEN,
    LAB_TAGS_HIDDEN | LAB_TAGS_FOLLOW | LAB_HINTS, LAB_FRONT,
    LAB_FRONT | LAB_FRAGS | LAB_HINTS, LAB_HOST, LAB_HOST | LAB_HINTS,
    LAB_HOST | LAB_FRONT | LAB_FRAGS,
};

static const char *const sentences[] = {
#define FUZZ_RULE(ENUM, SENTENCE) SENTENCE,
    FUZZ_RULES(FUZZ_RULE)
#undef FUZZ_RULE
};

struct fuzz {
    struct unit_random random;
    struct fuzz_state state;
    char *prefixes;                     /* The table in force. */
    uint64_t n_frames, n_batches;
    uint64_t counted[XDP_N_COUNTERS];
    char why[N_FUZZ_RULES][512];        /* First failure, or "". */
};

#define PICK(R, ARRAY) ((ARRAY)[unit_random(R, ARRAY_SIZE(ARRAY))])

/* Appends the rewrites of an entry. */
static void
put_rewrites(struct unit_random *r, struct ds *s)
{
    static const char *const vlans[] = {
        "", "", "", ",pop-vlan", ",push-vlan=9", ",push-vlan=0x88a8:10",
        ",pop-vlan,push-vlan=11", ",set-vlan=12", ",set-vlan=4094",
    };

    if (unit_random(r, 2)) {
        return;
    }
    ds_put_format(s, "%s%s%s%s",
                  unit_random(r, 3) ? "" : ",set-smac=02:aa:bb:cc:dd:ee",
                  unit_random(r, 3) ? "" : ",set-dmac=02:11:22:33:44:55",
                  unit_random(r, 2) ? "" : ",dec-ttl", PICK(r, vlans));
}

/* Appends an entry for all that no other one takes, of which most are a
 * redirect. */
static void
put_default(struct unit_random *r, struct ds *s, const char *prefix)
{
    static const char *const actions[] = {
        "redirect:sg", "redirect:sg", "redirect:jumbo-sg", "redirect:out",
        "redirect:jumbo-sg", "redirect:small", "redirect:down",
        "redirect:" LAB_WAITING, "host",
    };
    const char *action = PICK(r, actions);

    ds_put_format(s, "%s=%s", prefix, action);
    if (action[0] == 'r') {
        put_rewrites(r, s);
    }
    ds_put_char(s, ' ');
}

static void
put_entry(struct unit_random *r, struct ds *s)
{
    static const char *const addrs4[] = {
        "10.0.0.1", "10.0.0.2", "10.0.0.3", "192.168.0.0", "128.0.0.0",
        "0.0.0.0",
    };
    static const char *const addrs6[] = {
        "2001:db8::1", "2001:db8::2", "fe80::", "ff00::", "8000::", "::",
    };
    static const char *const actions[] = {
        "redirect", "redirect", "redirect", "drop", "host", "userspace",
    };
    static const char *const ports[] = {
        "out", "out", "sg", "sg", "small", "jumbo", "jumbo-sg", "jumbo-sg",
        "down", "gone", LAB_UNKNOWN, LAB_WAITING,
    };
    static const char *const limits[] = {
        ",vlan=0", ",vlan=100", ",vlan=200", ",dmac=02:00:00:00:00:02",
        ",vlan=100,dmac=02:00:00:00:00:02",
    };
    bool ipv6 = unit_random(r, 2);
    const char *action = PICK(r, actions);
    bool redirect = action == actions[0];

    ds_put_format(s, "%s/%u=%s%s%s", ipv6 ? PICK(r, addrs6) : PICK(r, addrs4),
                  1 + unit_random(r, ipv6 ? 128 : 32),
                  action, redirect ? ":" : "",
                  redirect ? PICK(r, ports) : "");
    if (!unit_random(r, 6)) {
        ds_put_cstr(s, ",src");
    }
    if (!unit_random(r, 4)) {
        ds_put_cstr(s, PICK(r, limits));
    }
    if (redirect) {
        put_rewrites(r, s);
    }
    ds_put_char(s, ' ');
}

/* Makes a table.  Entries that contradict each other make it another one. */
static struct prefix_set *
make_table(struct fuzz *f)
{
    struct ds s = DS_EMPTY_INITIALIZER;
    struct prefix_set *set = NULL;

    while (!set) {
        char *error;

        ds_clear(&s);
        for (int n = unit_random(&f->random, 16); n > 0; n--) {
            put_entry(&f->random, &s);
        }
        if (unit_random(&f->random, 8)) {
            put_default(&f->random, &s, "0.0.0.0/0");
            put_default(&f->random, &s, "::/0");
        }
        error = prefix_set_from_option(ds_cstr(&s), &set);
        free(error);
    }
    free(f->prefixes);
    f->prefixes = ds_steal_cstr(&s);
    return set;
}

/* Puts a table, settings and the like in force. */
static void
begin_batch(struct fuzz *f)
{
    static const unsigned int shares[] = {
        0, 1 << 15, 1 << 16, 1 << 16, 1 << 16,
    };
    struct fuzz_state *s = &f->state;
    uint32_t zero = 0;

    s->settings = settings[f->n_batches++ % ARRAY_SIZE(settings)];
    s->program = lab_program(s->settings);
    s->set = make_table(f);
    lab_set_set(s->program, CONST_CAST(struct prefix_set *, s->set));
    s->slot = s->program->live->active & TABLE_ACTIVE_SLOT;
    prefix_model_init(&s->model, s->set);
    memset(s->hits, 0, sizeof s->hits);
    ovs_assert(s->set->n <= ARRAY_SIZE(s->hits));
    if (!unit_random(&f->random, 16)) {
        table_activate(s->program, TABLE_NO_SLOT);
    }
    s->program->live->now++;
    s->program->live->share = PICK(&f->random, shares);
    s->tag_put_back = s->settings & LAB_FRONT && unit_random(&f->random, 2);
    lab_set_note(s->program, s->tag_put_back);
    if (unit_random(&f->random, 16)) {
        bpf_map_update_elem(bpf_map__fd(s->program->skel->maps.xsks), &zero,
                            &s->program->socket, BPF_ANY);
    } else {
        bpf_map_delete_elem(bpf_map__fd(s->program->skel->maps.xsks), &zero);
    }
}

static void
end_batch(struct fuzz *f)
{
    prefix_model_uninit(&f->state.model);
}

/* Keeps why a rule is broken, and shows the first frame that breaks it. */
static void
fail(struct fuzz *f, enum fuzz_rule rule, const struct table_source *source,
     const struct fuzz_frame *frame, const char *why)
{
    if (f->why[rule][0]) {
        return;
    }
    snprintf(f->why[rule], sizeof f->why[rule], "frame %"PRIu64", settings "
             "%#x: %s", f->n_frames, f->state.settings, why);
    fprintf(stderr, "%s: %s\n%s\nmetadata %"PRIu32", first piece %"PRIu32"\n",
            sentences[rule], f->why[rule], f->prefixes, source->meta,
            source->first_piece);
    ovs_hex_dump(stderr, frame->data, frame->len, 0, false);
}

static void
make_source(struct fuzz *f, size_t len, struct table_source *source)
{
    uint32_t metas[] = { 0, 0, 0, 0, 0, 4, 32, lab_max_meta() };
    bool pieces = f->state.settings & LAB_FRAGS && !unit_random(&f->random, 3);

    *source = (struct table_source) { .meta = PICK(&f->random, metas) };
    if (pieces) {
        source->first_piece = 14 + unit_random(&f->random,
                                               unit_random(&f->random, 2)
                                               ? len - 13 : 400);
    }
}

static void
run_frame(struct fuzz *f)
{
    static struct fuzz_frame frame;
    static struct table_outcome o;
    size_t max = (f->state.settings & LAB_FRAGS ? TABLE_MAX_FRAME - 8
                  : MAX_LINEAR);
    struct table_source source;
    enum fuzz_rule rule;
    char why[256];

    fuzz_make_frame(&f->random, max, &frame);
    if (f->state.tag_put_back) {
        fuzz_put_tag(&f->random, &frame);
    }
    make_source(f, frame.len, &source);
    table_run_frame(f->state.program, &source, frame.data, frame.len, &o);
    f->n_frames++;
    rule = fuzz_check(&f->state, &source, &frame, &o, why);
    if (rule != N_FUZZ_RULES) {
        fail(f, rule, &source, &frame, why);
    }
    for (enum xdp_counter c = 0; !o.error && c < XDP_N_COUNTERS; c++) {
        f->counted[c] += o.counted[c];
    }
}

/* Prints the report's line of a test. */
static void
report_line(const char *sentence, const char *why)
{
    if (why[0]) {
        printf("not ok - fuzzing: %s: %s\n", sentence, why);
    } else {
        printf("ok - fuzzing: %s\n", sentence);
    }
}

static void
report(const struct fuzz *f)
{
    char missing[256] = "";

    for (enum fuzz_rule rule = 0; rule < N_FUZZ_RULES; rule++) {
        report_line(sentences[rule], f->why[rule]);
    }
    for (enum xdp_counter c = 0; c < XDP_N_COUNTERS; c++) {
        fprintf(stderr, "%s: %"PRIu64"\n", counter_name(c), f->counted[c]);
        /* The front program cannot be test-run. */
        if (!f->counted[c] && c != XDP_C_DROP_TAG
            && c != XDP_C_DROP_NO_PROGRAM) {
            snprintf(missing, sizeof missing, "%s was not", counter_name(c));
        }
    }
    report_line("each counter was met", missing);
}

int
main(int argc, char *argv[])
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    const char *captures = argc > 2 ? argv[2] : "";
    static struct fuzz f;

    f.random.state = argc > 3 ? strtoull(argv[3], NULL, 0) : 0xf022edUL;
    fprintf(stderr, "seed %#"PRIx64", %"PRIuSIZE" captured frames\n",
            f.random.state, captures[0] ? fuzz_read_captures(captures) : 0);
    while (f.n_frames < n) {
        begin_batch(&f);
        for (int i = 0; i < BATCH; i++) {
            run_frame(&f);
        }
        end_batch(&f);
    }
    report(&f);
    lab_close();
    return 0;
}
