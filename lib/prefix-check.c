/* SPDX-License-Identifier: Apache-2.0 */

/* Command of the control socket: afxdp-fast/prefix-check.  How it is read, and
 * by whom; prefix-report.c says what comes of it. */

#include <config.h>
#include "prefix-check.h"

#include <string.h>

#include "netdev-afxdp-fast-private.h"
#include "openvswitch/list.h"
#include "openvswitch/poll-loop.h"
#include "ovs-atomic.h"
#include "ovs-rcu.h"
#include "ovs-thread.h"
#include "prefix-report.h"
#include "prefix-show.h"
#include "prefix-table.h"
#include "seq.h"
#include "util.h"

/* A dry run: a thread reads the file, the main thread looks at the table, a
 * thread compares. */
struct check_job {
    struct ovs_list node;               /* In 'jobs'. */
    struct appctl_asker asker;
    char *port;
    char *path;
    unsigned int limit;

    pthread_t thread;
    bool started;
    atomic_bool done;                   /* Written by the thread, after the
                                         * following. */
    struct prefix_set *set;             /* Read from the file. */
    char *error;
    struct prefix_report *report;       /* Or NULL: still to be read. */
};

/* The first one is at work. */
static struct ovs_list jobs = OVS_LIST_INITIALIZER(&jobs);

/* Changes when a thread is done. */
static struct seq *done_seq;

static void *
work(void *job_)
{
    struct check_job *job = job_;

    /* Whoever waits for a grace period must not wait for this. */
    ovsrcu_quiesce_start();
    if (job->report) {
        prefix_report_write(job->report);
    } else {
        job->error = prefix_set_from_file(job->path, &job->set);
    }
    atomic_store_explicit(&job->done, true, memory_order_release);
    seq_change(done_seq);
    return NULL;
}

static void
start_work(struct check_job *job)
{
    job->started = true;
    atomic_store_relaxed(&job->done, false);
    job->thread = ovs_thread_create("prefix_check", work, job);
}

static void
start_first_job(void)
{
    if (!ovs_list_is_empty(&jobs)) {
        struct check_job *job = CONTAINER_OF(ovs_list_front(&jobs),
                                             struct check_job, node);

        if (!job->started) {
            start_work(job);
        }
    }
}

static void
add_job(struct appctl_asker asker, const char *port, const char *path,
        unsigned int limit)
{
    struct check_job *job = xzalloc(sizeof *job);

    if (!done_seq) {
        done_seq = seq_create();
    }
    job->asker = asker;
    job->port = xstrdup(port);
    job->path = xstrdup(path);
    job->limit = limit;
    atomic_init(&job->done, false);
    ovs_list_push_back(&jobs, &job->node);
    start_first_job();
}

static void
free_job(struct check_job *job)
{
    ovs_list_remove(&job->node);
    if (job->report) {
        prefix_report_destroy(job->report);
    }
    prefix_set_unref_aside(job->set);
    free(job->error);
    free(job->path);
    free(job->port);
    free(job);
}

/* Goes on with 'job', whose thread is done.  Returns true if it has been
 * answered. */
static bool
go_on(struct check_job *job)
{
    const struct netdev_afxdp_fast *dev;

    xpthread_join(job->thread, NULL);
    if (job->report) {
        prefix_report_reply(job->asker, job->report);
        return true;
    }
    /* The port may be gone meanwhile. */
    dev = appctl_find_port(job->asker, job->port);
    if (!dev) {
        return true;
    } else if (job->error) {
        appctl_reply_error(job->asker, job->error);
        return true;
    }
    job->report = prefix_report_create(job->asker.json, job->port,
                                       dev->prefixes, job->path, job->set,
                                       job->limit);
    job->set = NULL;
    start_work(job);
    return false;
}

bool
prefix_check_run(void)
{
    struct check_job *job;
    bool done;

    if (ovs_list_is_empty(&jobs)) {
        return false;
    }
    job = CONTAINER_OF(ovs_list_front(&jobs), struct check_job, node);
    atomic_read_explicit(&job->done, &done, memory_order_acquire);
    if (!done || !go_on(job)) {
        return false;
    }
    free_job(job);
    start_first_job();
    return true;
}

void
prefix_check_wait(void)
{
    if (!ovs_list_is_empty(&jobs)) {
        struct check_job *job = CONTAINER_OF(ovs_list_front(&jobs),
                                             struct check_job, node);
        uint64_t seqno = seq_read(done_seq);
        bool done;

        atomic_read_explicit(&job->done, &done, memory_order_acquire);
        if (done) {
            poll_immediate_wake();
        } else {
            seq_wait(done_seq, seqno);
        }
    }
}

void
prefix_check(struct appctl_asker asker, int argc, const char *argv[])
{
    unsigned int limit = PREFIX_SHOW_LIMIT;
    const char *path = argv[2];

    if (!appctl_find_port(asker, argv[1])) {
        return;
    }
    if (argc > 3) {
        const char *value = appctl_arg_value(argv[3], "limit");

        if (!value) {
            char *error = xasprintf("%s: must be limit=N", argv[3]);

            appctl_reply_error(asker, error);
            free(error);
            return;
        }
        if (!appctl_parse_number(asker, "limit", value, PREFIX_SHOW_MAX,
                                 &limit)) {
            return;
        }
    }
    if (path[0] != '/') {
        char *error = xasprintf("%s: must be an absolute path", path);

        appctl_reply_error(asker, error);
        free(error);
    } else {
        add_job(asker, argv[1], path, limit);
    }
}
