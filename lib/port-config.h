/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PORT_CONFIG_H
#define PORT_CONFIG_H 1

/* The options of an afxdp-fast port: parsing, defaults, limits. */

#include <stdbool.h>
#include <stdint.h>

struct smap;

/* The names of upstream's afxdp, and its order of preference. */
enum xdp_mode {
    XDP_MODE_BEST_EFFORT,       /* The first of the others that works. */
    XDP_MODE_NATIVE_ZEROCOPY,
    XDP_MODE_NATIVE,
    XDP_MODE_GENERIC,
    XDP_N_MODES
};

/* When the program writes hints.  In copy mode they cost more than they save:
 * one more cache line of each frame that the kernel copies from core to core
 * (Documentation/performance.md). */
enum hints_choice {
    HINTS_AUTO,                 /* In zero-copy mode. */
    HINTS_ON,
    HINTS_OFF,
    N_HINTS_CHOICES
};

/* Most entries of host-ports, XDP_HOST_MAX_PORTS of xdp-layout.h. */
#define PORT_MAX_HOST_PORTS 32

struct port_config {
    enum xdp_mode xdp_mode;
    uint32_t n_rxq;             /* 0: as many as the device has. */
    uint32_t n_rxq_desc;        /* Of each queue's rx and fill ring. */
    uint32_t n_txq_desc;        /* Of each queue's tx and completion ring. */
    uint32_t n_frames;          /* Reserved a queue. */
    enum hints_choice hints;
    bool busy_poll;             /* Where it can be: see busy-poll.h. */
    bool malformed_drop;        /* Drop malformed frames in the program. */
    uint32_t fast_path_share;   /* Percent of the flows. */
    bool host_pass;             /* Hand the host's own traffic to it. */
    uint32_t n_host_ports;      /* Of what follows, sorted, */
    uint32_t host_ports[PORT_MAX_HOST_PORTS];   /* XDP_HOST_PORT(). */
};

/* Ring sizes.  The smallest holds two bursts; the kernel allows more than the
 * largest, but seven queues with two such rings already fill a zone. */
#define PORT_MIN_DESC 64
#define PORT_MAX_DESC 4096

/* As many as OVS's afxdp has: they ride out a millisecond of a PMD that does
 * not run, at 2 Mpps. */
#define PORT_DEFAULT_RX_DESC 2048

/* In copy mode what is sent has left when the system call returns.  With the
 * rx ring it makes 2,560 frames, and the first zone has room for five. */
#define PORT_DEFAULT_TX_DESC 512

/* As many queues as Linux drivers have, bounded by what a typing error may
 * cost. */
#define PORT_MAX_RXQ 256

/* Half of the largest zone: whoever wants more frames a queue wants a larger
 * zone. */
#define PORT_MAX_FRAMES 32768

bool port_config_parse(const struct smap *options, struct port_config *,
                       char **errp);
bool port_config_same_host(const struct port_config *,
                           const struct port_config *);
void port_config_copy_host(struct port_config *, const struct port_config *);
bool port_config_equal(const struct port_config *,
                       const struct port_config *);
char *port_config_unknown_options(const struct smap *options);
const char *xdp_mode_to_string(enum xdp_mode);
const char *hints_choice_to_string(enum hints_choice);

#endif /* port-config.h */
