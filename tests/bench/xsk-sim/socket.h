/* SPDX-License-Identifier: Apache-2.0 */

#ifndef SOCKET_H
#define SOCKET_H 1

/* The AF_XDP sockets of the process under simulation.
 *
 * Each is a real AF_XDP socket whose UMEM and rings the kernel has made.  Only
 * its binding to a device is simulated: the kernel never touches the rings of
 * a socket that is not bound, so the simulated NIC plays its part there,
 * through mappings of its own. */

#include <linux/if_xdp.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "traffic.h"

/* Sockets that there can be at a time, and the highest of their fds. */
#define SIM_MAX_SOCKETS 64
#define SIM_MAX_FD 65536

/* Frames that the NIC may keep to receive into, at most; a power of two. */
#define SIM_MAX_DEPTH 4096

/* Who has a frame.  APP: the program, as far as one can see from here. */
enum owner {
    OWNER_APP,
    OWNER_FILL,                 /* The NIC, to receive into. */
    OWNER_RX,                   /* Rx ring, not taken yet. */
    OWNER_TX,                   /* The NIC, to send and complete. */
};

/* Memory of frames.  Several UMEMs may be the same memory: a frame is known by
 * its address, whatever socket it comes through. */
struct region {
    uint8_t *base;
    uint64_t len;
    uint32_t chunk_shift;
    int n_users;
    uint8_t *owners;            /* enum owner, a chunk. */
    uint8_t *sockets;           /* Which socket has it, unless APP. */
    uint64_t *probes;           /* The last frame to be verified that was
                                 * delivered into a chunk, see probe_id(). */
};

enum ring_id { RING_RX, RING_TX, RING_FILL, RING_COMPLETION, N_RINGS };

struct ring {
    uint32_t *producer, *consumer, *flags;
    void *entries;
    uint32_t size;              /* 0: not asked for. */
    uint32_t index;             /* The NIC's own. */
    void *map;
    size_t map_size;
};

/* What goes wrong on purpose.  Written by the control thread. */
struct faults {
    uint32_t completion_delay;  /* Frames that are always held back. */
    uint32_t completion_reverse;        /* The last sent completes first. */
    uint32_t starve;            /* Take all of the fill ring, deliver none. */
    uint32_t wakeup;            /* 1: tx asks to be woken, 2: fill too. */
    uint32_t kick_budget;       /* Frames a sendto lets go, 0: all. */
    uint32_t eagain;            /* Each so manyth sendto does nothing. */
    uint32_t enxio;             /* The device is gone. */
    uint32_t napi;              /* Id of queue 0's NAPI, which the kernel is
                                 * said to know, and the next ones those of
                                 * the other queues; 0: it knows none. */
};

/* Names of the above, in order. */
#define SIM_FAULTS(X)                                                   \
    X(completion_delay) X(completion_reverse) X(starve) X(wakeup)       \
    X(kick_budget) X(eagain) X(enxio) X(napi)

#define SIM_COUNTERS(X)                                                 \
    X(rx_frames) X(rx_bytes) X(rx_no_fill) X(rx_ring_full)              \
    X(rx_rounds) X(rx_rounds_blocked)                                   \
    X(tx_frames) X(tx_bytes) X(tx_in_place) X(completed)                \
    X(tx_calls) X(rx_calls) X(calls_eagain) X(calls_enxio)

struct sim_counters {
#define SIM_COUNTER(NAME) uint64_t NAME;
    SIM_COUNTERS(SIM_COUNTER)
#undef SIM_COUNTER
};

struct sim_socket {
    int fd;
    struct xdp_umem_reg umem;
    struct ring rings[N_RINGS];

    /* Set when it is bound. */
    bool bound;
    uint32_t id;                /* Index in 'sim_sockets'. */
    uint16_t bind_flags;
    uint32_t ifindex, queue;
    char ifname[IFNAMSIZ];
    struct region *region;
    uint32_t map_id;            /* XSKMAP that it is in, 0: in none. */
    bool running;               /* Frames are to arrive. */

    /* The NIC's. */
    uint64_t hw[SIM_MAX_DEPTH]; /* Addresses to receive into. */
    uint32_t hw_head, hw_tail;
    uint64_t *sent;             /* Addresses to complete, a ring as large as
                                 * the completion ring. */
    uint32_t sent_head, sent_tail;
    uint32_t *delivered;        /* Chunk of each entry of the rx ring. */
    uint32_t rx_seen;           /* Consumer of the rx ring, when last seen. */
    uint64_t next_ns;           /* When the next burst is due. */
    struct stream stream;
    struct verdict verdict;
    uint64_t cookie;            /* Of the hints of its port's program. */

    struct faults faults;
    uint32_t wakeup_now;        /* 'faults.wakeup' as shown in the rings. */
    bool look_again;            /* It has just been shown. */
    uint32_t tx_allowed, fill_allowed;  /* Indexes up to which the program has
                                         * woken the NIC. */
    struct sim_counters n;
};

/* Those that are bound, and how many slots are in use.  Changed while the NIC
 * is paused. */
extern struct sim_socket *sim_sockets[SIM_MAX_SOCKETS];
extern uint32_t sim_n_sockets;
extern struct sim_socket *sim_by_fd[SIM_MAX_FD];

static inline struct sim_socket *
sim_from_fd(int fd)
{
    return ((unsigned int) fd < SIM_MAX_FD
            ? __atomic_load_n(&sim_by_fd[fd], __ATOMIC_ACQUIRE) : NULL);
}

void sim_lock(void);
void sim_unlock(void);
bool sim_is_simulated(const char *ifname);
void sim_socket_made(int fd);
void sim_socket_option(struct sim_socket *, int option, const void *value,
                       socklen_t len);
int sim_socket_bind(struct sim_socket *, const struct sockaddr_xdp *);
void sim_socket_close(struct sim_socket *);
bool sim_map_update(uint32_t map_id, uint32_t key, int fd);
void sim_map_delete(uint32_t map_id, uint32_t key);

#endif /* socket.h */
