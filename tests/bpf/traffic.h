/* SPDX-License-Identifier: Apache-2.0 */

/* For the tests of targets: frames that a program like that of a port
 * redirects from 'in0' to the target 'out0', and the books that all parties
 * keep. */

#ifndef TRAFFIC_H
#define TRAFFIC_H 1

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "redirect.skel.h"
#include "xdp-targets.h"

/* Bytes of a frame, 64 of them at a time, which is what a NAPI round takes and
 * what veth's ring has room for; some 100,000 frames a second. */
#define FRAME_SIZE 1200
#define BURST 64
#define PAUSE_US 600

/* For how long to wait for what has to come, s. */
#define PATIENCE 60

/* Runs a command that has to succeed. */
#define SH(...)                                                         \
    do {                                                                \
        if (!try_sh(__VA_ARGS__)) {                                     \
            fprintf(stderr, "%d: a command failed\n", __LINE__);        \
            exit(1);                                                    \
        }                                                               \
    } while (0)

bool try_sh(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A program on a device, which source_send() gives frames. */
struct source {
    struct redirect *skel;
    int ifindex;
    struct bpf_link *link;
};

void source_open(struct source *, const char *device,
                 const struct xdp_shared_maps *);
void source_close(struct source *);
void source_send(struct source *, int n);

/* The one on 'in0', and the index of the target. */
extern struct source in;
extern uint32_t target;

/* Frames, as all parties have counted them. */
struct books {
    uint64_t sent, up, taken, lost, failures;
    uint64_t received;          /* By 'out1'. */
};

void traffic_start(void);
void traffic_stop(void);
void traffic_hold(void);
void traffic_go_on(void);
void traffic_pass(uint64_t n);
void traffic_read(struct books *);

struct xdp_target_info info(void);
void round_of_main_loop(void);
bool run_until(bool ready);

#endif /* traffic.h */
