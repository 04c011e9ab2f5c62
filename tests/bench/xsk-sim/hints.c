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

#define MAX_MAPS 64

/* Stores the first word of settings 'fd', of shape 'info', in '*cookie'. */
static bool
read_settings(int fd, const struct bpf_map_info *info, uint64_t *cookie)
{
    uint32_t zero = 0;
    uint8_t *value;
    bool found;

    if (!strstr(info->name, ".rodata") || info->value_size < sizeof *cookie) {
        return false;
    }
    value = calloc(1, info->value_size);
    found = !bpf_map_lookup_elem(fd, &zero, value);
    memcpy(cookie, value, sizeof *cookie);
    free(value);
    return found;
}

/* Looks at map 'id' of a program: stores the cookie in '*cookie' if the map is
 * the settings, and in '*next' the id of the program that a front program
 * hands over to, if it is its list of one. */
static bool
look_at_map(uint32_t id, uint64_t *cookie, uint32_t *next)
{
    struct bpf_map_info info = { .id = 0 };
    uint32_t len = sizeof info, zero = 0;
    int fd = bpf_map_get_fd_by_id(id);
    bool found = false;

    if (fd < 0) {
        return false;
    }
    if (!bpf_obj_get_info_by_fd(fd, &info, &len)) {
        if (info.type == BPF_MAP_TYPE_ARRAY) {
            found = read_settings(fd, &info, cookie);
        } else if (info.type == BPF_MAP_TYPE_PROG_ARRAY) {
            bpf_map_lookup_elem(fd, &zero, next);
        }
    }
    close(fd);
    return found;
}

/* As hints_find_cookie(), of program 'id'; '*next' as in look_at_map(). */
static bool
look_at_program(uint32_t id, uint64_t *cookie, uint32_t *next)
{
    uint32_t maps[MAX_MAPS], len;
    struct bpf_prog_info info = {
        .nr_map_ids = MAX_MAPS,
        .map_ids = (uintptr_t) maps,
    };
    bool found = false;
    int fd = bpf_prog_get_fd_by_id(id);

    if (fd < 0) {
        return false;
    }
    len = sizeof info;
    if (!bpf_obj_get_info_by_fd(fd, &info, &len)) {
        for (uint32_t i = 0; i < info.nr_map_ids && i < MAX_MAPS; i++) {
            found = found || look_at_map(maps[i], cookie, next);
        }
    }
    close(fd);
    return found;
}

/* Stores the cookie of the program on the device, or of the one behind its
 * front program, in '*cookie'.  Returns 0, or ENOENT if there is none. */
int
hints_find_cookie(int ifindex, uint64_t *cookie)
{
    uint32_t id = 0, next = 0;

    if (bpf_xdp_query_id(ifindex, 0, &id) || !id) {
        return ENOENT;
    }
    return (look_at_program(id, cookie, &next)
            || (next && look_at_program(next, cookie, &next)) ? 0 : ENOENT);
}
