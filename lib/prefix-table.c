/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-table.h"

#include <string.h>

#include "openvswitch/poll-loop.h"
#include "openvswitch/vlog.h"
#include "prefix-job.h"
#include "prefix-table-private.h"
#include "timeval.h"
#include "util.h"
#include "xdp-targets.h"

VLOG_DEFINE_THIS_MODULE(prefix_table);

/* How often to look whether ports have moved between bridges, of which nobody
 * tells, and to tell the program the time. */
#define LOOK_MS 1000

enum request_kind {
    REQUEST_OPTION,             /* Load options:prefixes. */
    REQUEST_FILE,               /* Load options:prefix-file. */
    REQUEST_APPLY,              /* Likewise, by command. */
    REQUEST_ADD,
    REQUEST_DEL,
    REQUEST_ROLLBACK,
    REQUEST_REBUILD,            /* The set in force, once more. */
};

struct prefix_request {
    struct ovs_list node;
    enum request_kind kind;
    struct prefix_entry entry;  /* Of add and del. */
    bool building;              /* Past loading. */
    char *load_error;           /* Why a pinned version stands in, or NULL. */
    prefix_done_cb *cb;         /* Or NULL. */
    void *aux;
};

static void advance(struct prefix_table *);

struct prefix_table *
prefix_table_create(const char *name)
{
    struct prefix_table *table = xzalloc(sizeof *table);

    table->name = xstrdup(name);
    table->fds = XDP_TABLE_FDS_NONE;
    table->share = 100;
    prefix_history_init(&table->history);
    prefix_targets_init(&table->force.targets);
    ovs_list_init(&table->requests);
    return table;
}

/* Requests. */

static struct prefix_request *
add_request(struct prefix_table *table, enum request_kind kind,
            prefix_done_cb *cb, void *aux)
{
    struct prefix_request *request = xzalloc(sizeof *request);

    request->kind = kind;
    request->cb = cb;
    request->aux = aux;
    ovs_list_push_back(&table->requests, &request->node);
    return request;
}

static void
free_request(struct prefix_request *request)
{
    if (request) {
        prefix_entry_uninit(&request->entry);
        free(request->load_error);
        free(request);
    }
}

/* Makes 'error', of which it takes ownership, what is wrong with the table;
 * NULL clears it. */
static void
set_error(struct prefix_table *table, char *error)
{
    if (error && !nullable_string_is_equal(error, table->error)) {
        VLOG_WARN("%s: %s", table->name, error);
    }
    free(table->error);
    table->error = error;
}

/* Does what went wrong with 'kind' lie in what is configured, rather than in
 * what somebody has typed, such as the name of a port without a file? */
static bool
is_configured(const struct prefix_table *table, enum request_kind kind)
{
    return kind == REQUEST_OPTION || kind == REQUEST_FILE
           || (kind == REQUEST_APPLY && table->opt_file)
           || kind == REQUEST_REBUILD;
}

/* Tells whoever has asked, and frees 'request'. */
static void
answer(struct prefix_table *table, struct prefix_request *request,
       const char *error)
{
    if (request->cb) {
        request->cb(table, error, request->aux);
    }
    free_request(request);
}

/* Ends the request at work.  Takes ownership of 'error'. */
static void
finish(struct prefix_table *table, char *error)
{
    struct prefix_request *request = table->request;

    prefix_job_destroy(table->job);
    table->job = NULL;
    table->request = NULL;
    table->changed = true;
    prefix_table_forget_pin(table);
    /* First: the one who asked looks at what is wrong with the table.  What
     * was wrong with a file still is when the table in force is built anew. */
    if (is_configured(table, request->kind)
        && (error || request->kind != REQUEST_REBUILD
            || table->rebuild_failed)) {
        table->rebuild_failed = error && request->kind == REQUEST_REBUILD;
        set_error(table, nullable_xstrdup(error));
    }
    answer(table, request, error);
    free(error);
}

/* Gives up all requests, also the one at work: whoever has asked is told
 * 'why'. */
static void
drop_all_requests(struct prefix_table *table, const char *why)
{
    struct prefix_request *request = table->request;

    prefix_job_destroy(table->job);
    table->job = NULL;
    table->request = NULL;
    prefix_table_forget_pin(table);
    if (request) {
        answer(table, request, why);
    }
    LIST_FOR_EACH_POP (request, node, &table->requests) {
        answer(table, request, why);
    }
}

void
prefix_table_destroy(struct prefix_table *table)
{
    if (table) {
        drop_all_requests(table, "the port was deleted meanwhile");
        /* In this order: nobody wants the counters any more. */
        prefix_force_clear(table);
        prefix_table_set_maps(table, -1, -1, -1);
        prefix_history_uninit(&table->history);
        free(table->pinned_from);
        free(table->pin_error);
        free(table->pin_lost);
        free(table->opt_prefixes);
        free(table->opt_file);
        free(table->error);
        free(table->name);
        free(table);
    }
}

/* When the daemon starts, a file that is wrong is no reason to give up the
 * version that is pinned instead of it, which then is the job's. */
static void
fall_back_to_pin(struct prefix_table *table)
{
    struct prefix_request *request = table->request;
    struct prefix_job *job = table->job;

    if (!table->force.set
        && (request->kind == REQUEST_OPTION || request->kind == REQUEST_FILE)
        && prefix_table_take_pin(table, job)) {
        request->load_error = job->error;
        job->error = NULL;
    }
}

/* The way of a request: load, check, build, commit. */

static enum prefix_source
source_of(const struct prefix_table *table, enum request_kind kind)
{
    switch (kind) {
    case REQUEST_OPTION:
        return PREFIX_OPTION;
    case REQUEST_FILE:
    case REQUEST_APPLY:
        return PREFIX_FILE;
    case REQUEST_ADD:
    case REQUEST_DEL:
        return PREFIX_COMMAND;
    case REQUEST_ROLLBACK:
        return prefix_history_before(&table->history)->source;
    case REQUEST_REBUILD:
    default:
        return table->force.source;
    }
}

/* Writes down what the commit of 'kind' has changed. */
static void
record(struct prefix_table *table, enum request_kind kind)
{
    const struct prefix_set *set = table->force.set;

    if (kind == REQUEST_ROLLBACK) {
        prefix_table_make_pin(table, table->job);
        table->history.current++;
    } else if (kind != REQUEST_REBUILD) {
        if ((table->pinned_from || table->pin_lost)
            && is_configured(table, kind) && !table->history.n) {
            /* Pinned by an earlier daemon, or would be. */
        } else {
            prefix_table_remove_pin(table);
        }
        prefix_history_push(&table->history, table->force.set,
                            table->force.source);
    }
    VLOG_INFO("%s: prefix table \"%s\" in force, %"PRIuSIZE" entries",
              table->name, set->version, set->n);
}

static char *
commit(struct prefix_table *table)
{
    enum request_kind kind = table->request->kind;
    enum prefix_source source = source_of(table, kind);
    char *error;

    error = prefix_force_commit(table, table->job, source);
    if (!error) {
        record(table, kind);
    }
    return error;
}

/* Has a command loaded what is in force already?  Applying it again, as timers
 * do, would push older versions out of the history. */
static bool
is_in_force(const struct prefix_table *table)
{
    return (table->request->kind == REQUEST_APPLY && !table->pinned_from
            && table->force.source == PREFIX_FILE && table->job->is_base);
}

/* Checks what was loaded and finds its targets. */
static char *
check_loaded(struct prefix_table *table)
{
    struct prefix_job *job = table->job;
    enum request_kind kind = table->request->kind;
    char *error = NULL;

    if (kind == REQUEST_OPTION || kind == REQUEST_FILE
        || kind == REQUEST_APPLY) {
        error = prefix_table_check_pin(table, job);
    }
    if (!error && (kind == REQUEST_APPLY || kind == REQUEST_ADD)) {
        error = prefix_table_check_set(table, job->set);
    }
    if (!error) {
        error = prefix_targets_resolve(&job->targets, table->name, job->set);
    }
    return error;
}

/* Goes on with the request at work, whose job is not running.  Returns false
 * if it is now. */
static bool
go_on(struct prefix_table *table)
{
    struct prefix_request *request = table->request;
    struct prefix_job *job = table->job;

    if (job->error && !request->building) {
        fall_back_to_pin(table);
    }
    if (!job->error && !request->building && is_in_force(table)) {
        finish(table, NULL);
        return true;
    }
    if (!job->error && !request->building) {
        request->building = true;
        job->error = check_loaded(table);
        job->has_program = table->live != NULL;
        if (!job->error && !prefix_job_build(job)) {
            return false;
        }
    }
    if (!job->error) {
        job->error = commit(table);
    }

    char *error = job->error ? job->error : request->load_error;

    if (job->error) {
        job->error = NULL;
    } else {
        request->load_error = NULL;
    }
    finish(table, error);
    return true;
}

/* Gives the request at work its job.  Returns NULL, or why it cannot be. */
static char *
make_job(struct prefix_table *table)
{
    const struct prefix_request *request = table->request;
    const struct prefix_set *set = table->force.set;
    struct prefix_job *job = table->job = prefix_job_create();

    job->base = prefix_set_ref(set);
    switch (request->kind) {
    case REQUEST_OPTION:
        job->option = nullable_xstrdup(table->opt_prefixes);
        prefix_table_look_for_pin(table, job);
        return job->option ? NULL : xstrdup("options:prefixes is gone");
    case REQUEST_FILE:
    case REQUEST_APPLY:
        job->file = nullable_xstrdup(table->opt_file);
        /* Whoever has given the option waits for what comes of it; of a port
         * that comes up a small table is to be there with the first frame. */
        job->may_hang = request->kind == REQUEST_APPLY;
        prefix_table_look_for_pin(table, job);
        return (job->file ? NULL
                : xstrdup("options:prefix-file is not set: there is no file "
                          "to apply"));
    case REQUEST_ADD:
    case REQUEST_DEL:
        job->change = (request->kind == REQUEST_ADD ? prefix_set_with
                       : prefix_set_without);
        prefix_entry_clone(&job->entry, &request->entry);
        return NULL;
    case REQUEST_ROLLBACK:
        if (!prefix_history_before(&table->history)) {
            return xstrdup("there is no version before the one in force");
        }
        job->set = prefix_set_ref(prefix_history_before(&table->history)->set);
        prefix_table_prepare_pin(table, job);
        return NULL;
    case REQUEST_REBUILD:
        job->set = set ? prefix_set_ref(set) : NULL;
        return set ? NULL : xstrdup("no table is in force");
    }
    OVS_NOT_REACHED();
}

/* Begins the first of the waiting requests.  Returns false if its job is
 * running now. */
static bool
begin(struct prefix_table *table)
{
    char *error;

    table->request = CONTAINER_OF(ovs_list_pop_front(&table->requests),
                                  struct prefix_request, node);
    error = make_job(table);
    if (error) {
        finish(table, error);
        return true;
    }
    return table->job->set || prefix_job_load(table->job);
}

/* Does what there is to do, as far as it need not wait for a thread. */
static void
advance(struct prefix_table *table)
{
    for (;;) {
        if (table->request) {
            if (prefix_job_is_running(table->job) || !go_on(table)) {
                return;
            }
        } else if (ovs_list_is_empty(&table->requests) || !begin(table)) {
            return;
        }
    }
}

/* Configuration. */

static void
replace_string(char **dst, const char *src)
{
    char *copy = nullable_xstrdup(src);

    free(*dst);
    *dst = copy;
}

char *
prefix_table_configure(struct prefix_table *table, const char *prefixes,
                       const char *file)
{
    if (prefixes && file) {
        return xasprintf("prefix-file=%s: prefixes is set too; must be one of "
                         "them: the table that is in force stays", file);
    }
    if (nullable_string_is_equal(prefixes, table->opt_prefixes)
        && nullable_string_is_equal(file, table->opt_file)) {
        return NULL;
    }
    replace_string(&table->opt_prefixes, prefixes);
    replace_string(&table->opt_file, file);
    if (prefixes) {
        add_request(table, REQUEST_OPTION, NULL, NULL);
    } else if (file) {
        add_request(table, REQUEST_FILE, NULL, NULL);
    } else {
        /* What is on its way would come into force after all. */
        drop_all_requests(table, "the option of the table was removed "
                          "meanwhile");
        set_error(table, NULL);
        table->rebuild_failed = false;
        prefix_table_remove_pin(table);
        prefix_force_clear(table);
        table->history.current = table->history.n;
        table->changed = true;
    }
    advance(table);
    return NULL;
}

/* Builds the table in force anew, soon: the program or a target has become
 * another one. */
void
prefix_table_rebuild(struct prefix_table *table)
{
    add_request(table, REQUEST_REBUILD, NULL, NULL);
    advance(table);
}

bool
prefix_table_is_wanted(const struct prefix_table *table)
{
    return (table->opt_prefixes || table->opt_file || table->force.set
            || table->request);
}

/* The main loop. */

/* Builds the table anew if a target has moved to another bridge, or from
 * one. */
static void
look_at_bridges(struct prefix_table *table)
{
    if (table->force.gen && !table->request
        && prefix_targets_changed(&table->force.targets, table->name)) {
        add_request(table, REQUEST_REBUILD, NULL, NULL);
    }
}

bool
prefix_table_run(struct prefix_table *table)
{
    uint64_t seq = xdp_targets_seq();
    bool changed;

    if (time_msec() >= table->next_look) {
        table->next_look = time_msec() + LOOK_MS;
        prefix_force_write_now(table);
        look_at_bridges(table);
    }
    advance(table);
    changed = table->changed || (table->force.set
                                 && seq != table->targets_seq);
    table->targets_seq = seq;
    table->changed = false;
    return changed;
}

void
prefix_table_wait(struct prefix_table *table)
{
    if (table->request) {
        prefix_jobs_wait(prefix_jobs_seq());
        if (!prefix_job_is_running(table->job)) {
            poll_immediate_wake();
        }
    } else if (table->live) {
        poll_timer_wait_until(table->next_look);
    }
}

/* Commands. */

static void
command(struct prefix_table *table, enum request_kind kind,
        const struct prefix_entry *entry, prefix_done_cb *cb, void *aux)
{
    struct prefix_request *request = add_request(table, kind, cb, aux);

    if (entry) {
        prefix_entry_clone(&request->entry, entry);
    }
    advance(table);
}

void
prefix_table_apply(struct prefix_table *table, prefix_done_cb *cb, void *aux)
{
    command(table, REQUEST_APPLY, NULL, cb, aux);
}

/* A file is kept in version control: what is changed beside it would be lost
 * at the next roll-out. */
static bool
refuse_beside_file(struct prefix_table *table, prefix_done_cb *cb, void *aux)
{
    if (table->opt_file) {
        char *error = xasprintf("options:prefix-file=%s is in force: change "
                                "the file, and apply it", table->opt_file);

        cb(table, error, aux);
        free(error);
        return true;
    }
    return false;
}

void
prefix_table_add(struct prefix_table *table, const struct prefix_entry *entry,
                 prefix_done_cb *cb, void *aux)
{
    if (!refuse_beside_file(table, cb, aux)) {
        command(table, REQUEST_ADD, entry, cb, aux);
    }
}

void
prefix_table_del(struct prefix_table *table, const struct prefix_entry *entry,
                 prefix_done_cb *cb, void *aux)
{
    if (!refuse_beside_file(table, cb, aux)) {
        command(table, REQUEST_DEL, entry, cb, aux);
    }
}

void
prefix_table_rollback(struct prefix_table *table, prefix_done_cb *cb,
                      void *aux)
{
    command(table, REQUEST_ROLLBACK, NULL, cb, aux);
}
