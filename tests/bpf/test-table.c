/* SPDX-License-Identifier: Apache-2.0 */

/* usage: tables
 *
 * Runs the program with prefix tables on single frames, in a network namespace
 * of its own; prints a line for each test. */

#include <config.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "afxdp-fast.skel.h"
#include "frame.h"
#include "report.h"
#include "table-fixtures.h"
#include "util.h"

const struct table_fixtures *const all_table_fixtures[] = {
    &fixtures_verdict, &fixtures_lookup, &fixtures_checksum,
    &fixtures_rewrite, &fixtures_size, &fixtures_tag, &fixtures_host,
    NULL
};

/* What has been counted so far. */
static uint64_t counted[XDP_N_COUNTERS];

/* Fills '*e' with what the program should count. */
static void
expect_counters(const struct table_fixture *fx, const struct table_outcome *o,
                uint64_t expected[XDP_N_COUNTERS])
{
    bool up = counter_kind(fx->what) == COUNTER_UP;
    size_t max = fx->settings & LAB_MAX_FRAME ? LAB_FRAME_MAX : SIZE_MAX;

    memset(expected, 0, XDP_N_COUNTERS * sizeof *expected);
    expected[fx->what]++;
    if (fx->also) {
        expected[fx->also]++;
    }
    if (up) {
        expected[o->len > max ? XDP_C_DROP_TOO_LONG
                 : fx->no_socket ? XDP_C_DROP_NO_SOCKET
                 : XDP_C_TO_USERSPACE]++;
        if (fx->settings & LAB_HINTS && fx->also != XDP_C_HINTS_NO_ROOM) {
            expected[XDP_C_HINTS_WRITTEN]++;
        }
    } else if (fx->what == XDP_C_REDIRECT) {
        expected[XDP_C_REDIRECT_BYTES] += o->len;
    }
}

static uint32_t
expect_verdict(const struct table_fixture *fx, const struct table_outcome *o)
{
    return (o->counted[XDP_C_DROP_TOO_LONG] || o->counted[XDP_C_DROP_NO_SOCKET]
            || fx->what == XDP_C_DROP_PREFIX
            || fx->what == XDP_C_DROP_MALFORMED ? XDP_DROP
            : fx->what == XDP_C_TO_HOST
            || fx->what == XDP_C_HOST_TRAFFIC ? XDP_PASS
            : XDP_REDIRECT);
}

static void
check_frame(const struct frame *expected, const struct table_outcome *o)
{
    CHECK(o->len == expected->len, "%"PRIuSIZE" bytes out, not %"PRIuSIZE,
          o->len, expected->len);
    for (size_t i = 0; i < MIN(o->len, expected->len); i++) {
        if (o->frame[i] != expected->data[i]) {
            test_fail("byte %"PRIuSIZE" is %02x, not %02x", i, o->frame[i],
                      expected->data[i]);
            break;
        }
    }
}

static void
check_outcome(const struct table_fixture *fx, const struct table_outcome *o)
{
    uint64_t expected[XDP_N_COUNTERS];
    struct frame f;

    if (o->error) {
        test_fail("%s", ovs_strerror(o->error));
        return;
    }
    expect_counters(fx, o, expected);
    for (enum xdp_counter c = 0; c < XDP_N_COUNTERS; c++) {
        CHECK(o->counted[c] == expected[c], "%s is %"PRIu64", not %"PRIu64,
              counter_name(c), o->counted[c], expected[c]);
        counted[c] += o->counted[c];
    }
    CHECK(o->verdict == expect_verdict(fx, o), "verdict %"PRIu32, o->verdict);
    frame_make(&f, fx->out ? fx->out : fx->in);
    check_frame(&f, o);
}

static void
set_socket(const struct table_program *tp, bool on)
{
    int fd = bpf_map__fd(tp->skel->maps.xsks);
    uint32_t zero = 0;

    if (on) {
        bpf_map_update_elem(fd, &zero, &tp->socket, BPF_ANY);
    } else {
        bpf_map_delete_elem(fd, &zero);
    }
}

static void
run_fixture(const struct table_fixture *fx)
{
    struct table_program *tp = lab_program(fx->settings);
    struct table_source source = fx->source;
    struct table_outcome o;
    struct frame f;

    if (fx->source.meta > lab_max_meta()) {
        printf("skip - %s: this kernel lets a frame have no more than %"PRIu32
               " bytes of metadata\n", fx->sentence, lab_max_meta());
        return;
    }
    test_begin("%s", fx->sentence);
    lab_set_table(tp, fx->table);
    tp->live->share = fx->no_share ? 0 : 1 << 16;
    frame_make(&f, fx->in);
    lab_set_note(tp, fx->tag_put_back);
    set_socket(tp, !fx->no_socket);
    if (fx->also == XDP_C_HINTS_NO_ROOM) {
        source.meta = lab_max_meta();
    }
    if (fx->new_mac) {
        lab_forget(tp);
        table_run_frame(tp, &source, f.data, f.len, &o);
    } else {
        lab_run(tp, &source, f.data, f.len, &o);
    }
    set_socket(tp, true);
    tp->live->share = 1 << 16;
    check_outcome(fx, &o);
    test_end();
}

/* A counter that no fixture meets is one whose meaning nobody has checked. */
static void
test_all_counted(void)
{
    test_begin("each counter has been met by a frame");
    for (enum xdp_counter c = 0; c < XDP_N_COUNTERS; c++) {
        /* That of the front program, which is bound to a device: the kernel
         * does not test-run such. */
        CHECK(counted[c] || c == XDP_C_DROP_TAG
              || c == XDP_C_DROP_NO_PROGRAM, "%s was not",
              counter_name(c));
    }
    test_end();
}

int
main(void)
{
    for (size_t i = 0; all_table_fixtures[i]; i++) {
        for (size_t j = 0; j < all_table_fixtures[i]->n; j++) {
            run_fixture(&all_table_fixtures[i]->fixtures[j]);
        }
    }
    test_all_counted();
    test_table_lookup();
    test_table_learn();
    test_table_share();
    test_table_hits();
    test_table_ttl();
    lab_close();
    return 0;
}
