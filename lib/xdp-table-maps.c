/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "xdp-table-maps.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <unistd.h>

#include "afxdp-fast.skel.h"
#include "util.h"
#include "xdp-targets.h"

/* Without a table, its maps are not made. */
static void
omit(struct afxdp_fast *skel)
{
    struct bpf_map *maps[] = {
        skel->maps.live, skel->maps.tables, skel->maps.hits,
        skel->maps.targets, skel->maps.devices, skel->maps.cache4,
        skel->maps.cache6, skel->maps.learned,
    };

    for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
        bpf_map__set_autocreate(maps[i], false);
    }
}

static int
reuse(struct bpf_map *map, int fd)
{
    return fd < 0 ? 0 : -bpf_map__reuse_fd(map, fd);
}

/* Gives 'skel', which is not loaded yet, the maps of the table: those that all
 * ports share, those for a program with 'frags' or without, and the port's
 * 'own' of an earlier load; or none without a 'table'.  Returns 0, or a
 * positive errno and maybe why in '*errp', which the caller frees. */
int
xdp_table_maps_prepare(struct afxdp_fast *skel, bool table, bool frags,
                       const struct xdp_table_fds *own, char **errp)
{
    struct xdp_shared_maps shared;
    int error;

    if (!table) {
        omit(skel);
        return 0;
    }
    error = xdp_targets_get_maps(&shared, errp);
    if (error) {
        return error;
    }

    const struct {
        struct bpf_map *map;
        int fd;
    } maps[] = {
        { skel->maps.targets, shared.targets },
        { skel->maps.devices, frags ? shared.devmap_frags : shared.devmap },
        { skel->maps.cache4, shared.cache4 },
        { skel->maps.cache6, shared.cache6 },
        { skel->maps.learned, shared.learned },
        { skel->maps.live, own->live },
        { skel->maps.tables, own->tables },
        { skel->maps.hits, own->hits },
    };
    for (size_t i = 0; !error && i < ARRAY_SIZE(maps); i++) {
        error = reuse(maps[i].map, maps[i].fd);
    }
    return error;
}

/* Keeps the port's maps of 'skel', which is loaded with a table, in 'own' if
 * they are not there yet. */
void
xdp_table_maps_keep(const struct afxdp_fast *skel, struct xdp_table_fds *own)
{
    if (own->live < 0) {
        own->live = fcntl(bpf_map__fd(skel->maps.live), F_DUPFD_CLOEXEC, 0);
        own->tables = fcntl(bpf_map__fd(skel->maps.tables), F_DUPFD_CLOEXEC,
                            0);
        own->hits = fcntl(bpf_map__fd(skel->maps.hits), F_DUPFD_CLOEXEC, 0);
    }
}

void
xdp_table_maps_close(struct xdp_table_fds *own)
{
    const int fds[] = { own->live, own->tables, own->hits };

    for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    *own = XDP_TABLE_FDS_NONE;
}
