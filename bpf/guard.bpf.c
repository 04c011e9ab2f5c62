/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* The guard of targets: sees frames that were redirected and lost, counts
 * them, and makes their target not ready, whether the daemon is busy or not
 * and whether the kernel tells what a device takes or not.
 *
 * Two tracepoints of the kernel see a frame lost, each another one:
 *
 *     xdp_redirect_err    the frame was refused by the kernel, for the device
 *                         does not take any (-EOPNOTSUPP), is down
 *                         (-ENETDOWN) or has a smaller MTU (-EMSGSIZE)
 *     xdp_devmap_xmit     the driver got up to 16 frames and did not take all
 *                         of them
 *
 * The latter one fires at each flush of frames, also where all is well, and
 * for devmaps of whoever has one: it has to cost next to nothing then.
 *
 * That is each of them in native mode.  In generic mode the kernel hands a
 * frame to the driver as if the host sent it, and what is dropped there the
 * device counts in tx_dropped; its link tells the daemon.
 *
 * Their arguments are what they are since Linux 5.13. */

#include <linux/bpf.h>
#include <linux/errno.h>
#include <stdbool.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "xdp-guard-layout.h"
#include "xdp-table-layout.h"

/* Of the kernel's structures, what is read here: libbpf finds where it is in
 * the running kernel. */
#pragma clang attribute push(__attribute__((preserve_access_index)), \
                             apply_to = record)
struct ns_common {
    unsigned int inum;
};

struct net {
    struct ns_common ns;
};

typedef struct {
    struct net *net;
} possible_net_t;

struct net_device {
    int ifindex;
    possible_net_t nd_net;
};
#pragma clang attribute pop

/* The kernel's ids of the daemon's devmaps. */
const volatile __u32 devmap_id = 0;
const volatile __u32 devmap_frags_id = 0;

/* Inode number of the daemon's network namespace: an ifindex is another device
 * in another one. */
const volatile __u32 netns_inum = 0;

/* The daemon's, shared with all programs.  See xdp-table-layout.h. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __type(key, __u32);
    __type(value, struct table_target);
    __uint(max_entries, TABLE_N_TARGETS);
    __uint(map_flags, BPF_F_MMAPABLE);
} targets SEC(".maps");

/* What was lost.
 *
 * Key: index of the target.  Value: counters, one copy a CPU.  The guard
 * writes the copy of the CPU it runs on; userspace adds them up. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __type(key, __u32);
    __type(value, struct table_lost);
    __uint(max_entries, TABLE_N_TARGETS);
} lost SEC(".maps");

/* The daemon's ports: frames from other devices are not its own, even if they
 * go to a device that is.
 *
 * Key: ifindex.  Value: index of the target or GUARD_NO_TARGET.  The daemon
 * writes, the guard reads.  Four times as many ports as can be targets. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __type(key, __u32);
    __type(value, __u32);
    __uint(max_entries, 4 * TABLE_N_TARGETS);
    __uint(map_flags, BPF_F_NO_PREALLOC);
} ports SEC(".maps");

/* Wakes the daemon: struct guard_event, from the guard to it. */
struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, GUARD_EVENTS_SIZE);
} events SEC(".maps");

/* Returns the value of 'dev' in 'ports', or NULL if it is not a port. */
static __always_inline __u32 *
port_of(const struct net_device *dev)
{
    __u32 ifindex = BPF_CORE_READ(dev, ifindex);

    if (BPF_CORE_READ(dev, nd_net.net, ns.inum) != netns_inum) {
        return NULL;
    }
    return bpf_map_lookup_elem(&ports, &ifindex);
}

/* Does 'error' say no more than that the device has too much to do?  Frames
 * are lost then whichever way they take, and going through userspace would
 * make it worse.  A driver whose ring is full mostly gives no error, but takes
 * fewer frames. */
static __always_inline bool
is_overload(int error)
{
    return (!error || error == -EAGAIN || error == -EBUSY
            || error == -ENOBUFS || error == -ENOMEM || error == -ENOSPC);
}

/* 'frames' to the target 'index' were lost, because of 'error'. */
static __always_inline void
note_lost(__u32 index, __u32 frames, int error)
{
    struct table_target *target = bpf_map_lookup_elem(&targets, &index);
    struct table_lost *counters = bpf_map_lookup_elem(&lost, &index);
    struct guard_event *event;

    if (!target || !counters) {
        return;
    }
    counters->frames += frames;

    /* The exchange lets one of the CPUs that see failures at a time report
     * them. */
    if (is_overload(error) || !target->ready
        || !__sync_lock_test_and_set(&target->ready, 0)) {
        return;
    }
    counters->failures++;

    /* Without room the daemon finds the word cleared when it next looks. */
    event = bpf_ringbuf_reserve(&events, sizeof *event, 0);
    if (event) {
        event->target = index;
        event->error = error;
        bpf_ringbuf_submit(event, 0);
    }
}

/* Arguments: device from, program, target, error, type of the map, id of the
 * map, index in the map. */
SEC("raw_tracepoint/xdp_redirect_err")
int
guard_redirect_err(struct bpf_raw_tracepoint_args *ctx)
{
    __u32 map = ctx->args[5];

    if (map == devmap_id || map == devmap_frags_id) {
        note_lost(ctx->args[6], 1, ctx->args[3]);
    }
    return 0;
}

/* Arguments: device from, device to, frames taken, frames not taken, error. */
SEC("raw_tracepoint/xdp_devmap_xmit")
int
guard_devmap_xmit(struct bpf_raw_tracepoint_args *ctx)
{
    __u32 drops = ctx->args[3];
    __u32 *to;

    if (!drops || !port_of((const struct net_device *) ctx->args[0])) {
        return 0;
    }
    to = port_of((const struct net_device *) ctx->args[1]);
    if (to) {
        note_lost(*to, drops, ctx->args[4]);
    }
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
