/* SPDX-License-Identifier: Apache-2.0 */

/* Replaces the program of an afxdp-fast port by one that writes hints of
 * another layout, for as long as it runs: see usage(). */

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "args.h"
#include "xdp-swap.skel.h"

static void
usage(void)
{
    puts("xdp-swap: put hints of another layout before a port's frames\n"
         "usage: xdp-swap DEV\n"
         "Prints \"swapped\", waits for SIGTERM or SIGINT, and puts the\n"
         "port's own program back.");
    exit(0);
}

/* Returns a descriptor of the link that attaches program 'prog_id'.  Not by
 * device: indexes of devices are those of a namespace, links are not. */
static int
find_link(uint32_t prog_id)
{
    uint32_t id = 0;

    while (!bpf_link_get_next_id(id, &id)) {
        struct bpf_link_info info = { 0 };
        uint32_t size = sizeof info;
        int fd = bpf_link_get_fd_by_id(id);

        if (fd < 0) {
            continue;           /* It went meanwhile. */
        }
        if (!bpf_obj_get_info_by_fd(fd, &info, &size)
            && info.type == BPF_LINK_TYPE_XDP && info.prog_id == prog_id) {
            return fd;
        }
        close(fd);
    }
    die("program %u is not attached by a link", prog_id);
}

/* Looks at each map of the program 'fd', or of the one behind it: makes 'xsks' stand for its XSKMAP and
 * stores the first 8 bytes of its constants in '*cookie'. */
static void
adopt_maps(int fd, struct bpf_map *xsks, uint64_t *cookie)
{
    uint32_t ids[8];
    struct bpf_prog_info prog = {
        .nr_map_ids = sizeof ids / sizeof *ids,
        .map_ids = (uintptr_t) ids,
    };
    uint32_t size = sizeof prog;

    if (bpf_obj_get_info_by_fd(fd, &prog, &size)) {
        die("the port's program: %s", strerror(errno));
    }
    for (uint32_t i = 0; i < prog.nr_map_ids; i++) {
        int map_fd = bpf_map_get_fd_by_id(ids[i]);
        struct bpf_map_info map = { 0 };
        uint32_t key = 0, next;

        size = sizeof map;
        if (map_fd < 0 || bpf_obj_get_info_by_fd(map_fd, &map, &size)) {
            die("map %u: %s", ids[i], strerror(errno));
        }
        if (map.type == BPF_MAP_TYPE_PROG_ARRAY
            && !bpf_map_lookup_elem(map_fd, &key, &next)) {
            /* A front program: the port's is behind it. */
            int next_fd = bpf_prog_get_fd_by_id(next);

            if (next_fd < 0) {
                die("program %u: %s", next, strerror(errno));
            }
            adopt_maps(next_fd, xsks, cookie);
            close(next_fd);
        } else if (map.type == BPF_MAP_TYPE_XSKMAP) {
            bpf_map__set_max_entries(xsks, map.max_entries);
            if (bpf_map__reuse_fd(xsks, map_fd)) {
                die("the port's sockets: %s", strerror(errno));
            }
        } else if (strstr(map.name, ".rodata")) {
            uint8_t value[map.value_size];

            if (!bpf_map_lookup_elem(map_fd, &key, value)) {
                memcpy(cookie, value, sizeof *cookie);
            }
        }
        close(map_fd);
    }
}

int
main(int argc, char *argv[])
{
    uint32_t prog_id;
    uint64_t cookie = 0;
    sigset_t ending;
    int signal;

    if (argc != 2 || argv[1][0] == '-') {
        usage();
    }
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigprocmask(SIG_BLOCK, &ending, NULL);

    if (bpf_xdp_query_id(parse_device("DEV", argv[1]), 0, &prog_id)
        || !prog_id) {
        die("%s: no XDP program", argv[1]);
    }
    int own = bpf_prog_get_fd_by_id(prog_id);
    int link = find_link(prog_id);

    struct xdp_swap *skel = xdp_swap__open();
    if (!skel) {
        die("opening the foreign program: %s", strerror(errno));
    }
    adopt_maps(own, skel->maps.xsks, &cookie);
    memcpy((void *) &skel->rodata->cookie, &cookie, sizeof cookie);
    if (xdp_swap__load(skel)) {
        die("loading the foreign program: %s", strerror(errno));
    }

    if (bpf_link_update(link, bpf_program__fd(skel->progs.foreign), NULL)) {
        die("%s: replacing the program: %s", argv[1], strerror(errno));
    }
    puts("swapped");
    fflush(stdout);
    sigwait(&ending, &signal);
    if (bpf_link_update(link, own, NULL)) {
        die("%s: putting the program back: %s", argv[1], strerror(errno));
    }
    xdp_swap__destroy(skel);
    return 0;
}
