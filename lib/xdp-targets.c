/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "xdp-targets.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "netdev-probe.h"
#include "openvswitch/poll-loop.h"
#include "openvswitch/shash.h"
#include "openvswitch/vlog.h"
#include "simap.h"
#include "target-watch.h"
#include "timeval.h"
#include "util.h"
#include "xdp-guard.h"
#include "xdp-shared-maps.h"

VLOG_DEFINE_THIS_MODULE(xdp_targets);

/* A target that looks as if it were ready and loses frames all the same is
 * tried again after the shorter time, which doubles up to the longer one;
 * after so long without a failure it begins anew.  ms. */
#define MIN_BACKOFF 1000
#define MAX_BACKOFF 60000

/* A veth takes redirected frames where its other end has NAPI on, which comes
 * with GRO. */
#define PEER_TEXT                                                       \
    "the other end of %s takes no redirected frames: run "              \
    "\"ethtool -K PEER gro on\" at the other end"

struct target {
    char *name;                 /* NULL: not in use. */
    unsigned int n_refs;
    int ifindex;                /* Of the port of that name, 0: none. */

    bool look;                  /* Something may have changed. */
    bool ready;                 /* What we last wrote.  The guard may have
                                 * cleared it since. */
    char *reason;               /* Why not, NULL if ready. */

    /* Failures that the state of the device does not explain. */
    int error;                  /* The last failure's. */
    long long int retry_at;     /* Not ready before; 0: no such failure since
                                 * it was made ready. */
    long long int ready_since;
    long long int backoff;
};

/* By index.  Those in use are below n_slots. */
static struct target targets[TABLE_N_TARGETS];
static uint32_t n_slots;
static struct simap indexes = SIMAP_INITIALIZER(&indexes);  /* By name. */

/* ifindex of all afxdp-fast ports, by name. */
static struct simap ports = SIMAP_INITIALIZER(&ports);

static struct xdp_shared_maps maps;
static struct table_target *words;      /* The map's; NULL: no maps yet. */
static char *guard_lack;                /* NULL: the guard runs or there is
                                         * nothing to guard. */
static uint64_t seq;

static void target_changed(int ifindex, const char *name);
static void target_failed(uint32_t index, int error);

/* Writes one word of a target that programs may be reading at the time. */
static void
set_word(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static bool
is_cleared(uint32_t index)
{
    return !__atomic_load_n(&words[index].ready, __ATOMIC_ACQUIRE);
}

/* What to tell of a target that looks ready and does not take frames. */
static char *
failure_text(const struct target *t, const struct target_device *device,
             long long int now)
{
    if (device->veth && (t->error == ENXIO || t->error == EOPNOTSUPP)) {
        return xasprintf(PEER_TEXT, t->name);
    }
    return xasprintf("%s has not taken redirected frames (%s); it is tried "
                     "again within %lld s", t->name,
                     t->error ? ovs_strerror(t->error) : "no error",
                     MAX(t->retry_at - now, 1000) / 1000);
}

/* Returns why the port's device cannot be a target, or NULL if it can. */
static char *
device_why_not(const char *name, const struct target_device *device)
{
    if (strcmp(device->name, name)) {
        return xasprintf("the device of port %s is called %s now: "
                         "\"ip link set %s name %s\"", name, device->name,
                         device->name, name);
    } else if (!(device->flags & IFF_UP)) {
        return xasprintf("%s is down: \"ip link set %s up\"", name, name);
    } else if (!(device->flags & IFF_LOWER_UP)) {
        return xasprintf("%s has no carrier: the cable is out, or what is at "
                         "the other end is down", name);
    } else if (!(device->flags & IFF_RUNNING)) {
        return xasprintf("%s is up and not operational yet", name);
    } else if (!device->features_known && guard_lack) {
        return xasprintf("nothing tells whether %s takes redirected frames: "
                         "the kernel has no xdp-features; %s", name,
                         guard_lack);
    } else if (device->features_known
               && !(device->features & NETDEV_XDP_NDO_XMIT)) {
        return device->veth
            ? xasprintf(PEER_TEXT, name)
            : xasprintf("%s takes no redirected frames, says its driver "
                        "(no ndo-xmit in its xdp-features)", name);
    }
    return NULL;
}

/* Returns why target 't' is not ready, whatever the guard has seen, or NULL if
 * it can be; stores what there is to know of the device in '*device'. */
static char *
target_why_not(const struct target *t, struct target_device *device)
{
    int error;

    if (!t->ifindex) {
        return xasprintf("there is no afxdp-fast port %s", t->name);
    }
    error = target_watch_probe(t->ifindex, device);
    if (error == ENODEV) {
        return (if_nametoindex(t->name)
                ? xasprintf("%s is another device than the one that port %s "
                            "was made on, which is gone", t->name, t->name)
                : xasprintf("device %s is gone", t->name));
    } else if (error) {
        return xasprintf("the kernel does not tell about %s: %s", t->name,
                         ovs_strerror(error));
    }
    return device_why_not(t->name, device);
}

/* Lets the program know of 'device'.  Returns true if it is another than
 * before. */
static bool
target_update(uint32_t index, const struct target_device *device)
{
    const struct target *t = &targets[index];
    struct table_target *word = &words[index];
    struct table_target new = {
        .ifindex = t->ifindex,
        .mtu = device->mtu,
        .flags = (device->features_known
                  && device->features & NETDEV_XDP_NDO_XMIT_SG
                  ? TABLE_TARGET_SG : 0),
    };
    bool changed = (new.ifindex != word->ifindex || new.mtu != word->mtu
                    || new.flags != word->flags);

    set_word(&word->ifindex, new.ifindex);
    set_word(&word->mtu, new.mtu);
    set_word(&word->flags, new.flags);
    return changed;
}

/* Puts the device into the devmaps, where the kernel may have taken it out: a
 * device that goes to another network namespace leaves it.  Returns NULL or
 * why that fails. */
static char *
target_place(uint32_t index)
{
    const struct target *t = &targets[index];
    uint32_t ifindex = t->ifindex;

    return (bpf_map_update_elem(maps.devmap, &index, &ifindex, BPF_ANY)
            || bpf_map_update_elem(maps.devmap_frags, &index, &ifindex,
                                   BPF_ANY)
            ? xasprintf("%s cannot be redirected to: %s", t->name,
                        ovs_strerror(errno))
            : NULL);
}

/* Makes the target ready if 'reason' is NULL, otherwise not ready, and takes
 * 'reason'.  'ready' is written only where it changes: the guard may clear it
 * at any time. */
static void
target_set(uint32_t index, char *reason)
{
    static struct vlog_rate_limit rl = VLOG_RATE_LIMIT_INIT(10, 20);
    struct target *t = &targets[index];

    if (!reason && !t->ready) {
        reason = target_place(index);
    }
    if (reason && words) {
        set_word(&words[index].ready, 0);
    } else if (!reason && !t->ready) {
        t->ready_since = time_msec();
        t->retry_at = 0;
        t->error = 0;
        set_word(&words[index].ready, 1);
    }
    t->ready = !reason;

    if (!nullable_string_is_equal(reason, t->reason)) {
        VLOG_INFO_RL(&rl, "target %s: %s", t->name,
                     reason ? reason : "ready");
        seq++;
    }
    free(t->reason);
    t->reason = reason;
}

/* Puts off the next try: 't' lost frames though all looked well. */
static void
target_back_off(struct target *t, long long int now)
{
    if (now - t->ready_since >= MAX_BACKOFF) {
        t->backoff = 0;
    }
    t->backoff = MIN(MAX(2 * t->backoff, MIN_BACKOFF), MAX_BACKOFF);
    t->retry_at = now + t->backoff;
}

/* Looks at all there is to know of the target and makes it ready or not.  One
 * that the guard made not ready stays so, in this round at least. */
static void
target_look(uint32_t index)
{
    struct target *t = &targets[index];
    bool failed = words && t->ready && is_cleared(index);
    long long int now = time_msec();
    struct target_device device;
    bool changed = false;
    char *reason;

    if (failed) {
        t->ready = false;
        xdp_guard_run(target_failed);
    }
    t->look = false;
    reason = target_why_not(t, &device);
    if (!reason && !words) {
        reason = xstrdup("no port has a program that redirects");
    } else if (!reason) {
        changed = target_update(index, &device);
    }

    if (reason) {
        t->retry_at = 0;
    } else if (failed && changed) {
        t->retry_at = now + 1;  /* That is why, say its MTU. */
    } else if (failed) {
        target_back_off(t, now);
    }
    if (!reason && (failed || now < t->retry_at)) {
        reason = failure_text(t, &device, now);
    }
    target_set(index, reason);
}

/* Attaches the guard if there is something to guard.  Without it targets are
 * not ready where the kernel does not tell either. */
static void
attach_guard(void)
{
    char *err;

    if (words && !guard_lack && !simap_is_empty(&indexes)) {
        xdp_guard_attach(&err);
        guard_lack = err;
    }
}

/* Loads the guard and tells it what ports there are. */
static void
load_guard(void)
{
    struct simap_node *node;
    uint32_t ids[2];
    int error;

    error = xdp_shared_maps_get_id(maps.devmap, &ids[0]);
    if (!error) {
        error = xdp_shared_maps_get_id(maps.devmap_frags, &ids[1]);
    }
    if (error) {
        guard_lack = xasprintf("the guard cannot know the devmaps: %s",
                               ovs_strerror(error));
        return;
    }
    xdp_guard_load(maps.targets, ids, &guard_lack);
    SIMAP_FOR_EACH (node, &ports) {
        struct simap_node *index = simap_find(&indexes, node->name);

        xdp_guard_set_port(node->data, index ? index->data : GUARD_NO_TARGET);
    }
    attach_guard();
}

/* File descriptors of the maps that programs share: made at the first call,
 * and kept until the daemon ends.  Returns 0, or a positive errno and why in
 * '*errp', which the caller frees. */
int
xdp_targets_get_maps(struct xdp_shared_maps *mapsp, char **errp)
{
    int error;

    *errp = NULL;
    if (!words) {
        error = xdp_shared_maps_create(&maps, errp);
        if (error) {
            return error;
        }
        error = xdp_shared_maps_mmap_targets(&maps, &words, errp);
        if (error) {
            xdp_shared_maps_close(&maps);
            return error;
        }
        load_guard();
        target_changed(0, NULL);
    }
    *mapsp = maps;
    return 0;
}

/* Takes the device of target 'index' out of what programs see. */
static void
target_remove(uint32_t index)
{
    struct target *t = &targets[index];

    t->ready = false;
    t->retry_at = 0;
    t->backoff = 0;
    if (words) {
        set_word(&words[index].ready, 0);
        bpf_map_delete_elem(maps.devmap, &index);
        bpf_map_delete_elem(maps.devmap_frags, &index);
    }
}

/* Returns the index of the port 'name', taking one for it; each call needs an
 * xdp_target_unref().  Returns false if all TABLE_N_TARGETS are taken. */
bool
xdp_target_ref(const char *name, uint32_t *indexp)
{
    struct simap_node *node = simap_find(&indexes, name);
    uint32_t index;

    if (node) {
        *indexp = node->data;
        targets[node->data].n_refs++;
        return true;
    }
    for (index = 0; index < TABLE_N_TARGETS && targets[index].name; index++) {
        continue;
    }
    if (index == TABLE_N_TARGETS) {
        return false;
    }

    if (simap_is_empty(&indexes)) {
        target_watch_start(target_changed);
    }
    simap_put(&indexes, name, index);
    n_slots = MAX(n_slots, index + 1);
    targets[index] = (struct target) {
        .name = xstrdup(name),
        .n_refs = 1,
        .ifindex = simap_get(&ports, name),
    };
    xdp_guard_reset_lost(index);
    if (targets[index].ifindex) {
        xdp_guard_set_port(targets[index].ifindex, index);
    }
    attach_guard();
    target_look(index);
    *indexp = index;
    return true;
}

/* Gives back what one xdp_target_ref() returned.  The last one's index is free
 * for another name: no program may use it any more. */
void
xdp_target_unref(uint32_t index)
{
    struct target *t = &targets[index];

    if (--t->n_refs) {
        return;
    }
    target_remove(index);
    if (t->ifindex) {
        xdp_guard_set_port(t->ifindex, GUARD_NO_TARGET);
    }
    simap_find_and_delete(&indexes, t->name);
    free(t->name);
    free(t->reason);
    memset(t, 0, sizeof *t);
    while (n_slots && !targets[n_slots - 1].name) {
        n_slots--;
    }
    if (simap_is_empty(&indexes)) {
        target_watch_stop();
        xdp_guard_detach();
    }
}

/* Says that the afxdp-fast port 'name' is there, on device 'ifindex', or that
 * something of it may have changed. */
void
xdp_target_port_up(const char *name, int ifindex)
{
    struct simap_node *node = simap_find(&indexes, name);
    int old = simap_get(&ports, name);

    if (old && old != ifindex) {
        xdp_target_port_down(name);
    }
    if (old != ifindex) {
        simap_put(&ports, name, ifindex);
        xdp_guard_set_port(ifindex, node ? node->data : GUARD_NO_TARGET);
    }
    if (node) {
        targets[node->data].ifindex = ifindex;
        target_look(node->data);
    }
}

/* Says that the afxdp-fast port 'name' is going away: on return no program
 * redirects to it any more, but for those that are just running. */
void
xdp_target_port_down(const char *name)
{
    struct simap_node *node = simap_find(&indexes, name);
    struct simap_node *port = simap_find(&ports, name);

    if (!port) {
        return;
    }
    xdp_guard_clear_port(port->data);
    simap_delete(&ports, port);
    if (node) {
        target_remove(node->data);
        targets[node->data].ifindex = 0;
        target_look(node->data);
    }
}

/* Marks the targets to look at.  See target_watch_func. */
static void
target_changed(int ifindex, const char *name)
{
    for (uint32_t i = 0; i < n_slots; i++) {
        struct target *t = &targets[i];

        if (t->name && (!ifindex || t->ifindex == ifindex
                        || (name && !strcmp(name, t->name)))) {
            t->look = true;
        }
    }
}

/* Marks the target that the guard has made not ready. */
static void
target_failed(uint32_t index, int error)
{
    if (index < n_slots && targets[index].name) {
        targets[index].error = error;
        targets[index].look = true;
    }
}

/* Once a round of the main loop: takes what netlink and the guard have to say,
 * and makes targets ready or not. */
void
xdp_targets_run(void)
{
    long long int now;

    if (!n_slots) {
        return;
    }
    xdp_guard_run(target_failed);
    target_watch_run();

    now = time_msec();
    for (uint32_t i = 0; i < n_slots; i++) {
        const struct target *t = &targets[i];

        if (t->name && (t->look || (t->ready && is_cleared(i))
                        || (t->retry_at && now >= t->retry_at))) {
            target_look(i);
        }
    }
}

/* Wakes the poll loop when xdp_targets_run() has something to do. */
void
xdp_targets_wait(void)
{
    if (!n_slots) {
        return;
    }
    xdp_guard_wait();
    target_watch_wait();
    for (uint32_t i = 0; i < n_slots; i++) {
        const struct target *t = &targets[i];

        if (t->name && (t->look || t->retry_at)) {
            poll_timer_wait_until(t->look ? 0 : t->retry_at);
        }
    }
}

/* Changes whenever a target's readiness or reason has. */
uint64_t
xdp_targets_seq(void)
{
    return seq;
}

/* Stores what is known of target 'index' in '*info', with texts that are good
 * until the next call of any function here.  Returns false if no name has the
 * index. */
bool
xdp_target_get_info(uint32_t index, struct xdp_target_info *info)
{
    const struct target *t;
    struct table_lost lost;

    if (index >= n_slots || !targets[index].name) {
        return false;
    }
    t = &targets[index];
    xdp_guard_read_lost(index, &lost);
    *info = (struct xdp_target_info) {
        .name = t->name,
        .reason = t->reason,
        .lost = lost.frames,
        .failures = lost.failures,
    };
    if (words) {
        info->target = words[index];
    }
    return true;
}

/* Returns NULL, or why the guard does not run. */
const char *
xdp_targets_guard_lack(void)
{
    return guard_lack;
}
