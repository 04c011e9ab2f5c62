/* SPDX-License-Identifier: Apache-2.0 */

/* The cookie of the XDP program on a device: the first word of its settings,
 * see bpf/settings.h. */

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traffic.h"

#define MAX_MAPS 16

/* Stores the first word of map 'id' in '*word' if it holds settings. */
static bool
read_settings(uint32_t id, uint64_t *word)
{
    struct bpf_map_info info = { .id = 0 };
    uint32_t len = sizeof info, zero = 0;
    int fd = bpf_map_get_fd_by_id(id);
    uint8_t *value;
    bool found = false;

    if (fd < 0) {
        return false;
    }
    if (!bpf_obj_get_info_by_fd(fd, &info, &len)
        && info.type == BPF_MAP_TYPE_ARRAY && strstr(info.name, ".rodata")
        && info.value_size >= sizeof *word) {
        value = calloc(1, info.value_size);
        found = !bpf_map_lookup_elem(fd, &zero, value);
        memcpy(word, value, sizeof *word);
        free(value);
    }
    close(fd);
    return found;
}

/* Stores the cookie of the program on the device in '*cookie'.  Returns 0, or
 * ENOENT if there is no program with settings. */
int
hints_find_cookie(int ifindex, uint64_t *cookie)
{
    uint32_t maps[MAX_MAPS], id = 0, len;
    struct bpf_prog_info info = {
        .nr_map_ids = MAX_MAPS,
        .map_ids = (uintptr_t) maps,
    };
    bool found = false;
    int fd;

    if (bpf_xdp_query_id(ifindex, 0, &id) || !id) {
        return ENOENT;
    }
    fd = bpf_prog_get_fd_by_id(id);
    if (fd < 0) {
        return ENOENT;
    }
    len = sizeof info;
    if (!bpf_obj_get_info_by_fd(fd, &info, &len)) {
        for (uint32_t i = 0; i < info.nr_map_ids && i < MAX_MAPS; i++) {
            found = found || read_settings(maps[i], cookie);
        }
    }
    close(fd);
    return found ? 0 : ENOENT;
}
