/* SPDX-License-Identifier: Apache-2.0 */

#ifndef POOL_MODEL_H
#define POOL_MODEL_H 1

/* A model of what queues and OVS do with frames: it does so at random, from
 * several threads, and keeps books of its own.
 *
 * Every frame has at most one owner in the model ('owned'): one that the pool
 * gives out twice, or takes back from somebody who has not got it, shows at
 * once.  Packets go from thread to thread, and stay behind when a queue goes,
 * through a mailbox. */

#include "frame-pool.h"
#include "unit.h"

/* Bounds of what a queue holds: together some more than there is, so that
 * the pool runs dry now and then. */
#define MODEL_MAX_RX 6000
#define MODEL_MAX_TX 1024
#define MODEL_MAX_HELD 1024
#define MODEL_MAX_MAIL 4096

struct model_stack {
    uint32_t n, max;
    uint32_t *indexes;
};

/* A queue and the thread that works for it. */
struct model_queue {
    struct frame_zone *zone;
    struct frame_user user;
    struct model_stack rx, tx;
    struct dp_packet *held[MODEL_MAX_HELD];
    uint32_t n_held;
    uint32_t n_steps;
    struct unit_random random;
};

void model_init(void);
void model_queue_open(struct model_queue *, uint32_t n_reserved, int node);
void model_queue_close(struct model_queue *);
void model_step(struct model_queue *);
void model_empty_mailbox(uint32_t n_max);

int64_t model_n_held(const struct frame_zone *);
uint32_t model_n_free(const struct frame_zone *);

#endif /* pool-model.h */
