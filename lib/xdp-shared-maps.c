/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "xdp-shared-maps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util.h"

#define TARGETS_SIZE (TABLE_N_TARGETS * sizeof(struct table_target))

/* A map to make: where its file descriptor goes, and what it is. */
struct map_spec {
    int *fd;
    enum bpf_map_type type;
    const char *name;           /* As bpftool shows it: 15 characters. */
    uint32_t value_size;
    uint32_t max_entries;
    uint32_t flags;
};

/* Returns 0 or a positive errno. */
static int
create(const struct map_spec *spec)
{
    LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = spec->flags);

    *spec->fd = bpf_map_create(spec->type, spec->name, sizeof(uint32_t),
                               spec->value_size, spec->max_entries, &opts);
    return *spec->fd < 0 ? errno : 0;
}

/* Makes the maps and stores their file descriptors in '*maps', for
 * xdp_shared_maps_close().  Returns 0, or a positive errno and why in '*errp',
 * which the caller frees; nothing is left then. */
int
xdp_shared_maps_create(struct xdp_shared_maps *maps, char **errp)
{
    const struct map_spec specs[] = {
        { &maps->targets, BPF_MAP_TYPE_ARRAY, "afxdp_targets",
          sizeof(struct table_target), TABLE_N_TARGETS, BPF_F_MMAPABLE },
        { &maps->devmap, BPF_MAP_TYPE_DEVMAP, "afxdp_devmap",
          sizeof(uint32_t), TABLE_N_TARGETS, 0 },
        /* The kernel lets a devmap be used by programs only that all take
         * frags or all take none (EINVAL when the program is loaded). */
        { &maps->devmap_frags, BPF_MAP_TYPE_DEVMAP, "afxdp_devmap_fr",
          sizeof(uint32_t), TABLE_N_TARGETS, 0 },
        { &maps->cache4, BPF_MAP_TYPE_PERCPU_ARRAY, "afxdp_cache4",
          sizeof(struct cache4_page), CACHE4_PAGES, 0 },
        { &maps->cache6, BPF_MAP_TYPE_PERCPU_ARRAY, "afxdp_cache6",
          sizeof(struct cache6_page), CACHE6_PAGES, 0 },
        { &maps->learned, BPF_MAP_TYPE_PERCPU_ARRAY, "afxdp_learned",
          sizeof(struct learn_page), 1, 0 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
        *specs[i].fd = -1;
    }
    for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
        int error = create(&specs[i]);

        if (error) {
            *errp = xasprintf("cannot make the BPF map %s: %s", specs[i].name,
                              ovs_strerror(error));
            xdp_shared_maps_close(maps);
            return error;
        }
    }
    *errp = NULL;
    return 0;
}

/* Maps the targets into our memory, TABLE_N_TARGETS of them, and stores where
 * in '*targetsp': a word of a target can be written there without the others,
 * which an update of the BPF map cannot do.  Returns 0, or a positive errno
 * and why in '*errp', which the caller frees. */
int
xdp_shared_maps_mmap_targets(const struct xdp_shared_maps *maps,
                             struct table_target **targetsp, char **errp)
{
    void *p = mmap(NULL, TARGETS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
                   maps->targets, 0);

    *targetsp = NULL;
    *errp = NULL;
    if (p == MAP_FAILED) {
        int error = errno;

        *errp = xasprintf("cannot map the BPF map of targets into memory: %s",
                          ovs_strerror(error));
        return error;
    }
    *targetsp = p;
    return 0;
}

/* Closes those of 'maps' that are there.  They live on as long as a program or
 * a mapping uses them. */
void
xdp_shared_maps_close(struct xdp_shared_maps *maps)
{
    int *const fds[] = { &maps->targets, &maps->devmap, &maps->devmap_frags,
                         &maps->cache4, &maps->cache6, &maps->learned };

    for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
        if (*fds[i] >= 0) {
            close(*fds[i]);
            *fds[i] = -1;
        }
    }
}

/* Stores the kernel's id of the map 'fd' in '*id'.  Returns 0 or a positive
 * errno. */
int
xdp_shared_maps_get_id(int fd, uint32_t *id)
{
    struct bpf_map_info info;
    __u32 len = sizeof info;

    memset(&info, 0, sizeof info);
    if (bpf_obj_get_info_by_fd(fd, &info, &len)) {
        return errno;
    }
    *id = info.id;
    return 0;
}
