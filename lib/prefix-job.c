/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-job.h"

#include <sys/stat.h>

#include "ovs-rcu.h"
#include "ovs-thread.h"
#include "prefix-generation.h"
#include "prefix-history.h"
#include "prefix-set.h"
#include "prefix-trie.h"
#include "seq.h"
#include "util.h"

/* What is done at once: a file of some thousand entries takes the main thread
 * some ten milliseconds, as much as adding a port does. */
#define SMALL_FILE (256 * 1024)
#define SMALL_SET 4096

/* Changes whenever a thread has ended its work. */
static struct seq *
jobs_seq(void)
{
    static struct seq *seq;

    if (!seq) {
        seq = seq_create();
    }
    return seq;
}

/* Returns a number that changes when a job has ended its work. */
uint64_t
prefix_jobs_seq(void)
{
    return seq_read(jobs_seq());
}

/* Wakes the main loop when prefix_jobs_seq() is not 'seq' any more. */
void
prefix_jobs_wait(uint64_t seq)
{
    seq_wait(jobs_seq(), seq);
}

/* Jobs that were given up while a thread was at work. */
static struct ovs_list given_up = OVS_LIST_INITIALIZER(&given_up);

struct prefix_job *
prefix_job_create(void)
{
    struct prefix_job *job = xzalloc(sizeof *job);

    atomic_init(&job->running, false);
    prefix_targets_init(&job->targets);
    return job;
}

static void
destroy(struct prefix_job *job)
{
    free(job->option);
    free(job->file);
    prefix_entry_uninit(&job->entry);
    prefix_set_unref_aside(job->base);
    prefix_set_unref_aside(job->set);
    prefix_targets_uninit(&job->targets);
    if (job->write_pin && job->pin_from) {
        prefix_pin_discard(job->port);
    }
    free(job->port);
    free(job->pin_from);
    prefix_set_unref_aside(job->pinned);
    free(job->pin_error);
    prefix_generation_destroy(job->gen);
    free(job->error);
    free(job);
}

/* Gives up 'job', which may be NULL: at once, or, where a thread is at work,
 * when that has ended. */
void
prefix_job_destroy(struct prefix_job *job)
{
    if (!job) {
        return;
    }
    if (prefix_job_is_running(job)) {
        ovs_list_push_back(&given_up, &job->node);
    } else {
        destroy(job);
    }
}

/* Frees what was given up and has ended since.  Once in a while. */
void
prefix_jobs_reap(void)
{
    struct prefix_job *job, *next;

    LIST_FOR_EACH_SAFE (job, next, node, &given_up) {
        if (!prefix_job_is_running(job)) {
            ovs_list_remove(&job->node);
            destroy(job);
        }
    }
}

static void
note_difference(const struct prefix_entry *old OVS_UNUSED,
                const struct prefix_entry *new OVS_UNUSED, void *differs_)
{
    bool *differs = differs_;

    *differs = true;
}

/* Are the two of one version, with the same entries?  'old' may be NULL. */
static bool
is_same(const struct prefix_set *old, const struct prefix_set *new)
{
    bool differs = false;

    if (!old || strcmp(old->version, new->version)) {
        return false;
    }
    prefix_set_diff(old, new, note_difference, &differs);
    return !differs;
}

static void
load(struct prefix_job *job)
{
    job->error = (job->change
                  ? job->change(job->base, &job->entry, &job->set)
                  : job->file
                  ? prefix_set_from_file(job->file, &job->set)
                  : prefix_set_from_option(job->option, &job->set));
    if (job->port) {
        job->pinned = prefix_pin_load(job->port, (job->error ? NULL
                                                  : job->set->version),
                                      &job->pin_from);
    }
    job->is_base = !job->error && is_same(job->base, job->set);
}

static void
build_table(struct prefix_job *job)
{
    struct prefix_blob blob;

    job->error = prefix_blob_build(job->set, prefix_targets_verdict,
                                   &job->targets, &blob);
    if (!job->error) {
        job->active_flags = blob.active_flags;
        prefix_generation_create(&blob, job->set->n, &job->gen, &job->error);
        prefix_blob_uninit(&blob);
    }
}

static void
build(struct prefix_job *job)
{
    if (job->has_program) {
        build_table(job);
    }
    if (!job->error && job->write_pin) {
        job->pin_error = prefix_pin_write(job->port, job->pin_from, job->set);
    }
}

struct work {
    struct prefix_job *job;
    void (*function)(struct prefix_job *);
};

static void *
work_main(void *work_)
{
    struct work *work = work_;
    struct prefix_job *job = work->job;

    /* Nothing here is protected by RCU, and whoever waits for a grace period
     * must not wait for this. */
    ovsrcu_quiesce_start();
    work->function(job);
    free(work);
    atomic_store_explicit(&job->running, false, memory_order_release);
    seq_change(jobs_seq());
    return NULL;
}

/* Does 'function' of 'job': in a thread and returns false, or at once and
 * returns true. */
static bool
run(struct prefix_job *job, void (*function)(struct prefix_job *), bool small)
{
    struct work *work;

    if (small) {
        function(job);
        return true;
    }
    work = xmalloc(sizeof *work);
    work->job = job;
    work->function = function;
    atomic_store_relaxed(&job->running, true);
    jobs_seq();
    pthread_detach(ovs_thread_create("prefix", work_main, work));
    return false;
}

static bool
is_small_file(const char *path)
{
    struct stat st;

    return stat(path, &st) || st.st_size <= SMALL_FILE;
}

/* Reads and parses, or makes, what 'job' is to load.  Returns true if it has
 * done so, or false if a thread is doing it: see prefix_job_is_running().
 * Then there is 'set' or 'error'. */
bool
prefix_job_load(struct prefix_job *job)
{
    bool small = (job->change ? !job->base || job->base->n <= SMALL_SET
                  : job->option ? strlen(job->option) <= SMALL_FILE
                  : !job->may_hang && is_small_file(job->file));

    if (job->port) {
        char *path = prefix_pin_table_path(job->port);

        small = small && is_small_file(path);
        free(path);
    }
    return run(job, load, small);
}

/* Builds 'set' in the kernel, with 'targets', if 'has_program', and writes the
 * pin if that is wanted, which waits for the disk, likewise.  Then there is
 * 'gen' or 'error'. */
bool
prefix_job_build(struct prefix_job *job)
{
    return run(job, build, ((!job->has_program || job->set->n <= SMALL_SET)
                            && !job->write_pin));
}

bool
prefix_job_is_running(const struct prefix_job *job)
{
    bool running;

    atomic_read_explicit(&CONST_CAST(struct prefix_job *, job)->running,
                         &running, memory_order_acquire);
    return running;
}
