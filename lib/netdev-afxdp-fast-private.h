/* SPDX-License-Identifier: Apache-2.0 */

#ifndef NETDEV_AFXDP_FAST_PRIVATE_H
#define NETDEV_AFXDP_FAST_PRIVATE_H 1

/* What the parts of the netdev class share:
 *     netdev-afxdp-fast.c         options, reconfiguration, packets
 *     netdev-afxdp-fast-status.c  status and statistics
 *     netdev-afxdp-fast-table.c   the prefix table and the program
 *     netdev-afxdp-fast-host.c    the host's own traffic
 *     netdev-afxdp-fast-life.c    devices and programs that come and go
 *     netdev-afxdp-fast-queues.c  devices that get more queues, or fewer
 *     netdev-afxdp-fast-show.c    commands of the control socket: of ports,
 *     netdev-afxdp-fast-doctor.c  what is wrong with them,
 *     netdev-afxdp-fast-appctl.c  and others */

#include "appctl-command.h"
#include "openvswitch/list.h"
#include "ovs-compat.h"
#include "packets.h"
#include "port-config.h"
#include "port-retry.h"
#include "xdp-layout.h"
#include "xsk.h"

struct ds;
struct host_maps;
struct netdev_custom_stats;
struct netdev_stats;
struct prefix_table;
struct smap;
struct xdp_port;

/* The longest payload of a frame with an Ethernet header and two VLAN tags
 * that fits into one of our frames, in bytes. */
#define PORT_MAX_MTU \
    ((int) (FRAME_MAX_LEN - ETH_HEADER_LEN - 2 * VLAN_HEADER_LEN))

struct netdev_afxdp_fast {
    struct netdev_linux lin;            /* First. */
    struct ovs_list node;               /* In the list of all ports. */

    /* Written by the main thread under 'mutex', so that it reads without and
     * others with.  Packets move without a lock: they do not while the main
     * thread changes 'port'. */
    struct ovs_mutex mutex;
    struct xdp_port *port;              /* NULL before the first options. */
    struct prefix_table *prefixes;      /* Never NULL; main thread only. */
    long long int next_look;            /* At the program, in ms. */
    struct port_config requested;       /* Last options that parsed. */
    bool config_pending;                /* 'requested' waits for its turn. */
    bool config_refused;                /* For a reason that may pass. */
    char *config_error;                 /* Of the last options, or NULL. */
    char *port_error;                   /* Of device or program, or NULL. */
    char *host_addresses;               /* Whose frames go to the host, */
    char *host_warning;                 /* and what is wrong there: or NULL. */
    int requested_n_txq;
    atomic_uint64_t tx_no_queue;        /* Frames dropped while 'port' had no
                                         * queues.  Any thread adds. */

    /* Main thread only; see netdev-afxdp-fast-life.c. */
    bool device_pending;                /* A reconfiguration is to bring the
                                         * port back onto its device. */
    int tried_ifindex;                  /* The last one that failed, or 0. */
    long long int next_device_look;     /* In ms. */
    long long int next_program_look;    /* Likewise. */
    struct retry device_retry;
    struct retry config_retry;
    uint32_t tried_queues;              /* Number of the device's that the port
                                         * has been asked to follow, or 0. */

    /* Main thread only; see netdev-afxdp-fast-host.c. */
    struct host_maps *host_maps;        /* NULL before host-traffic=pass. */
    uint64_t host_seq;                  /* Addresses that are in them. */
};

struct netdev_afxdp_fast *netdev_afxdp_fast_cast(const struct netdev *);
struct netdev_afxdp_fast *netdev_afxdp_fast_next(
    const struct netdev_afxdp_fast *);

int netdev_afxdp_fast_get_config(const struct netdev *, struct smap *);
int netdev_afxdp_fast_get_status(const struct netdev *, struct smap *);
int netdev_afxdp_fast_get_stats(const struct netdev *, struct netdev_stats *);
int netdev_afxdp_fast_get_custom_stats(const struct netdev *,
                                       struct netdev_custom_stats *);
void netdev_afxdp_fast_appctl_init(void);

void netdev_afxdp_fast_connect_table(struct netdev_afxdp_fast *);
char *netdev_afxdp_fast_change_program(struct netdev_afxdp_fast *,
                                       const struct port_config *);
void netdev_afxdp_fast_run_tables(void);

int netdev_afxdp_fast_open_host(struct netdev_afxdp_fast *, int ifindex,
                                const struct port_config *, char **errp);
bool netdev_afxdp_fast_check_host(const struct netdev_afxdp_fast *,
                                  const struct port_config *, char **errp);
char *netdev_afxdp_fast_set_host(struct netdev_afxdp_fast *, int ifindex,
                                 const struct port_config *);
void netdev_afxdp_fast_run_host(void);
void netdev_afxdp_fast_get_host_status(const struct netdev_afxdp_fast *,
                                       struct smap *);

void netdev_afxdp_fast_set_config_error(struct netdev_afxdp_fast *, char *);
void netdev_afxdp_fast_look(struct netdev_afxdp_fast *);
void netdev_afxdp_fast_look_at_tx(struct netdev_afxdp_fast *);
void netdev_afxdp_fast_bring_back(struct netdev_afxdp_fast *);
void netdev_afxdp_fast_run_devices(void);
void netdev_afxdp_fast_look_at_queues(struct netdev_afxdp_fast *);
void netdev_afxdp_fast_add_queues(const struct xdp_port *, struct smap *);
int netdev_afxdp_fast_update_flags(struct netdev *, enum netdev_flags off,
                                   enum netdev_flags on,
                                   enum netdev_flags *old_flags);

appctl_command_func netdev_afxdp_fast_show;
appctl_command_func netdev_afxdp_fast_stats;
appctl_command_func netdev_afxdp_fast_doctor;
void netdev_afxdp_fast_note_refusal(const char *name, const char *error);
void netdev_afxdp_fast_get_settled_usage(struct frame_zone *,
                                         struct frame_usage *);

#endif /* netdev-afxdp-fast-private.h */
