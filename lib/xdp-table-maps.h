/* SPDX-License-Identifier: Apache-2.0 */

#ifndef XDP_TABLE_MAPS_H
#define XDP_TABLE_MAPS_H 1

/* The maps of the prefix table that a program is loaded with: those that all
 * ports share, and those of its port.  Main thread. */

#include <stdbool.h>

struct afxdp_fast;

/* Those of a port, which stay the same over all loads of its program; -1 as
 * long as it has had no table. */
struct xdp_table_fds {
    int tables, hits, live;
};
#define XDP_TABLE_FDS_NONE \
    ((struct xdp_table_fds) { .tables = -1, .hits = -1, .live = -1 })

int xdp_table_maps_prepare(struct afxdp_fast *, bool table, bool frags,
                           const struct xdp_table_fds *own, char **errp);
void xdp_table_maps_keep(const struct afxdp_fast *, struct xdp_table_fds *);
void xdp_table_maps_close(struct xdp_table_fds *);

#endif /* xdp-table-maps.h */
