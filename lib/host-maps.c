/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "host-maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "afxdp-fast.skel.h"
#include "util.h"

/* Makes a map as the program declares it.  Returns its descriptor, or a
 * negative errno. */
static int
create(const char *name, uint32_t key_size, uint32_t max_entries)
{
    LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
    int fd = bpf_map_create(BPF_MAP_TYPE_HASH, name, key_size,
                            sizeof(uint32_t), max_entries, &opts);

    return fd < 0 ? -errno : fd;
}

/* Makes empty maps and stores them in '*mapsp', for host_maps_destroy().
 * Returns 0, or a positive errno and why in '*errp', which the caller
 * frees. */
int
host_maps_create(struct host_maps **mapsp, char **errp)
{
    struct host_maps *maps = xmalloc(sizeof *maps);
    int error;

    maps->places = create("afxdp_places", sizeof(struct xdp_host_place),
                          XDP_HOST_MAX_PLACES);
    maps->addresses = create("afxdp_addresses",
                             sizeof(struct xdp_host_address),
                             XDP_HOST_MAX_ADDRESSES);
    maps->ports = create("afxdp_ports", sizeof(uint32_t),
                         XDP_HOST_MAX_PORTS);
    error = MIN(MIN(maps->places, maps->addresses), maps->ports);
    if (error < 0) {
        *errp = xasprintf("cannot make the BPF maps of the host's traffic: "
                          "%s", ovs_strerror(-error));
        host_maps_destroy(maps);
        maps = NULL;
    }
    *mapsp = maps;
    return error < 0 ? -error : 0;
}

/* Closes and frees 'maps', which may be NULL.  Programs in the kernel keep
 * what they use. */
void
host_maps_destroy(struct host_maps *maps)
{
    if (maps) {
        const int fds[] = { maps->places, maps->addresses, maps->ports };

        for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
            if (fds[i] >= 0) {
                close(fds[i]);
            }
        }
        free(maps);
    }
}

/* Gives 'skel', which is not loaded yet, the 'maps', or none for NULL.
 * Returns 0 or a positive errno. */
int
host_maps_prepare(struct afxdp_fast *skel, const struct host_maps *maps)
{
    const struct {
        struct bpf_map *map;
        int fd;
    } list[] = {
        { skel->maps.host_places, maps ? maps->places : -1 },
        { skel->maps.host_addresses, maps ? maps->addresses : -1 },
        { skel->maps.host_ports, maps ? maps->ports : -1 },
    };
    int error = 0;

    for (size_t i = 0; !error && i < ARRAY_SIZE(list); i++) {
        error = (maps ? -bpf_map__reuse_fd(list[i].map, list[i].fd)
                 : -bpf_map__set_autocreate(list[i].map, false));
    }
    return error;
}

/* A set of keys, sorted. */
struct keys {
    uint8_t *keys;
    size_t n, size;
};

static size_t key_size;         /* For compare(). */

static int
compare(const void *a, const void *b)
{
    return memcmp(a, b, key_size);
}

static bool
has(const struct keys *set, const void *key)
{
    return bsearch(key, set->keys, set->n, set->size, compare) != NULL;
}

/* Returns the keys that map 'fd' has. */
static struct keys
read_keys(int fd, size_t size)
{
    struct keys set = { .size = size };
    size_t allocated = 0;
    void *prev = NULL;

    for (;;) {
        if (set.n == allocated) {
            set.keys = x2nrealloc(set.keys, &allocated, size);
            prev = set.n ? set.keys + (set.n - 1) * size : NULL;
        }
        if (bpf_map_get_next_key(fd, prev, set.keys + set.n * size)) {
            return set;
        }
        prev = set.keys + set.n++ * size;
    }
}

/* Makes the 'n' keys at 'keys', of 'size' bytes, those of map 'fd'; sorts
 * them.  Those that stay are there all the time.  Returns 0, or the positive
 * errno of the first that cannot be entered: E2BIG if there are too many. */
static int
set_keys(int fd, void *keys, size_t n, size_t size)
{
    const struct keys wanted = { keys, n, size };
    struct keys old = read_keys(fd, size);
    uint32_t one = 1;
    int error = 0;

    key_size = size;
    if (n) {
        qsort(keys, n, size, compare);
    }
    for (size_t i = 0; i < old.n; i++) {
        if (!has(&wanted, old.keys + i * size)) {
            bpf_map_delete_elem(fd, old.keys + i * size);
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (bpf_map_update_elem(fd, wanted.keys + i * size, &one, BPF_ANY)
            && !error) {
            error = errno;
        }
    }
    free(old.keys);
    return error;
}

int
host_maps_set_places(struct host_maps *maps, struct xdp_host_place *places,
                     size_t n)
{
    return set_keys(maps->places, places, n, sizeof *places);
}

int
host_maps_set_addresses(struct host_maps *maps,
                        struct xdp_host_address *addresses, size_t n)
{
    return set_keys(maps->addresses, addresses, n, sizeof *addresses);
}

int
host_maps_set_ports(struct host_maps *maps, uint32_t *ports, size_t n)
{
    return set_keys(maps->ports, ports, n, sizeof *ports);
}
