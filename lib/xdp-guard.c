/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "xdp-guard.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#include "guard.skel.h"
#include "openvswitch/poll-loop.h"
#include "openvswitch/vlog.h"
#include "util.h"
#include "xdp-diagnose.h"
#include "xdp-table-layout.h"

VLOG_DEFINE_THIS_MODULE(xdp_guard);

static struct guard *skel;              /* NULL: not loaded. */
static struct ring_buffer *events;
static xdp_guard_failed_func *failed;   /* While xdp_guard_run() runs. */

/* Returns the number of our network namespace, 0 if it cannot be had. */
static uint32_t
get_netns(void)
{
    struct stat s;

    return stat("/proc/thread-self/ns/net", &s) ? 0 : s.st_ino;
}

static int
take_event(void *aux OVS_UNUSED, void *data, size_t size)
{
    const struct guard_event *event = data;

    if (size >= sizeof *event) {
        failed(event->target, -event->error);
    }
    return 0;
}

static int
load(int targets_fd, const uint32_t devmap_ids[2])
{
    uint32_t inum = get_netns();
    int error;

    if (!inum) {
        return ENOENT;
    }
    skel = guard__open();
    if (!skel) {
        return errno;
    }
    skel->rodata->devmap_id = devmap_ids[0];
    skel->rodata->devmap_frags_id = devmap_ids[1];
    skel->rodata->netns_inum = inum;
    error = -bpf_map__reuse_fd(skel->maps.targets, targets_fd);
    if (!error) {
        error = -guard__load(skel);
    }
    if (!error) {
        events = ring_buffer__new(bpf_map__fd(skel->maps.events), take_event,
                                  NULL, NULL);
        error = events ? 0 : errno;
    }
    if (error) {
        guard__destroy(skel);
        skel = NULL;
    }
    return error;
}

/* Loads the guard of the targets in the map 'targets_fd', which are slots of
 * the devmaps with the kernel's ids 'devmap_ids'.  It sees nothing before
 * xdp_guard_attach().  Returns 0, or a positive errno and why in '*errp',
 * which the caller frees. */
int
xdp_guard_load(int targets_fd, const uint32_t devmap_ids[2], char **errp)
{
    int error;

    xdp_diagnose_begin();
    error = load(targets_fd, devmap_ids);
    *errp = error ? xdp_diagnose_text("targets of redirects",
                                      "cannot load the guard program", error)
                  : NULL;
    xdp_diagnose_end();
    return error;
}

/* From now on lost frames are seen.  Returns 0, or a positive errno and why in
 * '*errp', which the caller frees. */
int
xdp_guard_attach(char **errp)
{
    int error = 0;

    *errp = NULL;
    if (skel) {
        xdp_diagnose_begin();
        error = -guard__attach(skel);
        if (error) {
            *errp = xdp_diagnose_text("targets of redirects",
                                      "cannot attach the guard program",
                                      error);
            guard__detach(skel);
        }
        xdp_diagnose_end();
    }
    return error;
}

/* Each flush of somebody else's redirects would go through the guard: it is
 * away while there is no target. */
void
xdp_guard_detach(void)
{
    if (skel) {
        guard__detach(skel);
    }
}

/* Tells the guard that device 'ifindex' is a port, and 'target' its index as a
 * target or GUARD_NO_TARGET. */
void
xdp_guard_set_port(int ifindex, uint32_t target)
{
    uint32_t key = ifindex;

    if (skel && bpf_map_update_elem(bpf_map__fd(skel->maps.ports), &key,
                                    &target, BPF_ANY)) {
        static struct vlog_rate_limit rl = VLOG_RATE_LIMIT_INIT(1, 5);

        VLOG_WARN_RL(&rl, "frames lost between device %d and targets are not "
                     "noticed: %s", ifindex, ovs_strerror(errno));
    }
}

/* Tells the guard that device 'ifindex' is no port any more. */
void
xdp_guard_clear_port(int ifindex)
{
    uint32_t key = ifindex;

    if (skel) {
        bpf_map_delete_elem(bpf_map__fd(skel->maps.ports), &key);
    }
}

/* Calls 'cb' for each time that the guard has cleared 'ready' of a target
 * since the last call, with the positive errno that was the cause. */
void
xdp_guard_run(xdp_guard_failed_func *cb)
{
    if (skel) {
        failed = cb;
        ring_buffer__consume(events);
    }
}

/* Wakes the poll loop when xdp_guard_run() has something to do. */
void
xdp_guard_wait(void)
{
    if (skel) {
        poll_fd_wait(ring_buffer__epoll_fd(events), POLLIN);
    }
}

/* Stores in '*sum' what redirects to 'target' have lost, all CPUs together. */
void
xdp_guard_read_lost(uint32_t target, struct table_lost *sum)
{
    int n_cpus = libbpf_num_possible_cpus();
    struct table_lost *per_cpu;

    memset(sum, 0, sizeof *sum);
    if (!skel || n_cpus <= 0) {
        return;
    }
    per_cpu = xcalloc(n_cpus, sizeof *per_cpu);
    if (!bpf_map_lookup_elem(bpf_map__fd(skel->maps.lost), &target,
                             per_cpu)) {
        for (int i = 0; i < n_cpus; i++) {
            sum->frames += per_cpu[i].frames;
            sum->failures += per_cpu[i].failures;
        }
    }
    free(per_cpu);
}

/* 'target' is another one from now on: nothing has been lost of it. */
void
xdp_guard_reset_lost(uint32_t target)
{
    int n_cpus = libbpf_num_possible_cpus();

    if (skel && n_cpus > 0) {
        struct table_lost *zero = xcalloc(n_cpus, sizeof *zero);

        bpf_map_update_elem(bpf_map__fd(skel->maps.lost), &target, zero,
                            BPF_ANY);
        free(zero);
    }
}
