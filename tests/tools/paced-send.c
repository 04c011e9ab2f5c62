/* SPDX-License-Identifier: Apache-2.0 */

/* Sends test frames at a steady, low rate without keeping a CPU busy: see
 * usage(). */

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "args.h"
#include "frame.h"
#include "probe.h"

/* Larger than any port takes, for the tests that send too much. */
#define MAX_SIZE 9014

static void
usage(void)
{
    puts("paced-send: send test frames at a steady rate from a raw socket\n"
         "usage: paced-send --dev=DEV [OPTIONS]\n"
         "  --size=N          bytes a frame (64)\n"
         "  --count=N         frames in all (until SIGINT or SIGTERM)\n"
         "  --rate=N          frames a second, up to some 20,000 (1000)\n"
         "  --first=N         number of the first probe (0)\n"
         "  --stream=N        number in the probe, 0 to 255 (0)\n"
         "  --flows=N         UDP source ports, in turn (1)\n"
         "  --dst=MAC --src=MAC\n"
         "  --cpu=N           CPU to run on\n"
         "Prints {\"sent\": N, \"refused\": frames the device did not take}.\n"
         "Frames that a veth took and dropped since its other end did not\n"
         "run for long are among the refused.");
    exit(0);
}

struct options {
    size_t size;
    uint64_t count, rate, first, flows;
    uint8_t stream;
    uint8_t dst[6], src[6];
    int ifindex;
};

static void
parse_options(int argc, char *argv[], struct options *o)
{
    static const struct option long_options[] = {
        {"dev", required_argument, NULL, 'd'},
        {"size", required_argument, NULL, 's'},
        {"count", required_argument, NULL, 'c'},
        {"rate", required_argument, NULL, 'r'},
        {"first", required_argument, NULL, 'f'},
        {"stream", required_argument, NULL, 'i'},
        {"flows", required_argument, NULL, 'F'},
        {"dst", required_argument, NULL, 'D'},
        {"src", required_argument, NULL, 'S'},
        {"cpu", required_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char *dev = NULL;
    int option;

    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (option) {
        case 'd': dev = optarg; break;
        case 's': o->size = parse_number("size", optarg, PROBE_MIN_SIZE,
                                         MAX_SIZE);
            break;
        case 'c': o->count = parse_number("count", optarg, 1, 1ull << 40);
            break;
        case 'r': o->rate = parse_number("rate", optarg, 1, 1000000); break;
        case 'f': o->first = parse_number("first", optarg, 0, 1ull << 40);
            break;
        case 'i': o->stream = parse_number("stream", optarg, 0, 255); break;
        case 'F': o->flows = parse_number("flows", optarg, 1, 16384); break;
        case 'D': parse_mac("dst", optarg, o->dst); break;
        case 'S': parse_mac("src", optarg, o->src); break;
        case 'p': pin_to_cpu(parse_number("cpu", optarg, 0, 1023)); break;
        case 'h': usage(); break;
        default: exit(1);
        }
    }
    if (optind < argc) {
        die("%s: not an option (see --help)", argv[optind]);
    }
    o->ifindex = parse_device("--dev", dev);
}

/* Returns how many frames the device has dropped instead of sending. */
static uint64_t
read_dropped(int ifindex)
{
    char name[IF_NAMESIZE], path[64 + IF_NAMESIZE];
    uint64_t dropped = 0;
    FILE *file;

    if (!if_indextoname(ifindex, name)) {
        die("device %d: %s", ifindex, strerror(errno));
    }
    snprintf(path, sizeof path, "/sys/class/net/%s/statistics/tx_dropped",
             name);
    file = fopen(path, "r");
    if (!file || fscanf(file, "%"SCNu64, &dropped) != 1) {
        die("%s: not to be read", path);
    }
    fclose(file);
    return dropped;
}

static volatile sig_atomic_t stopped;

static void
stop(int signal)
{
    stopped = 1;
}

static int
open_socket(int ifindex)
{
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_ifindex = ifindex,
    };
    int fd = socket(AF_PACKET, SOCK_RAW, 0);    /* 0: receive nothing. */

    if (fd < 0 || bind(fd, (struct sockaddr *) &address, sizeof address)) {
        die("raw socket: %s", strerror(errno));
    }
    return fd;
}

/* Sleeps until 'when', of now_ns(). */
static void
sleep_until(uint64_t when)
{
    struct timespec ts = {
        .tv_sec = when / 1000000000, .tv_nsec = when % 1000000000,
    };

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR
           && !stopped) {
        continue;
    }
}

int
main(int argc, char *argv[])
{
    struct options o = {
        .size = PROBE_MIN_SIZE, .count = UINT64_MAX, .rate = 1000,
        .flows = 1,
        .dst = { 0x02, 0, 0, 0, 0, 2 }, .src = { 0x02, 0, 0, 0, 0, 1 },
    };
    uint64_t refused = 0;
    uint64_t sent = 0;
    uint8_t frame[MAX_SIZE];

    parse_options(argc, argv, &o);
    signal(SIGINT, stop);
    signal(SIGTERM, stop);

    int fd = open_socket(o.ifindex);
    uint64_t dropped = read_dropped(o.ifindex);
    uint64_t start = now_ns();
    frame_init(frame, o.size, o.dst, o.src);
    while (sent + refused < o.count && !stopped) {
        uint64_t n = sent + refused;

        sleep_until(start + n * (1000000000 / o.rate));
        frame_set_flow(frame, n % o.flows);
        frame_fill(frame, o.size, o.stream, o.first + n, now_ns());
        if (send(fd, frame, o.size, 0) == (ssize_t) o.size) {
            sent++;
        } else {
            refused++;
        }
    }
    dropped = read_dropped(o.ifindex) - dropped;
    sent -= dropped;
    refused += dropped;
    printf("{\"sent\": %"PRIu64", \"refused\": %"PRIu64"}\n", sent, refused);
    close(fd);
    return 0;
}
