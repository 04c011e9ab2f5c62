/* SPDX-License-Identifier: Apache-2.0 */

/* Runs the XDP program of the daemon on one frame at a time, through
 * BPF_PROG_TEST_RUN, and reports what came of it. */

#ifndef HARNESS_H
#define HARNESS_H 1

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report.h"
#include "xdp-layout.h"

/* What a test run takes without frags: a page less the headroom and the
 * kernel's own data behind the frame. */
#define MAX_FRAME 3400

/* Where frames come from: the queues of the device under test, and the room
 * that is taken in front of the frame already. */
struct source {
    int ifindex;                /* 0 for the kernel's default. */
    uint32_t queue;
    uint32_t meta;              /* Bytes of metadata, all 0xee. */
};

/* What came of one frame. */
struct outcome {
    int error;                  /* Positive errno of the test run. */
    uint32_t verdict;           /* XDP_REDIRECT, ... */
    bool have_hints;            /* Did the metadata grow by sizeof hints? */
    bool intact;                /* Is the frame what it was? */
    struct xdp_hints hints;
    uint64_t counted[XDP_N_COUNTERS];   /* By this frame. */
};

/* A loaded program, with a socket for queue 0. */
struct program;

/* The cookie in 'rodata' of programs that program_load() loads. */
#define TEST_COOKIE 0x0123456789abcdefULL

struct program *program_load(bool hints);
void program_unload(struct program *);
int program_fd(const struct program *);
void program_close_socket(struct program *);
void program_open_socket(struct program *, uint32_t queue);

void run(const struct program *, const struct source *, const void *frame,
         size_t len, struct outcome *);
uint32_t run_for_hash(const struct program *, const void *frame, size_t len);

/* A program behind another one, see front.bpf.c. */
struct wrapper;

struct wrapper *wrapper_load(const struct program *);
int wrapper_run_again(const struct wrapper *, const void *frame, size_t len,
                      int n);
void wrapper_run_dirty(const struct wrapper *, const void *frame, size_t len,
                       struct xdp_hints *);
void wrapper_unload(struct wrapper *);

void check_invariants(const struct outcome *, size_t len);

/* The groups of tests. */
void test_frames(const struct program *);
void test_prefixes(const struct program *);
void test_mutations(const struct program *);
void test_garbage(const struct program *);
void test_queues(struct program *, int ifindex);
void test_plain(void);
void test_hash(const struct program *);
void test_hash_distribution(const struct program *);
void test_captures(const struct program *, const char *folder);
void test_object(void);

#endif /* harness.h */
