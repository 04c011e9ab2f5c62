/* SPDX-License-Identifier: Apache-2.0 */

/* Tests of lib/xdp-targets.h on real devices, in a network namespace of their
 * own: what is lost while a target stops taking frames, whether all of it is
 * counted, and whether the target is used again by itself.
 *
 * Frames come from 'in0' and are redirected to 'out0', whose other end is
 * 'out1'.  The program here stands for that of a port: it asks the same
 * maps. */

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report.h"
#include "traffic.h"
#include "xdp-targets.h"

/* What a transition may lose. */
#define MAX_LOST 64

/* Does the kernel tell of xdp-features?  Where not, it is one before 6.3 to
 * the code under test. */
static bool features_known = true;

bool __real_netdev_probe_xdp_features(int ifindex, uint64_t *features);
bool __wrap_netdev_probe_xdp_features(int ifindex, uint64_t *features);

bool
__wrap_netdev_probe_xdp_features(int ifindex, uint64_t *features)
{
    return (features_known
            && __real_netdev_probe_xdp_features(ifindex, features));
}

/* Checks that each frame between 'a' and 'b' is somewhere. */
static void
check_sums(const struct books *a, const struct books *b)
{
    long long int sent = b->sent - a->sent, up = b->up - a->up;
    long long int taken = b->taken - a->taken, lost = b->lost - a->lost;

    fprintf(stderr, "sent %lld = taken %lld + up %lld + lost %lld, "
            "received %lld, failures %lld\n", sent, taken, up, lost,
            (long long) (b->received - a->received),
            (long long) (b->failures - a->failures));
    CHECK(sent == taken + up + lost,
          "sent %lld, taken %lld, up %lld, lost %lld", sent, taken, up, lost);
    CHECK(lost <= MAX_LOST, "%lld are lost", lost);
}

enum change {
    KEEPS_PEER,                 /* The other end takes frames all the time, */
    STOPS_PEER,                 /* or throws away those it has not looked at */
    DELETES_PEER,               /* or its counters are gone. */
};

/* Under traffic, runs 'command', which has to make the target 'ready' or not,
 * and leave 'words' in the reason, if it is not. */
static void __attribute__((format(printf, 4, 5)))
transition(bool ready, const char *words, enum change change,
           const char *command, ...)
{
    struct books before, after;
    char expanded[512];
    va_list args;

    va_start(args, command);
    vsnprintf(expanded, sizeof expanded, command, args);
    va_end(args);
    fprintf(stderr, "$ %s\n", expanded);

    traffic_read(&before);
    traffic_pass(4 * BURST);
    SH("%s", expanded);
    run_until(ready);
    if (words) {
        const char *reason = info().reason ? info().reason : "ready";

        CHECK(strstr(reason, words), "no \"%s\" in: %s", words, reason);
        fprintf(stderr, "%s\n", reason);
    }
    traffic_pass(20 * BURST);
    traffic_read(&after);
    check_sums(&before, &after);

    if (change != DELETES_PEER) {
        int64_t missing = (after.taken - before.taken
                           - (after.received - before.received));

        CHECK(missing >= 0, "more arrived than was sent: %lld",
              (long long) -missing);
        CHECK(change == STOPS_PEER ? missing <= MAX_LOST : !missing,
              "%lld did not arrive", (long long) missing);
    }
    if (ready) {
        CHECK(after.taken > before.taken, "nothing is redirected");
    }
}

static const char *
kernel_says(void)
{
    return features_known ? "with xdp-features" : "without xdp-features";
}

static void
make_out(void)
{
    SH("ip link add out0 type veth peer name out1");
    SH("ethtool -K out1 gro on");
    SH("ip link set out0 up && ip link set out1 up");
}

static void
test_gro(void)
{
    test_begin("the peer's GRO goes off and on, %s", kernel_says());
    transition(false, "ethtool -K PEER gro on", STOPS_PEER,
               "ethtool -K out1 gro off");
    transition(true, NULL, KEEPS_PEER, "ethtool -K out1 gro on");
    test_end();
}

/* Where nothing but a lost frame tells that the target does not take any, one
 * is tried now and then. */
static void
test_tries(void)
{
    time_t end = time(NULL) + PATIENCE;
    struct books before, after;

    test_begin("a target that goes on failing is tried again, at little cost");
    traffic_read(&before);
    transition(false, NULL, STOPS_PEER, "ethtool -K out1 gro off");
    while (info().failures - before.failures < 3 && time(NULL) < end) {
        round_of_main_loop();
    }
    traffic_read(&after);
    CHECK(after.failures - before.failures == 3, "%llu failures",
          (unsigned long long) (after.failures - before.failures));
    CHECK(after.lost - before.lost <= 3 * MAX_LOST, "%llu are lost",
          (unsigned long long) (after.lost - before.lost));
    transition(true, NULL, KEEPS_PEER, "ethtool -K out1 gro on");
    test_end();
}

static void
test_down(void)
{
    test_begin("the target goes down and up, %s", kernel_says());
    transition(false, "ip link set out0 up", KEEPS_PEER,
               "ip link set out0 down");
    transition(true, NULL, KEEPS_PEER, "ip link set out0 up");
    test_end();
}

static void
test_peer_down(void)
{
    test_begin("the peer goes down and up, %s", kernel_says());
    transition(false, "carrier", STOPS_PEER, "ip link set out1 down");
    transition(true, NULL, KEEPS_PEER, "ip link set out1 up");
    test_end();
}

static void
test_renamed(void)
{
    test_begin("the target is renamed and gets its name back, %s",
               kernel_says());
    transition(false, "out0 is called other0 now", KEEPS_PEER,
               "ip link set out0 down; ip link set out0 name other0; "
               "ip link set other0 up");
    transition(true, NULL, KEEPS_PEER,
               "ip link set other0 down; ip link set other0 name out0; "
               "ip link set out0 up");
    test_end();
}

/* With an MTU that frames are too large for the target is ready, and they go
 * up. */
static void
test_mtu(void)
{
    struct books before, after;

    test_begin("the target's MTU becomes too small and large again, %s",
               kernel_says());
    transition(true, NULL, KEEPS_PEER, "ip link set out0 mtu 1000");
    CHECK(info().target.mtu == 1000, "MTU %u", info().target.mtu);
    traffic_read(&before);
    traffic_pass(10 * BURST);
    traffic_read(&after);
    CHECK(after.sent - before.sent == after.up - before.up, "not all went up");
    transition(true, NULL, KEEPS_PEER, "ip link set out0 mtu 1500");
    CHECK(info().target.mtu == 1500, "MTU %u", info().target.mtu);
    test_end();
}

static void
test_deleted(void)
{
    test_begin("the target is deleted and made anew, %s", kernel_says());
    transition(false, "out0 is gone", DELETES_PEER, "ip link del out0");
    make_out();
    transition(false, "another device", DELETES_PEER, "true");
    xdp_target_port_up("out0", if_nametoindex("out0"));
    transition(true, NULL, KEEPS_PEER, "true");
    test_end();
}

/* Another network namespace, which a process holds. */
static pid_t
hold_netns(void)
{
    pid_t pid = fork();

    if (!pid) {
        execlp("unshare", "unshare", "--net", "sleep", "3600", NULL);
        _exit(1);
    }
    while (try_sh("[ $(readlink /proc/%d/ns/net) = "
                  "$(readlink /proc/self/ns/net) ]", pid)) {
        usleep(10000);
    }
    return pid;
}

static void
release_netns(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void
test_moved(void)
{
    pid_t pid = hold_netns();

    test_begin("the target goes to another network namespace and comes back, "
               "%s", kernel_says());
    transition(false, "out0 is gone", KEEPS_PEER, "ip link set out0 netns %d",
               pid);
    transition(true, NULL, KEEPS_PEER,
               "nsenter -t %d -n ip link set out0 netns %d; "
               "ip link set out0 up", pid, getpid());
    release_netns(pid);
    test_end();
}

static void
test_port(void)
{
    test_begin("the port goes away and comes back, %s", kernel_says());
    xdp_target_port_down("out0");
    transition(false, "there is no afxdp-fast port out0", KEEPS_PEER, "true");
    xdp_target_port_up("out0", if_nametoindex("out0"));
    transition(true, NULL, KEEPS_PEER, "true");
    test_end();
}

/* Sends from somebody else's program to 'to', expects that all is refused, by
 * the driver or before it is asked. */
static void
send_elsewhere(const char *from, const char *to, bool by_driver)
{
    uint32_t zero = 0, ifindex = if_nametoindex(to);
    struct table_target ready = { .ready = 1, .mtu = 1500 };
    struct source other;

    source_open(&other, from, NULL);
    bpf_map_update_elem(bpf_map__fd(other.skel->maps.targets), &zero, &ready,
                        BPF_ANY);
    bpf_map_update_elem(bpf_map__fd(other.skel->maps.devmap), &zero, &ifindex,
                        BPF_ANY);
    source_send(&other, BURST);
    CHECK(!other.skel->bss->n_taken && !other.skel->bss->n_up,
          "%llu taken, %llu up", (unsigned long long) other.skel->bss->n_taken,
          (unsigned long long) other.skel->bss->n_up);
    CHECK(other.skel->bss->n_refused == (by_driver ? BURST : 0),
          "%llu refused by the driver",
          (unsigned long long) other.skel->bss->n_refused);
    source_close(&other);
}

/* The main loop stands still meanwhile: it is the guard's doing alone whether
 * the target stays ready. */
static void
test_others_map(void)
{
    struct books before, after;

    test_begin("redirects of somebody else's that fail do not count, %s",
               kernel_says());
    SH("ip link add else0 type veth peer name else1");
    SH("ip link set else0 up && ip link set else1 up");
    run_until(true);
    traffic_hold();
    before = (struct books) { .lost = info().lost };

    SH("ip link set out1 down");
    send_elsewhere("else0", "out0", true);
    CHECK(info().target.ready, "cleared, the driver refused it");
    SH("ip link set out0 down");
    send_elsewhere("else0", "out0", false);
    CHECK(info().target.ready, "cleared, the kernel refused it");
    after = (struct books) { .lost = info().lost };
    CHECK(after.lost == before.lost, "%llu counted",
          (unsigned long long) (after.lost - before.lost));

    SH("ip link set out1 up && ip link set out0 up");
    SH("ip link del else0");
    traffic_go_on();
    run_until(true);
    test_end();
}

/* Keeps the kernel from sending frames of its own. */
static void
be_silent(void)
{
    SH("sysctl -qw net.ipv6.conf.default.disable_ipv6=1");
}

/* Runs in another network namespace, with devices of the same indexes as ours
 * have. */
static int
other_netns_main(int in_index, int out_index)
{
    test_begin("in the other network namespace all redirects fail");
    be_silent();
    SH("ip link add in0 index %d type veth peer name in1", in_index);
    SH("ip link add out0 index %d type veth peer name out1", out_index);
    SH("ethtool -K out1 gro on");
    SH("for i in in0 in1 out0 out1; do ip link set $i up; done");
    SH("ip link set out1 down");
    send_elsewhere("in0", "out0", true);
    test_end();
    return 0;
}

static void
test_others_netns(const char *self)
{
    int out_index = if_nametoindex("out0");
    uint64_t lost;

    run_until(true);
    traffic_hold();
    lost = info().lost;
    SH("unshare --net %s %d %d", self, in.ifindex, out_index);
    test_begin("devices of other network namespaces are others, %s",
               kernel_says());
    CHECK(info().target.ready, "cleared");
    CHECK(info().lost == lost, "%llu counted",
          (unsigned long long) (info().lost - lost));
    traffic_go_on();
    test_end();
}

/* Returns the file descriptor of a tap, up, that nobody reads. */
static int
make_tap(const char *name)
{
    struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI };
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);

    snprintf(ifr.ifr_name, sizeof ifr.ifr_name, "%s", name);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &ifr)) {
        perror("/dev/net/tun");
        exit(1);
    }
    SH("ip link set %s up", name);
    return fd;
}

/* A ring that is full is no reason to stop. */
static void
test_overload(void)
{
    char frame[2 * FRAME_SIZE];
    struct books before, after;
    uint32_t veth = target;
    uint64_t n_read = 0;
    int fd;

    test_begin("what a full ring loses is counted, and the target stays ready,"
               " %s", kernel_says());
    traffic_hold();
    fd = make_tap("tap0");
    xdp_target_port_up("tap0", if_nametoindex("tap0"));
    xdp_target_ref("tap0", &target);
    in.skel->bss->target_index = target;
    traffic_go_on();

    run_until(true);
    traffic_read(&before);
    traffic_pass(100 * BURST);
    traffic_read(&after);
    traffic_hold();
    in.skel->bss->target_index = veth;
    traffic_go_on();

    while (read(fd, frame, sizeof frame) == FRAME_SIZE) {
        n_read++;
    }
    CHECK(info().target.ready && !info().failures, "not ready: %s",
          info().reason);
    CHECK(after.lost, "nothing is lost");
    CHECK(n_read == in.skel->bss->n_taken - before.taken
          || n_read >= after.taken - before.taken,
          "%llu of %llu read", (unsigned long long) n_read,
          (unsigned long long) (after.taken - before.taken));
    CHECK(after.sent - before.sent == after.taken - before.taken
          + after.up - before.up + after.lost - before.lost,
          "the sum is wrong");

    xdp_target_port_down("tap0");
    xdp_target_unref(target);
    target = veth;
    close(fd);
    test_end();
}

/* An index is stable, is not shared, and begins anew when it is used anew. */
static void
test_indexes(void)
{
    struct xdp_target_info i;
    uint32_t a, b, again;

    test_begin("a name keeps its index as long as it is referred to, %s",
               kernel_says());
    CHECK(xdp_target_ref("a", &a) && xdp_target_ref("b", &b) && a != b
          && a != target && b != target, "%u, %u", a, b);
    CHECK(xdp_target_ref("a", &again) && again == a, "%u, then %u", a, again);
    xdp_target_unref(a);
    CHECK(xdp_target_get_info(a, &i) && !strcmp(i.name, "a")
          && !strcmp(i.reason, "there is no afxdp-fast port a"), "other info");
    xdp_target_unref(a);
    CHECK(!xdp_target_get_info(a, &i), "still there");
    CHECK(xdp_target_ref("c", &again) && again == a, "%u is not used again",
          a);
    xdp_target_unref(again);
    xdp_target_unref(b);
    CHECK(!info().reason, "%s", info().reason);
    test_end();
}

static void
test_full(void)
{
    static uint32_t indexes[TABLE_N_TARGETS];
    uint32_t n = 0, more;
    char name[16];

    test_begin("there are %d targets and not one more, %s", TABLE_N_TARGETS,
               kernel_says());
    for (;;) {
        snprintf(name, sizeof name, "port%u", n);
        if (n == TABLE_N_TARGETS || !xdp_target_ref(name, &indexes[n])) {
            break;
        }
        CHECK(indexes[n] < TABLE_N_TARGETS, "index %u", indexes[n]);
        n++;
    }
    CHECK(n == TABLE_N_TARGETS - 1, "%u beside ours", n);
    CHECK(xdp_target_ref("out0", &more) && more == target, "not ours");
    xdp_target_unref(more);
    while (n) {
        xdp_target_unref(indexes[--n]);
    }
    test_end();
}

static void
test_all(const char *self)
{
    if (!xdp_target_ref("out0", &target)) {
        exit(1);
    }
    in.skel->bss->target_index = target;
    run_until(true);
    traffic_start();

    test_gro();
    if (!features_known) {
        test_tries();
    }
    test_down();
    test_peer_down();
    test_renamed();
    test_mtu();
    test_moved();
    test_deleted();
    test_port();
    test_overload();
    test_others_map();
    test_others_netns(self);
    test_indexes();
    test_full();

    traffic_stop();
    xdp_target_unref(target);
}

int
main(int argc, char *argv[])
{
    struct xdp_shared_maps maps;
    char *err;

    if (argc == 3) {
        return other_netns_main(atoi(argv[1]), atoi(argv[2]));
    }
    be_silent();
    SH("ip link add in0 type veth peer name in1");
    SH("ip link set in0 up && ip link set in1 up");
    make_out();
    if (xdp_targets_get_maps(&maps, &err)) {
        fprintf(stderr, "%s\n", err);
        return 1;
    }
    if (xdp_targets_guard_lack()) {
        printf("skip - targets: %s\n", xdp_targets_guard_lack());
        return 0;
    }
    source_open(&in, "in0", &maps);
    xdp_target_port_up("in0", in.ifindex);
    xdp_target_port_up("out0", if_nametoindex("out0"));

    test_all(argv[0]);
    features_known = false;
    test_all(argv[0]);
    source_close(&in);
    return 0;
}
