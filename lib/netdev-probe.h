/* SPDX-License-Identifier: Apache-2.0 */

#ifndef NETDEV_PROBE_H
#define NETDEV_PROBE_H 1

/* What a device can do. */

#include <stdint.h>

uint32_t netdev_probe_n_rx_queues(const char *ifname);

#endif /* netdev-probe.h */
