/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_JOB_H
#define PREFIX_JOB_H 1

/* Work on a prefix table that may take seconds: reading and parsing it, or
 * making it of another one, and building it in the kernel.  What is small is
 * done at once, what is large in a thread that knows of nothing but its job,
 * so that a port can go away meanwhile.
 *
 * Thread rule: main thread, all of it. */

#include <stdbool.h>
#include <stdint.h>

#include "openvswitch/list.h"
#include "ovs-atomic.h"
#include "prefix-targets.h"

struct prefix_generation;

/* prefix_set_with() or prefix_set_without(). */
typedef char *prefix_job_change(const struct prefix_set *base,
                                const struct prefix_entry *entry,
                                struct prefix_set **setp);

struct prefix_job {
    struct ovs_list node;       /* In the list of those given up. */
    atomic_bool running;        /* A thread is at work: hands off. */

    /* What to load: one of these. */
    char *option;
    char *file;
    prefix_job_change *change;  /* With 'entry', of 'base'. */
    struct prefix_entry entry;
    struct prefix_set *set;     /* Or what was loaded. */

    struct prefix_set *base;    /* In force so far, or NULL. */
    bool is_base;               /* Was the same loaded, of that version? */
    bool may_hang;              /* The file is not looked at outside of a
                                 * thread. */

    /* The pin of a roll-back, if 'port' is not NULL: loading looks for what
     * an earlier daemon has left; building, if 'write_pin', writes one. */
    char *port;
    bool write_pin;
    char *pin_from;             /* See prefix_pin_load() and _write(). */
    struct prefix_set *pinned;  /* Found. */
    char *pin_error;            /* Why it was not written, or NULL. */

    bool has_program;           /* Is there one to build the table for? */
    struct prefix_targets targets;      /* Of 'set', before it is built. */

    /* What came out. */
    struct prefix_generation *gen;
    uint32_t active_flags;
    char *error;                /* Or NULL. */
};

struct prefix_job *prefix_job_create(void);
void prefix_job_destroy(struct prefix_job *);
void prefix_jobs_reap(void);

bool prefix_job_load(struct prefix_job *);
bool prefix_job_build(struct prefix_job *);
bool prefix_job_is_running(const struct prefix_job *);

uint64_t prefix_jobs_seq(void);
void prefix_jobs_wait(uint64_t seq);

#endif /* prefix-job.h */
