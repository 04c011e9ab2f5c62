/* SPDX-License-Identifier: Apache-2.0 */

#ifndef XDP_PORT_H
#define XDP_PORT_H 1

/* A device with our XDP program on it and a socket on each of its queues: the
 * choice of the mode, and the order in which things come and go.
 *
 * Thread rule: main thread, while nobody receives or sends on the port, where
 * not said otherwise. */

#include <stdbool.h>
#include <stdint.h>

#include "port-config.h"
#include "xdp-layout.h"
#include "xsk.h"

struct host_maps;
struct xdp_program;

struct xdp_port {
    char *ifname;
    int ifindex;
    int numa_node;

    struct port_config config;  /* In force. */
    enum xdp_mode mode;         /* Never XDP_MODE_BEST_EFFORT. */
    enum xsk_copy_mode copy_mode;       /* Of all queues. */
    char *fallback_reason;      /* Why no better mode, or NULL. */

    uint64_t n_shielded;        /* Frames dropped between two modes. */
    bool table;                 /* Has the program a prefix table? */
    const struct host_maps *host;       /* For host-traffic=pass, or NULL. */
    struct xdp_program *program;
    struct xsk **queues;
    uint32_t n_queues;
    uint32_t n_device_queues;   /* Receive queues of the device at the last
                                 * xdp_port_look_at_queues(). */
    atomic_uint32_t n_tx_queues;        /* Of the device at the last look, 0
                                         * if not known.  Any thread reads. */
};

int xdp_port_open(const char *ifname, int ifindex, int numa_node,
                  const struct port_config *, bool table,
                  const struct host_maps *, struct xdp_port **, char **errp);
bool xdp_port_check(const struct xdp_port *, const struct port_config *,
                    char **errp);
int xdp_port_set_program(struct xdp_port *, const struct port_config *,
                         bool table, char **errp);
bool xdp_port_program_fits(const struct xdp_port *);
bool xdp_port_hides_tags(const struct xdp_port *);
bool xdp_port_read_counters(const struct xdp_port *,
                            uint64_t counters[XDP_N_COUNTERS]);
void xdp_port_set_busy_poll(struct xdp_port *, bool busy_poll);
bool xdp_port_update_busy_poll(struct xdp_port *);
int xdp_port_reconfigure(struct xdp_port *, const struct port_config *,
                         char **errp);
bool xdp_port_look_at_queues(struct xdp_port *);
int xdp_port_cover_queues(struct xdp_port *, char **errp);
bool xdp_port_queues_fit(const struct xdp_port *);
void xdp_port_look_at_tx(struct xdp_port *, uint32_t mtu);
struct xsk *xdp_port_tx_socket(const struct xdp_port *, uint32_t id);
int xdp_port_reattach(struct xdp_port *, char **errp);
void xdp_port_release(struct xdp_port *);
int xdp_port_restore(struct xdp_port *, char **errp);
void xdp_port_close(struct xdp_port *);

#endif /* xdp-port.h */
