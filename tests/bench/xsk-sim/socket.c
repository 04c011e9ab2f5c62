/* SPDX-License-Identifier: Apache-2.0 */

#include "socket.h"

#include <errno.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "nic.h"
#include "real.h"

struct sim_socket *sim_sockets[SIM_MAX_SOCKETS];
uint32_t sim_n_sockets;
struct sim_socket *sim_by_fd[SIM_MAX_FD];

/* Serialises all that makes, binds, enters and closes sockets. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct region *regions[SIM_MAX_SOCKETS];

/* Keeps the sockets from coming and going, until sim_unlock(). */
void
sim_lock(void)
{
    pthread_mutex_lock(&mutex);
}

void
sim_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

/* Returns true if 'ifname' is among the patterns of XSK_SIM_DEVICES, which
 * commas separate; all devices are if that is not set. */
bool
sim_is_simulated(const char *ifname)
{
    const char *list = getenv("XSK_SIM_DEVICES");
    char *copy, *save = NULL, *pattern;
    bool found = !list;

    copy = strdup(list ? list : "");
    for (pattern = strtok_r(copy, ",", &save); pattern && !found;
         pattern = strtok_r(NULL, ",", &save)) {
        found = !fnmatch(pattern, ifname, 0);
    }
    free(copy);
    return found;
}

/* Notes that 'fd' is an AF_XDP socket. */
void
sim_socket_made(int fd)
{
    struct sim_socket *s;

    if (fd >= SIM_MAX_FD) {
        return;
    }
    s = calloc(1, sizeof *s);
    s->fd = fd;
    __atomic_store_n(&sim_by_fd[fd], s, __ATOMIC_RELEASE);
}

/* Notes an option that the kernel has accepted. */
void
sim_socket_option(struct sim_socket *s, int option, const void *value,
                  socklen_t len)
{
    switch (option) {
    case XDP_UMEM_REG:
        memcpy(&s->umem, value, len < sizeof s->umem ? len : sizeof s->umem);
        break;
    case XDP_RX_RING:
        s->rings[RING_RX].size = *(const uint32_t *) value;
        break;
    case XDP_TX_RING:
        s->rings[RING_TX].size = *(const uint32_t *) value;
        break;
    case XDP_UMEM_FILL_RING:
        s->rings[RING_FILL].size = *(const uint32_t *) value;
        break;
    case XDP_UMEM_COMPLETION_RING:
        s->rings[RING_COMPLETION].size = *(const uint32_t *) value;
        break;
    }
}

/* Binding. */

static int
map_ring(int fd, struct ring *ring, off_t pgoff, size_t entry_size,
         const struct xdp_ring_offset *off)
{
    uint8_t *map;

    ring->map_size = off->desc + ring->size * entry_size;
    map = mmap(NULL, ring->map_size, PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_POPULATE, fd, pgoff);
    if (map == MAP_FAILED) {
        return errno;
    }
    ring->map = map;
    ring->producer = (uint32_t *) (map + off->producer);
    ring->consumer = (uint32_t *) (map + off->consumer);
    ring->flags = (uint32_t *) (map + off->flags);
    ring->entries = map + off->desc;
    return 0;
}

static void
unmap_rings(struct sim_socket *s)
{
    for (int i = 0; i < N_RINGS; i++) {
        if (s->rings[i].map) {
            munmap(s->rings[i].map, s->rings[i].map_size);
            s->rings[i].map = NULL;
        }
    }
}

/* Makes the NIC's own mappings of the rings, so that the program may unmap its
 * own whenever it likes. */
static int
map_rings(struct sim_socket *s)
{
    struct xdp_mmap_offsets off;
    socklen_t len = sizeof off;
    int error;

    if (real.getsockopt(s->fd, SOL_XDP, XDP_MMAP_OFFSETS, &off, &len)) {
        return errno;
    }
    error = map_ring(s->fd, &s->rings[RING_FILL], XDP_UMEM_PGOFF_FILL_RING,
                     sizeof(uint64_t), &off.fr);
    if (!error) {
        error = map_ring(s->fd, &s->rings[RING_COMPLETION],
                         XDP_UMEM_PGOFF_COMPLETION_RING, sizeof(uint64_t),
                         &off.cr);
    }
    if (!error && s->rings[RING_RX].size) {
        error = map_ring(s->fd, &s->rings[RING_RX], XDP_PGOFF_RX_RING,
                         sizeof(struct xdp_desc), &off.rx);
    }
    if (!error && s->rings[RING_TX].size) {
        error = map_ring(s->fd, &s->rings[RING_TX], XDP_PGOFF_TX_RING,
                         sizeof(struct xdp_desc), &off.tx);
    }
    if (error) {
        unmap_rings(s);
    }
    return error;
}

/* Finds the memory of the UMEM of 's' among what is known, or adds it.
 * Memory that is registered twice has to be the same as a whole, or nobody
 * could tell where its chunks begin. */
static void
join_region(struct sim_socket *s)
{
    uint8_t *base = (uint8_t *) (uintptr_t) s->umem.addr;
    struct region *r, **free_slot = NULL;
    size_t n;

    for (int i = 0; i < SIM_MAX_SOCKETS; i++) {
        r = regions[i];
        if (!r) {
            free_slot = free_slot ? free_slot : &regions[i];
        } else if (r->base == base && r->len == s->umem.len
                   && 1u << r->chunk_shift == s->umem.chunk_size) {
            r->n_users++;
            s->region = r;
            return;
        } else if (base < r->base + r->len && r->base < base + s->umem.len) {
            nic_broken(s, "its UMEM overlaps another one that is not the "
                       "same");
        }
    }
    n = s->umem.len / s->umem.chunk_size;
    r = calloc(1, sizeof *r);
    r->base = base;
    r->len = s->umem.len;
    r->chunk_shift = __builtin_ctz(s->umem.chunk_size);
    r->n_users = 1;
    r->owners = calloc(n, sizeof *r->owners);
    r->sockets = calloc(n, sizeof *r->sockets);
    r->probes = calloc(n, sizeof *r->probes);
    s->region = *free_slot = r;
}

static void
leave_region(struct sim_socket *s)
{
    struct region *r = s->region;

    s->region = NULL;
    if (--r->n_users) {
        return;
    }
    for (int i = 0; i < SIM_MAX_SOCKETS; i++) {
        if (regions[i] == r) {
            regions[i] = NULL;
        }
    }
    free(r->owners);
    free(r->sockets);
    free(r->probes);
    free(r);
}

/* Looks for what the kernel would refuse, and for what is not simulated. */
static int
check_bind(const struct sim_socket *s, const struct sockaddr_xdp *address)
{
    if (s->bound || !s->umem.len || !s->rings[RING_FILL].size
        || !s->rings[RING_COMPLETION].size
        || (!s->rings[RING_RX].size && !s->rings[RING_TX].size)) {
        return EINVAL;
    }
    if (address->sxdp_flags & XDP_SHARED_UMEM
        || s->umem.flags & XDP_UMEM_UNALIGNED_CHUNK_FLAG) {
        nic_log("binding with a shared UMEM or unaligned chunks is not "
                "simulated");
        return EOPNOTSUPP;
    }
    for (uint32_t i = 0; i < SIM_MAX_SOCKETS; i++) {
        const struct sim_socket *other = sim_sockets[i];

        if (other && other->ifindex == address->sxdp_ifindex
            && other->queue == address->sxdp_queue_id) {
            return EBUSY;
        }
    }
    return 0;
}

static uint32_t
free_id(void)
{
    for (uint32_t i = 0; i < SIM_MAX_SOCKETS; i++) {
        if (!sim_sockets[i]) {
            return i;
        }
    }
    return SIM_MAX_SOCKETS;
}

/* Makes 's', whose rings are mapped, one that the NIC serves. */
static void
go_live(struct sim_socket *s, const struct sockaddr_xdp *address)
{
    s->bind_flags = address->sxdp_flags;
    s->ifindex = address->sxdp_ifindex;
    s->queue = address->sxdp_queue_id;
    if_indextoname(s->ifindex, s->ifname);
    s->sent = calloc(s->rings[RING_COMPLETION].size, sizeof *s->sent);
    s->delivered = calloc(s->rings[RING_RX].size + 1, sizeof *s->delivered);
    nic_pause();
    join_region(s);
    stream_init(&s->stream, s->id);
    s->wakeup_now = UINT32_MAX; /* The kernel has set the tx ring's flag. */
    sim_sockets[s->id] = s;
    if (s->id >= sim_n_sockets) {
        sim_n_sockets = s->id + 1;
    }
    s->bound = true;
    nic_resume();
    nic_log("%s queue %u is bound%s", s->ifname, s->queue,
            s->bind_flags & XDP_COPY ? " (in copy mode)" : "");
}

/* Binds 's' to the simulation of a device.  Returns 0 or a positive errno, as
 * the kernel would. */
int
sim_socket_bind(struct sim_socket *s, const struct sockaddr_xdp *address)
{
    int error;

    pthread_mutex_lock(&mutex);
    s->id = free_id();
    error = s->id < SIM_MAX_SOCKETS ? check_bind(s, address) : ENOSPC;
    if (!error) {
        error = map_rings(s);
    }
    if (!error) {
        nic_start();
        go_live(s, address);
    }
    pthread_mutex_unlock(&mutex);
    return error;
}

/* Forgets 's'.  The NIC does not touch its rings or frames any more. */
void
sim_socket_close(struct sim_socket *s)
{
    pthread_mutex_lock(&mutex);
    __atomic_store_n(&sim_by_fd[s->fd], NULL, __ATOMIC_RELEASE);
    if (s->bound) {
        nic_pause();
        nic_release_frames(s);
        sim_sockets[s->id] = NULL;
        stream_forget(s->id);
        leave_region(s);
        nic_resume();
        nic_log("%s queue %u is closed: received %lu, sent %lu frames",
                s->ifname, s->queue, s->n.rx_frames, s->n.tx_frames);
    }
    unmap_rings(s);
    free(s->sent);
    free(s->delivered);
    free(s);
    pthread_mutex_unlock(&mutex);
}

/* The program's map. */

/* Enters the socket 'fd' into slot 'key' of a map, from where on it gets
 * frames.  Returns false if it is not a simulated one. */
bool
sim_map_update(uint32_t map_id, uint32_t key, int fd)
{
    struct sim_socket *s = sim_from_fd(fd);

    if (!s || !s->bound) {
        return false;
    }
    if (key == s->queue) {
        __atomic_store_n(&s->map_id, map_id, __ATOMIC_RELEASE);
    } else {
        nic_log("%s queue %u is in slot %u of its map: it gets nothing",
                s->ifname, s->queue, key);
    }
    return true;
}

/* Takes what is in slot 'key' of a map out of it. */
void
sim_map_delete(uint32_t map_id, uint32_t key)
{
    pthread_mutex_lock(&mutex);
    for (uint32_t i = 0; i < sim_n_sockets; i++) {
        struct sim_socket *s = sim_sockets[i];

        if (s && s->map_id == map_id && s->queue == key) {
            nic_pause();
            s->map_id = 0;
            nic_resume();
        }
    }
    pthread_mutex_unlock(&mutex);
}
