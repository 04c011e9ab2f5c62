/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-table-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "openvswitch/vlog.h"
#include "ovs-atomic.h"
#include "prefix-generation.h"
#include "prefix-job.h"
#include "util.h"
#include "xdp-shared-maps.h"

VLOG_DEFINE_THIS_MODULE(prefix_force);

/* Counters. */

/* Stores what 'entry' of the set in force has counted in all generations. */
void
prefix_force_read(const struct prefix_force *force, size_t entry,
                  struct table_counter *sum)
{
    memset(sum, 0, sizeof *sum);
    if (force->gen) {
        prefix_generation_read(force->gen, entry, sum);
    }
    if (force->base) {
        const struct table_counter *base = &force->base[entry];

        sum->packets += base->packets;
        sum->bytes += base->bytes;
        sum->last = MAX(sum->last, base->last);
    }
}

/* Returns what entries of 'new' have counted in 'old', if they were there. */
static struct table_counter *
carry_over(const struct prefix_force *old, const struct prefix_set *new)
{
    struct table_counter *base = xcalloc(MAX(new->n, 1), sizeof *base);
    size_t i = 0, j = 0;

    while (old->set && i < old->set->n && j < new->n) {
        int cmp = prefix_entry_compare(&old->set->entries[i],
                                       &new->entries[j]);

        if (!cmp) {
            prefix_force_read(old, i, &base[j]);
        }
        i += cmp <= 0;
        j += cmp >= 0;
    }
    return base;
}

/* The one word. */

/* Puts table 'active' in force for the frames from now on. */
static void
write_active(struct prefix_table *table, uint32_t active)
{
    /* The table has to be seen before the word that points to it. */
    atomic_thread_fence(memory_order_release);
    *(volatile uint32_t *) &table->live->active = active;
}

/* Returns the next 'active', as no table of this daemon has had it. */
static uint32_t
next_active(uint32_t flags, uint32_t slot)
{
    static uint32_t generation;

    return ++generation << TABLE_ACTIVE_SHIFT | flags | slot;
}

/* Lets the program know which share of flows takes the fast path. */
void
prefix_force_write_share(struct prefix_table *table)
{
    if (table->live) {
        *(volatile uint32_t *) &table->live->share = ((1 << 16) * table->share
                                                      / 100);
    }
}

/* Returns the clock that the program counts by, in seconds; never 0. */
uint32_t
prefix_force_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return MAX(ts.tv_sec, 1);
}

/* Lets the program know the time: once a second. */
void
prefix_force_write_now(struct prefix_table *table)
{
    if (table->live) {
        *(volatile uint32_t *) &table->live->now = prefix_force_now();
    }
}

/* Frees what is in force, which no program reads any more, but for its
 * targets. */
static void
release(struct prefix_force *force)
{
    prefix_generation_destroy(force->gen);
    prefix_set_unref_aside(force->set);
    free(force->base);
    force->gen = NULL;
    force->set = NULL;
    force->base = NULL;
}

/* Lets the program use what 'job' has built, and nothing else. */
static char *
switch_to(struct prefix_table *table, const struct prefix_job *job,
          uint32_t slot)
{
    const struct prefix_force *old = &table->force;
    char *error = NULL;

    if (!prefix_generation_enter(job->gen, &table->fds, slot, &error)) {
        table->live->counters_stride[slot] =
            prefix_generation_stride(job->gen);
        write_active(table, next_active(job->active_flags, slot));
        if (old->gen) {
            prefix_generation_leave(&table->fds, old->slot);
        }
    }
    return error;
}

/* Puts what 'job' has built in force, by one write, and keeps the counters of
 * entries that stay.  Returns NULL, or what went wrong, which the caller
 * frees; then nothing has changed.  Waits for the kernel, some 60 ms. */
char *
prefix_force_commit(struct prefix_table *table, struct prefix_job *job,
                    enum prefix_source source)
{
    struct prefix_force *force = &table->force;
    uint32_t slot = force->gen ? !force->slot : 0;
    struct table_counter *base;
    bool has_program = job->gen && table->live;

    if (has_program) {
        char *error = switch_to(table, job, slot);

        if (error) {
            return error;
        }
    }
    base = carry_over(force, job->set);
    release(force);
    force->set = job->set;
    job->set = NULL;
    force->source = source;
    force->base = base;
    if (has_program) {
        force->gen = job->gen;
        job->gen = NULL;
        force->slot = slot;
    }
    /* The job gives back the targets of before. */
    prefix_targets_swap(&force->targets, &job->targets);
    return NULL;
}

/* Puts no table in force. */
void
prefix_force_clear(struct prefix_table *table)
{
    struct prefix_force *force = &table->force;

    if (table->live) {
        write_active(table, 0);
        if (force->gen) {
            prefix_generation_leave(&table->fds, force->slot);
        }
    }
    release(force);
    prefix_targets_uninit(&force->targets);
    prefix_targets_init(&force->targets);
}

/* The program goes: what it has counted is kept. */
void
prefix_force_detach(struct prefix_table *table)
{
    struct prefix_force *force = &table->force;

    if (force->gen) {
        struct table_counter *base = carry_over(force, force->set);

        if (table->live) {
            write_active(table, 0);
            prefix_generation_leave(&table->fds, force->slot);
        }
        free(force->base);
        force->base = base;
        prefix_generation_destroy(force->gen);
        force->gen = NULL;
    }
}

/* The program's memory. */

void
prefix_table_set_maps(struct prefix_table *table, int tables_fd,
                      int hits_fd, int live_fd)
{
    uint32_t id = 0;

    if (live_fd >= 0 && xdp_shared_maps_get_id(live_fd, &id)) {
        VLOG_WARN("%s: the kernel does not tell of the program's memory: no "
                  "fast path", table->name);
        live_fd = -1;
    }
    if (table->live_id == id) {
        return;
    }
    prefix_force_detach(table);
    if (table->live) {
        munmap(table->live, sizeof *table->live);
        table->live = NULL;
    }
    xdp_table_maps_close(&table->fds);
    table->live_id = id;
    if (live_fd >= 0) {
        table->fds = (struct xdp_table_fds) {
            .tables = fcntl(tables_fd, F_DUPFD_CLOEXEC, 0),
            .hits = fcntl(hits_fd, F_DUPFD_CLOEXEC, 0),
            .live = fcntl(live_fd, F_DUPFD_CLOEXEC, 0),
        };
        table->live = mmap(NULL, sizeof *table->live, PROT_READ | PROT_WRITE,
                           MAP_SHARED, live_fd, 0);
        if (table->live == MAP_FAILED) {
            VLOG_WARN("%s: the program's memory cannot be mapped (%s): no "
                      "fast path", table->name, ovs_strerror(errno));
            table->live = NULL;
        }
    }
    prefix_force_write_share(table);
    prefix_force_write_now(table);
    if (table->live && table->force.set) {
        prefix_table_rebuild(table);
    }
}

void
prefix_table_set_share(struct prefix_table *table, unsigned int percent)
{
    if (table->share != percent) {
        table->share = percent;
        prefix_force_write_share(table);
        table->changed = true;
    }
}
