/* SPDX-License-Identifier: Apache-2.0 */

/* Tests of when a target is ready: what lib/xdp-targets.c makes of what the
 * kernel and the guard say, which are fakes here, as is the time. */

#include <config.h>
#include "xdp-targets.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "netdev-probe.h"
#include "target-watch.h"
#include "timeval.h"
#include "util.h"
#include "unit.h"
#include "xdp-guard.h"
#include "xdp-shared-maps.h"

#define IFINDEX 7
#define UP (IFF_UP | IFF_RUNNING | IFF_LOWER_UP)

/* The fakes' state: what a device is like, what the guard has to report. */
static long long int now;
static struct table_target words[TABLE_N_TARGETS];
static struct target_device device;
static int device_error;
static target_watch_func *watch;        /* NULL: nobody listens. */
static bool link_event;                 /* To be reported by the next run. */
static int guard_event;                 /* Likewise, an errno. */
static bool guard_attached;
static char *guard_error;
static uint32_t devmap[TABLE_N_TARGETS];
static uint32_t guard_ports[100];       /* By ifindex; index + 1, 0: no port,
                                         * 1000000: no target. */
static bool ready_without_device;       /* A frame would have been lost. */
static int n_resets;
static uint32_t target;

long long int __wrap_time_msec(void);
long long int
__wrap_time_msec(void)
{
    return now;
}

int __wrap_bpf_map_update_elem(int fd, const void *key, const void *value,
                               __u64 flags);
int
__wrap_bpf_map_update_elem(int fd OVS_UNUSED, const void *key,
                           const void *value, __u64 flags OVS_UNUSED)
{
    devmap[*(const uint32_t *) key] = *(const uint32_t *) value;
    return 0;
}

int __wrap_bpf_map_delete_elem(int fd, const void *key);
int
__wrap_bpf_map_delete_elem(int fd OVS_UNUSED, const void *key)
{
    uint32_t index = *(const uint32_t *) key;

    ready_without_device |= words[index].ready;
    devmap[index] = 0;
    return 0;
}

int
target_watch_probe(int ifindex, struct target_device *d)
{
    *d = device;
    return ifindex == IFINDEX ? device_error : ENODEV;
}

void
target_watch_start(target_watch_func *cb)
{
    watch = cb;
}

void
target_watch_stop(void)
{
    watch = NULL;
}

void
target_watch_run(void)
{
    if (link_event) {
        link_event = false;
        watch(IFINDEX, NULL);
    }
}

void
target_watch_wait(void)
{
}

int
xdp_guard_load(int fd OVS_UNUSED, const uint32_t ids[2] OVS_UNUSED,
               char **errp)
{
    *errp = NULL;
    return 0;
}

int
xdp_guard_attach(char **errp)
{
    *errp = nullable_xstrdup(guard_error);
    guard_attached = !guard_error;
    return guard_error ? EPERM : 0;
}

void
xdp_guard_detach(void)
{
    guard_attached = false;
}

void
xdp_guard_set_port(int ifindex, uint32_t index)
{
    guard_ports[ifindex] = index == GUARD_NO_TARGET ? 1000000 : index + 1;
}

void
xdp_guard_clear_port(int ifindex)
{
    guard_ports[ifindex] = 0;
}

void
xdp_guard_run(xdp_guard_failed_func *cb)
{
    if (guard_event) {
        int error = guard_event;

        guard_event = 0;
        cb(target, error);
    }
}

void
xdp_guard_wait(void)
{
}

void
xdp_guard_read_lost(uint32_t index OVS_UNUSED, struct table_lost *lost)
{
    memset(lost, 0, sizeof *lost);
}

void
xdp_guard_reset_lost(uint32_t index OVS_UNUSED)
{
    n_resets++;
}

int
xdp_shared_maps_create(struct xdp_shared_maps *maps, char **errp)
{
    memset(maps, 0, sizeof *maps);
    *errp = NULL;
    return 0;
}

int
xdp_shared_maps_mmap_targets(const struct xdp_shared_maps *maps OVS_UNUSED,
                             struct table_target **targetsp, char **errp)
{
    *targetsp = words;
    *errp = NULL;
    return 0;
}

void
xdp_shared_maps_close(struct xdp_shared_maps *maps OVS_UNUSED)
{
}

int
xdp_shared_maps_get_id(int fd OVS_UNUSED, uint32_t *id)
{
    *id = 1;
    return 0;
}

static bool
is_ready(void)
{
    struct xdp_target_info info;

    return xdp_target_get_info(target, &info) && !info.reason
           && info.target.ready;
}

/* Returns true if the target is not ready and its reason has 'words_of'. */
static bool
is_unready(const char *words_of)
{
    struct xdp_target_info info;

    return xdp_target_get_info(target, &info) && info.reason
           && !info.target.ready && strstr(info.reason, words_of);
}

/* The guard sees a frame lost. */
static void
fail(int error)
{
    words[target].ready = 0;
    guard_event = error;
}

/* A port "p" whose device is as good as can be, with a ready target. */
static void
begin(bool features_known)
{
    now += 1000000;
    device_error = 0;
    memset(&device, 0, sizeof device);
    strcpy(device.name, "p");
    device.flags = UP;
    device.mtu = 1500;
    device.veth = true;
    device.features_known = features_known;
    device.features = NETDEV_XDP_NDO_XMIT | NETDEV_XDP_NDO_XMIT_SG;
    ready_without_device = false;
    CHECK(xdp_target_ref("p", &target));
    xdp_target_port_up("p", IFINDEX);
    CHECK(is_ready());
}

static void
end(void)
{
    xdp_target_port_down("p");
    xdp_target_unref(target);
    CHECK(!ready_without_device);
    CHECK(!watch);
    CHECK(!guard_attached);
    CHECK_INT(devmap[target], 0);
}

static void
run_with_link_event(void)
{
    link_event = true;
    xdp_targets_run();
}

static void
test_device(void)
{
    begin(true);
    CHECK_INT(words[target].ifindex, IFINDEX);
    CHECK_INT(words[target].mtu, 1500);
    CHECK_INT(words[target].flags, TABLE_TARGET_SG);
    CHECK_INT(devmap[target], IFINDEX);

    device.flags = 0;
    run_with_link_event();
    CHECK(is_unready("ip link set p up"));
    device.flags = IFF_UP;
    run_with_link_event();
    CHECK(is_unready("carrier"));
    device.flags = IFF_UP | IFF_LOWER_UP;
    run_with_link_event();
    CHECK(is_unready("operational"));
    device.flags = UP;
    device.features = 0;
    run_with_link_event();
    CHECK(is_unready("ethtool -K PEER gro on"));
    device.veth = false;
    run_with_link_event();
    CHECK(is_unready("driver"));
    device.features = NETDEV_XDP_NDO_XMIT;
    run_with_link_event();
    CHECK(is_ready());
    CHECK_INT(words[target].flags, 0);
    device_error = ENODEV;
    run_with_link_event();
    CHECK(is_unready("is gone"));
    device_error = EPERM;
    run_with_link_event();
    CHECK(is_unready("Operation not permitted"));
    end();
}

static void
test_no_features(void)
{
    begin(false);
    CHECK_INT(words[target].flags, 0);
    end();
}

static void
test_no_guard(void)
{
    begin(true);
    end();
    guard_error = xstrdup("the guard has no BTF");
    begin(true);
    CHECK(xdp_targets_guard_lack() != NULL);
    device.features_known = false;
    run_with_link_event();
    CHECK(is_unready("the guard has no BTF"));
    device.features_known = true;
    run_with_link_event();
    end();
}

/* But in the next one, where what changed explains the failure. */
static void
test_not_in_the_same_round(void)
{
    begin(true);
    fail(ENETDOWN);
    xdp_targets_run();
    CHECK(is_unready("Network is down"));

    now += 100000;
    xdp_targets_run();
    CHECK(is_ready());
    device.mtu = 1000;
    fail(EMSGSIZE);
    run_with_link_event();
    CHECK(is_unready("Message too long"));
    now++;
    xdp_targets_run();
    CHECK(is_ready());
    CHECK_INT(words[target].mtu, 1000);

    /* Nor is it when the port says that something has changed. */
    fail(ENETDOWN);
    xdp_target_port_up("p", IFINDEX);
    CHECK(is_unready("Network is down"));
    end();
}

/* Runs until the target is ready again, and returns for how long, ms. */
static int64_t
time_to_retry(void)
{
    long long int start = now;

    for (; now - start < 1000000 && !is_ready(); now += 10) {
        run_with_link_event();
    }
    return now - 10 - start;
}

static void
test_backoff(void)
{
    static const int expected[] = { 1, 2, 4, 8, 16, 32, 60, 60 };

    begin(false);
    for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
        now += 59000;           /* Works for a while, not for a minute. */
        fail(ENXIO);
        xdp_targets_run();
        CHECK(is_unready("ethtool -K PEER gro on"));
        CHECK_INT(time_to_retry(), expected[i] * 1000);
    }
    now += 60000;
    fail(ENXIO);
    xdp_targets_run();
    CHECK_INT(time_to_retry(), 1000);
    end();
}

static void
test_explained(void)
{
    begin(true);
    for (int i = 0; i < 5; i++) {
        fail(ENXIO);
        device.flags = IFF_UP;
        xdp_targets_run();
        CHECK(is_unready("carrier"));
        device.flags = UP;
        run_with_link_event();
        CHECK(is_ready());
    }

    /* The same where the guard is faster than the device. */
    fail(ENXIO);
    xdp_targets_run();
    CHECK(is_unready("PEER"));
    device.flags = IFF_UP;
    run_with_link_event();
    CHECK(is_unready("carrier"));
    device.flags = UP;
    run_with_link_event();
    CHECK(is_ready());
    end();
}

/* The ring buffer was full, say. */
static void
test_no_event(void)
{
    begin(true);
    words[target].ready = 0;
    xdp_targets_run();
    CHECK(is_unready("tried again"));
    CHECK_INT(time_to_retry(), 1000);
    end();
}

/* Whatever else happens in the round. */
static void
test_clear_stays(void)
{
    begin(true);
    words[target].ready = 0;
    device.mtu = 1400;
    for (int i = 0; i < 10; i++) {
        xdp_target_port_up("p", IFINDEX);
        run_with_link_event();
        CHECK_INT(words[target].ready, 0);
    }
    end();
}

static void
test_seq(void)
{
    uint64_t seq;

    begin(true);
    seq = xdp_targets_seq();
    run_with_link_event();
    CHECK_INT(xdp_targets_seq(), seq);
    device.flags = 0;
    run_with_link_event();
    CHECK(xdp_targets_seq() != seq);
    seq = xdp_targets_seq();
    device.flags = IFF_UP;
    run_with_link_event();
    CHECK(xdp_targets_seq() != seq);
    end();
}

static void
test_ports(void)
{
    uint32_t before = target;

    CHECK_INT(guard_ports[IFINDEX], 0);
    xdp_target_port_up("p", IFINDEX);
    CHECK_INT(guard_ports[IFINDEX], 1000000);
    CHECK(xdp_target_ref("p", &target));
    CHECK_INT(target, before);
    CHECK_INT(guard_ports[IFINDEX], target + 1);
    CHECK(guard_attached && watch);
    xdp_target_unref(target);
    CHECK_INT(guard_ports[IFINDEX], 1000000);
    CHECK(!guard_attached && !watch);

    begin(true);
    xdp_target_port_up("p", IFINDEX + 1);
    CHECK_INT(guard_ports[IFINDEX], 0);
    CHECK_INT(guard_ports[IFINDEX + 1], target + 1);
    CHECK(is_unready("gone"));
    xdp_target_port_up("p", IFINDEX);
    CHECK(is_ready());
    CHECK_INT(devmap[target], IFINDEX);
    end();
    CHECK_INT(guard_ports[IFINDEX], 0);
    xdp_target_port_down("never there");
}

static void
test_before_maps(void)
{
    struct xdp_shared_maps maps;
    char *err;

    strcpy(device.name, "p");
    device.flags = UP;
    device.features_known = true;
    device.features = NETDEV_XDP_NDO_XMIT;
    xdp_target_port_up("p", IFINDEX);
    CHECK(xdp_target_ref("p", &target));
    xdp_targets_run();
    CHECK(is_unready("no port has a program"));
    CHECK(!xdp_targets_get_maps(&maps, &err));
    xdp_targets_run();
    CHECK(is_ready());
    CHECK(guard_attached);
    CHECK_INT(guard_ports[IFINDEX], target + 1);
    end();
}

static void
test_lost_begins_anew(void)
{
    int before = n_resets;
    uint32_t again;

    begin(true);
    CHECK(xdp_target_ref("p", &again));
    CHECK_INT(n_resets, before + 1);
    xdp_target_unref(again);
    end();
}

int
main(void)
{
    unit_run("names are taken before there are maps", test_before_maps);
    unit_run("a target is as ready as its device", test_device);
    unit_run("where the kernel tells nothing, no frags are redirected",
             test_no_features);
    unit_run("no target is ready in the round in which it failed",
             test_not_in_the_same_round);
    unit_run("what goes on failing is tried after 1, 2, 4, ... 60 s",
             test_backoff);
    unit_run("a failure that the device explains costs no time",
             test_explained);
    unit_run("a failure without an event is seen", test_no_event);
    unit_run("what the guard has cleared is not set by the way",
             test_clear_stays);
    unit_run("the sequence number changes with readiness and reason",
             test_seq);
    unit_run("the guard knows all ports and which are targets", test_ports);
    unit_run("the counters of a new target begin at 0",
             test_lost_begins_anew);
    unit_run("without guard and xdp-features nothing is redirected",
             test_no_guard);
    free(guard_error);
    return unit_exit_status();
}
