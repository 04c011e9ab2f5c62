/* SPDX-License-Identifier: Apache-2.0 */

#ifndef NETDEV_PROBE_H
#define NETDEV_PROBE_H 1

/* What a device can do. */

#include <stdbool.h>
#include <stdint.h>

/* Bits of a device's xdp-features: enum netdev_xdp_act of linux/netdev.h
 * (Linux 6.3), which Debian 12's headers lack. */
enum {
    NETDEV_XDP_BASIC = 1 << 0,          /* Native mode. */
    NETDEV_XDP_NDO_XMIT = 1 << 2,       /* Takes redirected frames, */
    NETDEV_XDP_XSK_ZEROCOPY = 1 << 3,
    NETDEV_XDP_NDO_XMIT_SG = 1 << 6,    /* also those with frags. */
};

bool netdev_probe_is_ethernet(const char *ifname);
bool netdev_probe_xdp_features(int ifindex, uint64_t *features);
uint32_t netdev_probe_n_rx_queues(const char *ifname);
uint32_t netdev_probe_n_tx_queues(const char *ifname);
bool netdev_probe_leaves_checksums(const char *ifname);

#endif /* netdev-probe.h */
