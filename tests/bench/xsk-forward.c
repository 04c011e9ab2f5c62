/* SPDX-License-Identifier: Apache-2.0 */

/* Forwards between devices through AF_XDP sockets and does nothing else: what
 * a socket of this kind costs without a switch around it.  See usage(). */

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <xdp/xsk.h>

#include "args.h"
#include "xsk-forward.skel.h"

/* Frames handled at a time: as many as a PMD thread of OVS does, and as the
 * kernel sends in one call unless told otherwise. */
#define BATCH 32

/* As many as OVS's own AF_XDP port has. */
#define RING_SIZE 2048

/* A page; no chunk can be larger. */
#define FRAME_SIZE 4096

/* Full fill, rx and tx rings for each port. */
#define FRAMES_PER_PORT (3 * RING_SIZE)

#define MAX_PORTS 8

struct port {
    struct xsk_socket *socket;
    struct xsk_ring_cons rx, completion;
    struct xsk_ring_prod tx, fill;
    struct port *peer;
    uint32_t in_kernel;         /* Frames sent and not completed. */
    bool kick;                  /* Some of them wait for a system call. */
};

static struct port ports[MAX_PORTS];
static int n_ports;
static bool copying;

/* Memory of all ports, and its frames that no ring holds, by address. */
static uint8_t *memory;
static uint64_t free_frames[MAX_PORTS * FRAMES_PER_PORT];
static uint32_t n_free;

static uint64_t forwarded, dropped;
static volatile sig_atomic_t stopped;

static void
usage(void)
{
    puts("xsk-forward: forward between devices through AF_XDP sockets\n"
         "usage: xsk-forward [OPTIONS] DEV DEV [DEV DEV]...\n"
         "The first and the second exchange the frames of their queue 0, the\n"
         "third and the fourth, and so on, until SIGTERM or SIGINT.\n"
         "  --copy            copy each frame into another one, as if each\n"
         "                    device had memory of its own\n"
         "  --cpu=N           CPU to run on\n"
         "Prints {\"forwarded\": N, \"dropped\": frames for which the\n"
         "sending socket had no room}.");
    exit(0);
}

static void
stop(int signal)
{
    stopped = 1;
}

/* Reserves memory for all ports.  The first port's fill and completion ring
 * come with it. */
static struct xsk_umem *
create_umem(void)
{
    const struct xsk_umem_config config = {
        .fill_size = RING_SIZE,
        .comp_size = RING_SIZE,
        .frame_size = FRAME_SIZE,
    };
    size_t size = (size_t) n_ports * FRAMES_PER_PORT * FRAME_SIZE;
    struct xsk_umem *umem;

    memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) {
        die("%zu bytes of memory: %s", size, strerror(errno));
    }
    for (uint64_t at = 0; at < size; at += FRAME_SIZE) {
        free_frames[n_free++] = at;
    }

    int error = xsk_umem__create(&umem, memory, size, &ports[0].fill,
                                 &ports[0].completion, &config);
    if (error) {
        die("registering %zu bytes: %s", size, strerror(-error));
    }
    return umem;
}

/* Gives the kernel free frames to receive into, as many as the ring takes. */
static void
refill(struct port *port)
{
    uint32_t n = xsk_prod_nb_free(&port->fill, BATCH);
    uint32_t at = 0;

    n = n < n_free ? n : n_free;
    n = n < BATCH ? n : BATCH;
    xsk_ring_prod__reserve(&port->fill, n, &at);
    for (uint32_t i = 0; i < n; i++) {
        *xsk_ring_prod__fill_addr(&port->fill, at + i)
            = free_frames[--n_free];
    }
    xsk_ring_prod__submit(&port->fill, n);
}

/* Takes back the frames that have been sent. */
static void
complete(struct port *port)
{
    uint32_t at = 0;
    uint32_t n = xsk_ring_cons__peek(&port->completion, RING_SIZE, &at);

    for (uint32_t i = 0; i < n; i++) {
        free_frames[n_free++]
            = *xsk_ring_cons__comp_addr(&port->completion, at + i);
    }
    xsk_ring_cons__release(&port->completion, n);
    port->in_kernel -= n;
}

/* Tells the kernel that there are frames to send.  What one call leaves is
 * for the next. */
static void
kick(struct port *port)
{
    if (xsk_ring_prod__needs_wakeup(&port->tx)
        && sendto(xsk_socket__fd(port->socket), NULL, 0, MSG_DONTWAIT,
                  NULL, 0) < 0) {
        if (errno != EAGAIN && errno != EBUSY && errno != ENOBUFS) {
            die("sendto: %s", strerror(errno));
        }
        return;
    }
    port->kick = false;
}

/* Returns the address of a frame with the contents of the one at 'from', which
 * becomes free in its place. */
static uint64_t
copy_frame(uint64_t from, uint32_t size)
{
    uint64_t offset = from % FRAME_SIZE;
    uint64_t to = free_frames[--n_free] / FRAME_SIZE * FRAME_SIZE + offset;

    memcpy(memory + to, memory + from, size);
    free_frames[n_free++] = from;
    return to;
}

/* Sends up to BATCH frames that 'in' has received through its peer. */
static void
forward(struct port *in)
{
    struct port *out = in->peer;
    uint32_t from, to = 0;
    uint32_t n = xsk_ring_cons__peek(&in->rx, BATCH, &from);
    uint32_t room = n ? xsk_prod_nb_free(&out->tx, n) : 0;

    room = room < n ? room : n;
    if (copying && !n_free) {
        room = 0;               /* What is dropped makes some free. */
    }
    xsk_ring_prod__reserve(&out->tx, room, &to);
    for (uint32_t i = 0; i < n; i++) {
        struct xdp_desc desc = *xsk_ring_cons__rx_desc(&in->rx, from + i);

        if (i >= room) {
            free_frames[n_free++] = desc.addr;
            continue;
        }
        if (copying) {
            desc.addr = copy_frame(desc.addr, desc.len);
        }
        *xsk_ring_prod__tx_desc(&out->tx, to + i) = desc;
    }
    xsk_ring_cons__release(&in->rx, n);
    xsk_ring_prod__submit(&out->tx, room);
    out->in_kernel += room;
    out->kick |= room > 0;
    forwarded += room;
    dropped += n - room;
}

static void
run(void)
{
    while (!stopped) {
        for (struct port *port = ports; port < &ports[n_ports]; port++) {
            forward(port);
            if (port->peer->kick) {
                kick(port->peer);
            }
            if (port->peer->in_kernel) {
                complete(port->peer);
            }
            refill(port);
            if (xsk_ring_prod__needs_wakeup(&port->fill)) {
                recvfrom(xsk_socket__fd(port->socket), NULL, 0, MSG_DONTWAIT,
                         NULL, NULL);
            }
        }
    }
}

/* Opens the socket of 'port' on queue 0 of 'dev' and attaches the program,
 * whose link ends with the process. */
static void
open_port(struct port *port, const char *dev, struct xsk_umem *umem)
{
    const struct xsk_socket_config config = {
        .rx_size = RING_SIZE,
        .tx_size = RING_SIZE,
        .libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
        .bind_flags = XDP_USE_NEED_WAKEUP,
    };
    struct xsk_forward *skel = xsk_forward__open_and_load();
    uint32_t key = 0;

    if (!skel) {
        die("loading the program: %s", strerror(errno));
    }

    int error = xsk_socket__create_shared(&port->socket, dev, 0, umem,
                                          &port->rx, &port->tx, &port->fill,
                                          &port->completion, &config);
    if (error) {
        die("%s: socket: %s", dev, strerror(-error));
    }
    for (int i = 0; i < RING_SIZE / BATCH; i++) {
        refill(port);
    }

    int fd = xsk_socket__fd(port->socket);
    if (bpf_map_update_elem(bpf_map__fd(skel->maps.sockets), &key, &fd, 0)
        || !bpf_program__attach_xdp(skel->progs.to_socket,
                                    parse_device("DEV", dev))) {
        die("%s: attaching the program: %s", dev, strerror(errno));
    }
}

static void
parse_options(int argc, char *argv[])
{
    static const struct option long_options[] = {
        {"copy", no_argument, NULL, 'c'},
        {"cpu", required_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (option) {
        case 'c': copying = true; break;
        case 'p': pin_to_cpu(parse_number("cpu", optarg, 0, 1023)); break;
        case 'h': usage(); break;
        default: exit(1);
        }
    }
    n_ports = argc - optind;
    if (n_ports < 2 || n_ports % 2 || n_ports > MAX_PORTS) {
        die("%d devices: expected an even number from 2 to %d",
            n_ports, MAX_PORTS);
    }
}

int
main(int argc, char *argv[])
{
    parse_options(argc, argv);
    signal(SIGINT, stop);
    signal(SIGTERM, stop);

    struct xsk_umem *umem = create_umem();
    for (int i = 0; i < n_ports; i++) {
        ports[i].peer = &ports[i ^ 1];
        open_port(&ports[i], argv[optind + i], umem);
    }
    run();
    printf("{\"forwarded\": %"PRIu64", \"dropped\": %"PRIu64"}\n",
           forwarded, dropped);
    return 0;
}
