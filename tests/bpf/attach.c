/* SPDX-License-Identifier: Apache-2.0 */

/* Tests of lib/xdp-program.h on real devices, in a network namespace of their
 * own: what it leaves behind, and what it says when it is refused. */

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "foreign.skel.h"
#include "report.h"
#include "xdp-program.h"

/* The veth under test and its peer. */
#define DEVICE "attach0"
#define PEER "attach1"
#define N_QUEUES 2

static void
sh(const char *command)
{
    if (system(command)) {
        fprintf(stderr, "failed: %s\n", command);
        exit(1);
    }
}

static const char *
mode_name(enum xdp_attach_mode mode)
{
    return mode == XDP_ATTACH_NATIVE ? "native" : "generic";
}

static int
attach(const char *device, enum xdp_attach_mode mode,
       struct xdp_program **program, char **err)
{
    const struct xdp_program_opts opts = {
        .ifname = device,
        .ifindex = if_nametoindex(device),
        .mode = mode,
        .n_queues = N_QUEUES,
        .settings = { .hints = true },
    };

    return xdp_program_attach(&opts, program, err);
}

static int
replace(struct xdp_program *program, bool hints, char **err)
{
    const struct xdp_settings settings = { .hints = hints };

    return xdp_program_replace(program, &settings, err);
}

/* Attaches to DEVICE.  If that fails, so does the suite. */
static struct xdp_program *
attach_ok(enum xdp_attach_mode mode)
{
    struct xdp_program *program;
    char *err;

    if (attach(DEVICE, mode, &program, &err)) {
        test_fail("%s", err);
        test_end();
        exit(1);
    }
    return program;
}

/* Checks that attaching fails with 'error' and that the text has each of the
 * words in 'words', which a NULL ends. */
static void
check_refused(const char *device, enum xdp_attach_mode mode, int error,
              const char *const *words)
{
    struct xdp_program *program;
    char *err;
    int got = attach(device, mode, &program, &err);

    CHECK(got == error, "%s instead of %s", strerror(got), strerror(error));
    if (!got) {
        xdp_program_detach(program);
        return;
    }
    CHECK(!program, "a program in spite of an error");
    CHECK(!strncmp(err, device, strlen(device)), "no device in: %s", err);
    for (; *words; words++) {
        CHECK(strstr(err, *words), "no \"%s\" in: %s", *words, err);
    }
    fprintf(stderr, "%s\n", err);
    free(err);
}

#define WORDS(...) ((const char *const []) { __VA_ARGS__, NULL })

/* Returns the id of the program on DEVICE in 'mode', or 0. */
static uint32_t
id_on_device(enum xdp_attach_mode mode)
{
    uint32_t id = 0;

    bpf_xdp_query_id(if_nametoindex(DEVICE),
                     mode == XDP_ATTACH_NATIVE
                     ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE, &id);
    return id;
}

/* Starts to collect what is written to stderr. */
static int
collect_stderr(FILE **file)
{
    int saved = dup(STDERR_FILENO);

    *file = tmpfile();
    dup2(fileno(*file), STDERR_FILENO);
    return saved;
}

/* Ends that, and returns how many bytes there were. */
static long
collected_stderr(FILE *file, int saved)
{
    long n;

    dup2(saved, STDERR_FILENO);
    close(saved);
    n = lseek(fileno(file), 0, SEEK_END);
    fclose(file);
    return n;
}

static void
test_attach(enum xdp_attach_mode mode)
{
    struct xdp_program *program;
    FILE *file;
    int saved;
    long n;

    test_begin("a program attaches in %s mode, silently, and leaves nothing",
               mode_name(mode));
    saved = collect_stderr(&file);
    program = attach_ok(mode);
    CHECK(id_on_device(mode) == xdp_program_id(program), "other program");
    CHECK(xdp_program_mode(program) == mode, "other mode");
    CHECK(!strcmp(xdp_program_variant(program), "hints"), "variant %s",
          xdp_program_variant(program));
    xdp_program_detach(program);
    n = collected_stderr(file, saved);
    CHECK(!n, "%ld bytes in the log", n);
    CHECK(!id_on_device(mode), "left behind");
    test_end();
}

static void
test_killed(void)
{
    int fds[2], status;
    char attached;
    uint32_t id;
    pid_t pid;

    test_begin("a killed process leaves no program on the device");
    if (pipe(fds)) {
        exit(1);
    }
    pid = fork();
    if (!pid) {
        close(fds[0]);
        attach_ok(XDP_ATTACH_NATIVE);
        if (write(fds[1], "a", 1) == 1) {
            pause();
        }
        _exit(1);
    }
    close(fds[1]);
    CHECK(read(fds[0], &attached, 1) == 1, "not attached");
    CHECK(id_on_device(XDP_ATTACH_NATIVE), "no program");
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    /* Kernels before 6.5 take it off a moment later. */
    for (int i = 0; (id = id_on_device(XDP_ATTACH_NATIVE)) && i < 100; i++) {
        usleep(10000);
    }
    CHECK(!id, "program %u is still there", id);
    close(fds[0]);
    test_end();
}

/* Takes the command out of the text of an error, runs it, and attaches. */
static void
check_command_mends(enum xdp_attach_mode mode)
{
    struct xdp_program *program;
    const char *command;
    char *err = NULL;

    if (!attach(DEVICE, mode, &program, &err)) {
        test_fail("attached over another program");
        xdp_program_detach(program);
        return;
    }
    command = strstr(err, "with: ");
    CHECK(command, "no command in: %s", err);
    if (command) {
        CHECK(!system(command + 6), "does not run: %s", command + 6);
        xdp_program_detach(attach_ok(mode));
    }
    free(err);
}

static void
test_foreign(struct foreign *foreign, enum xdp_attach_mode mode, bool link)
{
    LIBBPF_OPTS(bpf_link_create_opts, opts);
    int fd = bpf_program__fd(foreign->progs.somebody);
    int ifindex = if_nametoindex(DEVICE);
    char id[32];

    test_begin("a foreign program in %s mode%s is named and stays",
               mode_name(mode), link ? ", held by a link," : "");
    opts.flags = mode == XDP_ATTACH_NATIVE
                 ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
    if (link) {
        CHECK(bpf_link_create(fd, ifindex, BPF_XDP, &opts) >= 0, "link");
    } else {
        CHECK(!bpf_xdp_attach(ifindex, fd, opts.flags, NULL), "attach");
    }
    snprintf(id, sizeof id, "program %u ", id_on_device(mode));
    for (int m = XDP_ATTACH_NATIVE; m <= XDP_ATTACH_GENERIC; m++) {
        check_refused(DEVICE, m, EBUSY,
                      WORDS(id, "\"somebody\"", mode_name(mode)));
    }
    CHECK(id_on_device(mode), "it is gone");
    check_command_mends(mode);
    test_end();
}

static void
test_refusals(void)
{
    test_begin("the kernel's words and a remedy: the peer's MTU");
    sh("ip link set " PEER " mtu 9000");
    check_refused(DEVICE, XDP_ATTACH_NATIVE, ERANGE,
                  WORDS("Peer MTU is too large", "ip link set dev"));
    sh("ip link set " PEER " mtu 1500");
    CHECK(!id_on_device(XDP_ATTACH_NATIVE), "left behind");
    test_end();

    test_begin("the kernel's words and a remedy: no native mode");
    check_refused("lo", XDP_ATTACH_NATIVE, EOPNOTSUPP,
                  WORDS("does not support XDP in native mode",
                        "xdp-mode=generic"));
    test_end();

    test_begin("the kernel's words and a remedy: too few queues");
    sh("ip link add few numrxqueues 1 numtxqueues 1 type veth"
       " peer name many numrxqueues 4 numtxqueues 4");
    check_refused("few", XDP_ATTACH_NATIVE, ENOSPC,
                  WORDS("number of rx queues", "ethtool -L few rx"));
    test_end();
}

/* Drops CAP_SYS_ADMIN and 'cap', in a process of its own. */
static void
drop_capabilities(int cap)
{
    struct __user_cap_header_struct hdr = {
        .version = _LINUX_CAPABILITY_VERSION_3,
    };
    struct __user_cap_data_struct caps[2];
    const int drop[] = { CAP_SYS_ADMIN, cap };

    syscall(SYS_capget, &hdr, caps);
    for (int i = 0; i < 2; i++) {
        caps[drop[i] / 32].effective &= ~(1u << drop[i] % 32);
        caps[drop[i] / 32].permitted &= ~(1u << drop[i] % 32);
    }
    syscall(SYS_capset, &hdr, caps);
}

static void
test_capability(int cap, int error, const char *name)
{
    int status;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (!pid) {
        test_begin("without %s the error names it", name);
        drop_capabilities(cap);
        check_refused(DEVICE, XDP_ATTACH_NATIVE, error,
                      WORDS("lacks ", name));
        test_end();
        _exit(0);
    }
    waitpid(pid, &status, 0);
}

static void
test_replace(void)
{
    struct xdp_program *program;
    uint64_t cookie;
    uint32_t id;
    char *err;

    test_begin("a program is replaced in place, with a new cookie");
    program = attach_ok(XDP_ATTACH_NATIVE);
    cookie = xdp_program_cookie(program);
    id = xdp_program_port_id(program);
    for (int i = 0; i < 4; i++) {
        bool hints = i % 2;

        CHECK(!replace(program, hints, &err), "%s", err);
        CHECK(xdp_program_cookie(program) != cookie, "same cookie");
        CHECK(xdp_program_port_id(program) != id, "same id");
        CHECK(id_on_device(XDP_ATTACH_NATIVE) == xdp_program_id(program),
              "not the one on the device");
        CHECK(!strcmp(xdp_program_variant(program), hints ? "hints" : "plain"),
              "variant %s", xdp_program_variant(program));
        cookie = xdp_program_cookie(program);
        id = xdp_program_port_id(program);
    }
    xdp_program_detach(program);
    CHECK(!id_on_device(XDP_ATTACH_NATIVE), "left behind");
    test_end();

    test_begin("a program whose device is gone is not replaced");
    sh("ip link add gone0 type veth peer name gone1");
    CHECK(!attach("gone0", XDP_ATTACH_NATIVE, &program, &err), "%s", err);
    sh("ip link del gone0");
    cookie = xdp_program_cookie(program);
    CHECK(replace(program, false, &err) && err, "no error");
    CHECK(xdp_program_cookie(program) == cookie, "another cookie");
    free(err);
    xdp_program_detach(program);
    test_end();
}

static void
test_sockets(void)
{
    struct xdp_program *program;
    int xsk = socket(AF_XDP, SOCK_RAW, 0);
    int other = socket(AF_INET, SOCK_DGRAM, 0);
    char *err;

    test_begin("sockets are set and cleared");
    program = attach_ok(XDP_ATTACH_NATIVE);
    CHECK(!xdp_program_set_socket(program, N_QUEUES - 1, xsk), "set");
    CHECK(!replace(program, false, &err), "%s", err);
    CHECK(!xdp_program_clear_socket(program, N_QUEUES - 1), "clear");
    CHECK(!xdp_program_clear_socket(program, 0), "clear an empty one");
    CHECK(xdp_program_set_socket(program, N_QUEUES, xsk) == E2BIG,
          "a queue too many");
    CHECK(xdp_program_set_socket(program, 0, other), "no AF_XDP socket");
    xdp_program_detach(program);
    close(xsk);
    close(other);
    test_end();
}

/* Moves this process to the 'i'-th of the CPUs, over and over. */
static void
move_to_cpu(int i)
{
    int n = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET(i % n, &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
}

/* Sends 'n' frames to DEVICE, from one CPU after the other: a veth receives
 * on the CPU that sends. */
static void
send_frames(int n)
{
    static const char frame[60] = "\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x88\xb5";
    struct sockaddr_ll to = {
        .sll_family = AF_PACKET,
        .sll_ifindex = if_nametoindex(PEER),
    };
    int fd = socket(AF_PACKET, SOCK_RAW, 0);

    for (int i = 0; i < n; i++) {
        move_to_cpu(i);
        if (sendto(fd, frame, sizeof frame, 0, (struct sockaddr *) &to,
                   sizeof to) != sizeof frame) {
            test_fail("sendto: %s", strerror(errno));
        }
    }
    close(fd);
}

static void
test_counters(enum xdp_attach_mode mode)
{
    uint64_t counters[XDP_N_COUNTERS];
    struct xdp_program *program;
    char *err;

    test_begin("frames without a socket are dropped and counted, %s mode",
               mode_name(mode));
    program = attach_ok(mode);
    send_frames(50);
    CHECK(!replace(program, false, &err), "%s", err);
    send_frames(30);
    for (int i = 0; i < 100; i++) {
        xdp_program_read_counters(program, counters);
        if (counters[XDP_C_DROP_NO_SOCKET] >= 80) {
            break;
        }
        usleep(10000);
    }
    CHECK(counters[XDP_C_DROP_NO_SOCKET] == 80, "%llu of 80 dropped",
          (unsigned long long) counters[XDP_C_DROP_NO_SOCKET]);
    CHECK(counters[XDP_C_HINTS_WRITTEN] == 50, "%llu of 50 with hints",
          (unsigned long long) counters[XDP_C_HINTS_WRITTEN]);
    CHECK(!counters[XDP_C_TO_USERSPACE], "some went up");
    xdp_program_detach(program);
    test_end();
}

static int
our_print(enum libbpf_print_level level, const char *format, va_list args)
{
    return 0;
}

static void
test_print_callback(void)
{
    libbpf_print_fn_t before;

    test_begin("libbpf's print callback is put back");
    before = libbpf_set_print(our_print);
    xdp_program_detach(attach_ok(XDP_ATTACH_NATIVE));
    check_refused("lo", XDP_ATTACH_NATIVE, EOPNOTSUPP, WORDS("lo"));
    CHECK(libbpf_set_print(before) == our_print, "another one");
    test_end();
}

static void
test_names(void)
{
    test_begin("each counter has a name and a description");
    for (int i = 0; i < XDP_N_COUNTERS; i++) {
        CHECK(!strncmp(xdp_counter_name(i), "xdp_", 4), "counter %d", i);
        CHECK(strlen(xdp_counter_description(i)) > 10, "counter %d", i);
        for (int j = 0; j < i; j++) {
            CHECK(strcmp(xdp_counter_name(i), xdp_counter_name(j)),
                  "%s is there twice", xdp_counter_name(i));
        }
    }
    test_end();
}

int
main(void)
{
    struct foreign *foreign = foreign__open_and_load();

    if (!foreign) {
        return 1;
    }
    sh("sysctl -qw net.ipv6.conf.default.disable_ipv6=1");
    sh("ip link add " DEVICE " type veth peer name " PEER);
    sh("ip link set " DEVICE " up && ip link set " PEER " up");
    for (int m = XDP_ATTACH_NATIVE; m <= XDP_ATTACH_GENERIC; m++) {
        test_attach(m);
        test_foreign(foreign, m, false);
        test_foreign(foreign, m, true);
        test_counters(m);
    }
    test_killed();
    test_refusals();
    test_capability(CAP_NET_ADMIN, EPERM, "CAP_NET_ADMIN");
    test_capability(CAP_BPF, EPERM, "CAP_BPF");
    test_capability(CAP_PERFMON, EACCES, "CAP_PERFMON");
    test_replace();
    test_sockets();
    test_print_callback();
    test_names();
    foreign__destroy(foreign);
    return 0;
}
