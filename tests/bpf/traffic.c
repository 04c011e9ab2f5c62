/* SPDX-License-Identifier: Apache-2.0 */

#include "traffic.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "report.h"

/* Of OVS, whose headers need its config.h. */
void poll_block(void);
void poll_timer_wait_at(long long int msec, const char *where);

/* Runs a command and returns whether it succeeds. */
bool
try_sh(const char *format, ...)
{
    char command[512];
    va_list args;

    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    return !system(command);
}

struct source in;
uint32_t target;

static pthread_t thread;
static pthread_mutex_t sending = PTHREAD_MUTEX_INITIALIZER;
static uint64_t n_sent;         /* Protected by 'sending'. */
static bool stop_sending;

/* Loads the program and attaches it to 'device'.  With the daemon's maps, or
 * with some of its own if 'maps' is NULL. */
void
source_open(struct source *s, const char *device,
            const struct xdp_shared_maps *maps)
{
    struct stat netns;

    s->ifindex = if_nametoindex(device);
    s->skel = redirect__open();
    if (maps) {
        bpf_map__reuse_fd(s->skel->maps.targets, maps->targets);
        bpf_map__reuse_fd(s->skel->maps.devmap, maps->devmap);
    }
    if (stat("/proc/self/ns/net", &netns) || redirect__load(s->skel)) {
        exit(1);
    }
    s->skel->bss->from_ifindex = s->ifindex;
    s->skel->bss->from_netns = netns.st_ino;
    s->link = bpf_program__attach_xdp(s->skel->progs.redirect, s->ifindex);
    s->skel->links.count_taken = bpf_program__attach_raw_tracepoint(
        s->skel->progs.count_taken, "xdp_devmap_xmit");
    if (!s->link || !s->skel->links.count_taken) {
        fprintf(stderr, "cannot attach to %s\n", device);
        exit(1);
    }
}

void
source_close(struct source *s)
{
    bpf_link__destroy(s->link);
    redirect__destroy(s->skel);
}

/* Gives the program 'n' frames that go on their way as if they had arrived. */
void
source_send(struct source *s, int n)
{
    static unsigned char frame[FRAME_SIZE] = {
        2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5,
    };
    struct xdp_md ctx = {
        .data_end = sizeof frame,
        .ingress_ifindex = s->ifindex,
    };
    LIBBPF_OPTS(bpf_test_run_opts, opts,
                .data_in = frame,
                .data_size_in = sizeof frame,
                .ctx_in = &ctx,
                .ctx_size_in = sizeof ctx,
                .repeat = n,
                .batch_size = BURST,
                .flags = BPF_F_TEST_XDP_LIVE_FRAMES);

    if (bpf_prog_test_run_opts(bpf_program__fd(s->skel->progs.redirect),
                               &opts)) {
        test_fail("no frames: %s", strerror(errno));
    }
}

static void *
sender_main(void *aux)
{
    while (!__atomic_load_n(&stop_sending, __ATOMIC_RELAXED)) {
        pthread_mutex_lock(&sending);
        source_send(&in, BURST);
        n_sent += BURST;
        pthread_mutex_unlock(&sending);
        usleep(PAUSE_US);
    }
    return NULL;
}

/* Begins to send without an end. */
void
traffic_start(void)
{
    stop_sending = false;
    pthread_create(&thread, NULL, sender_main, NULL);
}

/* Ends that. */
void
traffic_stop(void)
{
    __atomic_store_n(&stop_sending, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
}

/* Sends nothing until traffic_go_on(). */
void
traffic_hold(void)
{
    pthread_mutex_lock(&sending);
}

void
traffic_go_on(void)
{
    pthread_mutex_unlock(&sending);
}

/* One round of the daemon's main loop. */
void
round_of_main_loop(void)
{
    xdp_targets_run();
    xdp_targets_wait();
    poll_timer_wait_at(20, __func__);
    poll_block();
}

struct xdp_target_info
info(void)
{
    struct xdp_target_info i;

    if (!xdp_target_get_info(target, &i)) {
        fprintf(stderr, "no target %u\n", target);
        exit(1);
    }
    return i;
}

/* Runs the main loop until the target is ready or not, as said. */
bool
run_until(bool ready)
{
    time_t end = time(NULL) + PATIENCE;

    do {
        round_of_main_loop();
        if (!info().reason == ready && info().target.ready == ready) {
            return true;
        }
    } while (time(NULL) < end);
    test_fail("not %s, but: %s", ready ? "ready" : "unready",
              info().reason ? info().reason : "ready");
    return false;
}

/* Returns the frames that arrived at 'device'. */
static uint64_t
received_by(const char *device)
{
    unsigned long long bytes, packets = 0;
    char line[512], name[64];
    FILE *file = fopen("/proc/self/net/dev", "r");

    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, " %63[^:]: %llu %llu", name, &bytes, &packets) == 3
            && !strcmp(name, device)) {
            break;
        }
        packets = 0;
    }
    if (file) {
        fclose(file);
    }
    return packets;
}

/* Waits until what is under way has arrived, and reads all counters. */
void
traffic_read(struct books *b)
{
    struct xdp_target_info i;
    uint64_t before;

    pthread_mutex_lock(&sending);
    do {
        before = received_by("out1");
        usleep(50000);
    } while (received_by("out1") != before);
    i = info();
    *b = (struct books) {
        .sent = n_sent,
        .up = in.skel->bss->n_up,
        .taken = in.skel->bss->n_taken,
        .lost = i.lost,
        .failures = i.failures,
        .received = before,
    };
    pthread_mutex_unlock(&sending);
}

/* Waits until 'n' more frames were sent. */
void
traffic_pass(uint64_t n)
{
    uint64_t end, sent;

    pthread_mutex_lock(&sending);
    end = n_sent + n;
    do {
        sent = n_sent;
        pthread_mutex_unlock(&sending);
        round_of_main_loop();
        pthread_mutex_lock(&sending);
    } while (sent < end);
    pthread_mutex_unlock(&sending);
}
