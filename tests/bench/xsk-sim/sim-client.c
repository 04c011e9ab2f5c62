/* SPDX-License-Identifier: Apache-2.0 */

/* The smallest user of AF_XDP sockets, to be run on the ring simulator: to
 * find out what the simulator can do, and to see that it notices broken
 * users. */

#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char usage[] =
"usage: sim-client MODE DEV [DEV2]\n"
"\n"
"Opens queue 0 of the devices and goes on until it is killed.  Modes:\n"
"  drop              receive at DEV and drop\n"
"  forward           receive at DEV, send at DEV2 and the other way round;\n"
"                    both have one UMEM\n"
"  spoil             the same, and change a byte of each frame\n"
"or what no user may do, by way of DEV:\n"
"  bad-tx-range      send from behind the end of the UMEM\n"
"  bad-tx-crossing   send what reaches into the next chunk\n"
"  bad-tx-twice      send one frame twice\n"
"  bad-tx-short      send less than an Ethernet header\n"
"  bad-tx-fill       send a frame that is in the fill ring\n"
"  bad-fill-range    fill with an address behind the end of the UMEM\n"
"  bad-fill-twice    fill with one frame twice\n"
"  bad-fill-other    fill with a frame that is in the other socket's ring\n"
"  bad-tx-producer   tell of more entries than the ring has\n";

#define CHUNK 4096u
#define N_CHUNKS 16384u
#define RING 2048u
#define BATCH 32u

struct ring {
    uint32_t *producer, *consumer, *flags;
    void *entries;
    uint32_t index;
};

struct port {
    int fd;
    struct ring rx, tx, fill, completion;
    uint32_t n_rx;              /* Frames in the fill and rx rings. */
};

static uint8_t *umem;
static bool spoil;
static uint32_t free_chunks[N_CHUNKS], n_free;

static void
fail(const char *what)
{
    fprintf(stderr, "sim-client: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void
map_ring(int fd, struct ring *ring, uint64_t pgoff, size_t entry_size,
         const struct xdp_ring_offset *off)
{
    uint8_t *map = mmap(NULL, off->desc + RING * entry_size,
                        PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd,
                        pgoff);

    if (map == MAP_FAILED) {
        fail("mapping a ring");
    }
    ring->producer = (uint32_t *) (map + off->producer);
    ring->consumer = (uint32_t *) (map + off->consumer);
    ring->flags = (uint32_t *) (map + off->flags);
    ring->entries = map + off->desc;
}

/* Enters the socket into a map, as a loader of XDP programs would. */
static void
enter(const struct port *port)
{
    union bpf_attr attr = {
        .map_type = BPF_MAP_TYPE_XSKMAP,
        .key_size = 4, .value_size = 4, .max_entries = 1,
    };
    int map = syscall(__NR_bpf, BPF_MAP_CREATE, &attr, sizeof attr);
    uint32_t key = 0;

    if (map < 0) {
        fail("making a socket map");
    }
    memset(&attr, 0, sizeof attr);
    attr.map_fd = map;
    attr.key = (uintptr_t) &key;
    attr.value = (uintptr_t) &port->fd;
    if (syscall(__NR_bpf, BPF_MAP_UPDATE_ELEM, &attr, sizeof attr)) {
        fail("entering the socket");
    }
}

static void
open_port(struct port *port, const char *dev)
{
    const struct xdp_umem_reg reg = {
        .addr = (uintptr_t) umem,
        .len = N_CHUNKS * CHUNK,
        .chunk_size = CHUNK,
        .headroom = 128,
    };
    struct sockaddr_xdp address = {
        .sxdp_family = AF_XDP,
        .sxdp_ifindex = if_nametoindex(dev),
        .sxdp_flags = XDP_USE_NEED_WAKEUP,
    };
    static const int options[] = {
        XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING, XDP_TX_RING
    };
    struct xdp_mmap_offsets off;
    socklen_t len = sizeof off;
    uint32_t size = RING;

    memset(port, 0, sizeof *port);
    port->fd = socket(AF_XDP, SOCK_RAW, 0);
    if (setsockopt(port->fd, SOL_XDP, XDP_UMEM_REG, &reg, sizeof reg)) {
        fail("registering the UMEM");
    }
    for (int i = 0; i < 4; i++) {
        if (setsockopt(port->fd, SOL_XDP, options[i], &size, sizeof size)) {
            fail("setting the size of a ring");
        }
    }
    if (getsockopt(port->fd, SOL_XDP, XDP_MMAP_OFFSETS, &off, &len)) {
        fail("asking for the rings");
    }
    map_ring(port->fd, &port->rx, XDP_PGOFF_RX_RING, 16, &off.rx);
    map_ring(port->fd, &port->tx, XDP_PGOFF_TX_RING, 16, &off.tx);
    map_ring(port->fd, &port->fill, XDP_UMEM_PGOFF_FILL_RING, 8, &off.fr);
    map_ring(port->fd, &port->completion, XDP_UMEM_PGOFF_COMPLETION_RING, 8,
             &off.cr);
    if (bind(port->fd, (struct sockaddr *) &address, sizeof address)) {
        fail(dev);
    }
    enter(port);
}

static uint32_t
n_in(const uint32_t *theirs, uint32_t ours)
{
    return __atomic_load_n(theirs, __ATOMIC_ACQUIRE) - ours;
}

static void
publish(uint32_t *index, uint32_t value)
{
    __atomic_store_n(index, value, __ATOMIC_RELEASE);
}

static void
put_fill(struct port *port, uint64_t addr)
{
    ((uint64_t *) port->fill.entries)[port->fill.index++ % RING] = addr;
    publish(port->fill.producer, port->fill.index);
}

static void
put_tx(struct port *port, uint64_t addr, uint32_t len)
{
    ((struct xdp_desc *) port->tx.entries)[port->tx.index++ % RING]
        = (struct xdp_desc) { .addr = addr, .len = len };
}

/* Fills up so that the rings can never overflow. */
static void
refill(struct port *port)
{
    uint64_t *addrs = port->fill.entries;

    for (; port->n_rx < RING && n_free; port->n_rx++) {
        addrs[port->fill.index++ % RING]
            = (uint64_t) free_chunks[--n_free] * CHUNK;
    }
    publish(port->fill.producer, port->fill.index);
}

static void
reap(struct port *port)
{
    uint64_t *addrs = port->completion.entries;
    uint32_t n = n_in(port->completion.producer, port->completion.index);

    for (uint32_t i = 0; i < n; i++) {
        free_chunks[n_free++]
            = addrs[port->completion.index++ % RING] / CHUNK;
    }
    publish(port->completion.consumer, port->completion.index);
}

/* Moves a batch that has arrived at 'from' to 'to', or drops it. */
static void
move_batch(struct port *from, struct port *to)
{
    const struct xdp_desc *descs = from->rx.entries;
    uint32_t n = n_in(from->rx.producer, from->rx.index);

    n = n < BATCH ? n : BATCH;
    if (to && RING - (to->tx.index - *to->completion.consumer) < n) {
        n = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct xdp_desc *desc = &descs[from->rx.index++ % RING];

        if (spoil) {
            umem[desc->addr + desc->len - 1] ^= 1;
        }
        if (to) {
            put_tx(to, desc->addr, desc->len);
        } else {
            free_chunks[n_free++] = desc->addr / CHUNK;
        }
    }
    publish(from->rx.consumer, from->rx.index);
    from->n_rx -= n;
    if (to) {
        publish(to->tx.producer, to->tx.index);
        reap(to);
    }
    if (n) {
        refill(from);
    }
}

static void
run(struct port *a, struct port *b)
{
    refill(a);
    if (b) {
        refill(b);
    }
    for (;;) {
        move_batch(a, b);
        if (b) {
            move_batch(b, a);
        }
    }
}

/* Does what is not allowed. */
static bool
misbehave(const char *mode, struct port *a, struct port *b)
{
    uint64_t end = (uint64_t) N_CHUNKS * CHUNK;

    if (!strcmp(mode, "bad-tx-range")) {
        put_tx(a, end, 64);
    } else if (!strcmp(mode, "bad-tx-crossing")) {
        put_tx(a, CHUNK - 32, 64);
    } else if (!strcmp(mode, "bad-tx-twice")) {
        put_tx(a, CHUNK, 64);
        put_tx(a, CHUNK, 64);
    } else if (!strcmp(mode, "bad-tx-short")) {
        put_tx(a, CHUNK, 13);
    } else if (!strcmp(mode, "bad-tx-fill")) {
        put_fill(a, CHUNK);
        usleep(100000);
        put_tx(a, CHUNK + 384, 64);
    } else if (!strcmp(mode, "bad-fill-range")) {
        put_fill(a, end);
    } else if (!strcmp(mode, "bad-fill-twice")) {
        put_fill(a, CHUNK);
        put_fill(a, CHUNK);
    } else if (!strcmp(mode, "bad-fill-other") && b) {
        put_fill(a, CHUNK);
        put_fill(b, CHUNK);
    } else if (!strcmp(mode, "bad-tx-producer")) {
        a->tx.index += RING + 1;
    } else {
        return false;
    }
    publish(a->tx.producer, a->tx.index);
    return true;
}

static void
pin_to_cpu(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

int
main(int argc, char *argv[])
{
    struct port a, b, *other = argc > 3 ? &b : NULL;

    if (argc < 3 || argc > 4) {
        fputs(usage, stderr);
        return 2;
    }
    pin_to_cpu(1);
    umem = mmap(NULL, N_CHUNKS * CHUNK, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (umem == MAP_FAILED) {
        fail("allocating the UMEM");
    }
    while (n_free < N_CHUNKS) {
        free_chunks[n_free] = n_free;
        n_free++;
    }
    open_port(&a, argv[2]);
    if (other) {
        open_port(other, argv[3]);
    }
    spoil = !strcmp(argv[1], "spoil");
    if (!strcmp(argv[1], "drop")) {
        run(&a, NULL);
    } else if (other && (spoil || !strcmp(argv[1], "forward"))) {
        run(&a, other);
    } else if (misbehave(argv[1], &a, other)) {
        pause();
    }
    fputs(usage, stderr);
    return 2;
}
