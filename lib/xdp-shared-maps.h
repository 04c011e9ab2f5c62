/* SPDX-License-Identifier: Apache-2.0 */

#ifndef XDP_SHARED_MAPS_H
#define XDP_SHARED_MAPS_H 1

/* The maps that the XDP programs of all ports share.  Main thread. */

#include <stdint.h>

#include "xdp-targets.h"

int xdp_shared_maps_create(struct xdp_shared_maps *, char **errp);
int xdp_shared_maps_mmap_targets(const struct xdp_shared_maps *,
                                 struct table_target **, char **errp);
void xdp_shared_maps_close(struct xdp_shared_maps *);
int xdp_shared_maps_get_id(int fd, uint32_t *id);

#endif /* xdp-shared-maps.h */
