/* SPDX-License-Identifier: Apache-2.0 */

/* What the program costs, in nanoseconds a frame more than a bare redirect.
 *
 * BPF_PROG_TEST_RUN repeats one frame, so that caches and branches are as good
 * as can be: a lower bound, to compare versions of the program by. */

#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>

#include "frame.h"
#include "harness.h"

/* Rounds of one measurement, some tens of milliseconds, and measurements of
 * which the median counts. */
#define N_ROUNDS 1000000
#define N_RUNS 9

static const char *const specs[] = {
    "eth ip4 udp pay=18",
    "eth ip4 tcp pay=6",
    "eth stag tag ip4 udp pay=18",
    "eth ip6 udp pay=18",
    "eth ip6 hbh dst rt udp pay=18",
    "eth arp pay=18",
};

static int
compare_ints(const void *a_, const void *b_)
{
    const int *a = a_, *b = b_;

    return *a < *b ? -1 : *a > *b;
}

static int
median(int *values)
{
    qsort(values, N_RUNS, sizeof *values, compare_ints);
    return values[N_RUNS / 2];
}

static void
bench(const struct wrapper *bare, const struct wrapper *plain,
      const struct wrapper *hints, const char *spec)
{
    int t[3][N_RUNS];
    struct frame f;

    frame_make(&f, spec);
    for (int i = 0; i < N_RUNS; i++) {
        t[0][i] = wrapper_run_again(bare, f.data, f.len, N_ROUNDS);
        t[1][i] = wrapper_run_again(plain, f.data, f.len, N_ROUNDS);
        t[2][i] = wrapper_run_again(hints, f.data, f.len, N_ROUNDS);
    }
    printf("%-32s  %4d  %+5d  %+5d\n", spec, median(t[0]),
           median(t[1]) - median(t[0]), median(t[2]) - median(t[0]));
}

int
main(void)
{
    struct program *without = program_load(false);
    struct program *with = program_load(true);
    struct wrapper *bare = wrapper_load(NULL);
    struct wrapper *plain = wrapper_load(without);
    struct wrapper *hints = wrapper_load(with);

    printf("ns a frame: wrapper and bare redirect; more without hints; "
           "more with hints\n");
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        bench(bare, plain, hints, specs[i]);
    }
    return 0;
}
