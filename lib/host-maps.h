/* SPDX-License-Identifier: Apache-2.0 */

#ifndef HOST_MAPS_H
#define HOST_MAPS_H 1

/* The maps of a port's host traffic, which its programs share one after the
 * other: bpf/host.h reads them.  Main thread. */

#include <stddef.h>
#include <stdint.h>

#include "xdp-layout.h"

struct afxdp_fast;

struct host_maps {
    int places, addresses, ports;       /* File descriptors. */
};

int host_maps_create(struct host_maps **, char **errp);
void host_maps_destroy(struct host_maps *);
int host_maps_prepare(struct afxdp_fast *, const struct host_maps *);

int host_maps_set_places(struct host_maps *, struct xdp_host_place *,
                         size_t n);
int host_maps_set_addresses(struct host_maps *, struct xdp_host_address *,
                            size_t n);
int host_maps_set_ports(struct host_maps *, uint32_t *, size_t n);

#endif /* host-maps.h */
