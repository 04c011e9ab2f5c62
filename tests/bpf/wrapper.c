/* SPDX-License-Identifier: Apache-2.0 */

/* Runs the program behind one of front.bpf.c. */

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"
#include "front.skel.h"

struct wrapper {
    struct front *skel;
    int socket;
};

static void
die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

/* Puts a wrapper around 'program', or around a bare redirect if that is
 * NULL. */
struct wrapper *
wrapper_load(const struct program *program)
{
    struct wrapper *w = calloc(1, sizeof *w);
    uint32_t zero = 0;
    int fd;

    w->skel = front__open_and_load();
    w->socket = socket(AF_XDP, SOCK_RAW, 0);
    if (!w->skel || w->socket < 0) {
        die("wrapper");
    }
    fd = program ? program_fd(program)
                 : bpf_program__fd(w->skel->progs.bare);
    if (bpf_map_update_elem(bpf_map__fd(w->skel->maps.next), &zero, &fd, 0)
        || bpf_map_update_elem(bpf_map__fd(w->skel->maps.sockets), &zero,
                               &w->socket, 0)) {
        die("wrapper maps");
    }
    return w;
}

/* Runs it 'n' times on one frame; returns how long one took, in ns. */
int
wrapper_run_again(const struct wrapper *w, const void *frame, size_t len,
                  int n)
{
    LIBBPF_OPTS(bpf_test_run_opts, opts,
                .data_in = frame,
                .data_size_in = len,
                .repeat = n);

    if (bpf_prog_test_run_opts(bpf_program__fd(w->skel->progs.again), &opts)
        || opts.retval != XDP_REDIRECT) {
        die("test run");
    }
    return opts.duration;
}

/* Runs it once with garbage where the hints go, and stores the hints. */
void
wrapper_run_dirty(const struct wrapper *w, const void *frame, size_t len,
                  struct xdp_hints *hints)
{
    static uint8_t out[4096];
    LIBBPF_OPTS(bpf_test_run_opts, opts,
                .data_in = frame,
                .data_size_in = len,
                .data_out = out,
                .data_size_out = sizeof out);

    if (bpf_prog_test_run_opts(bpf_program__fd(w->skel->progs.dirty), &opts)
        || opts.retval != XDP_REDIRECT) {
        die("test run");
    }
    memcpy(hints, out, sizeof *hints);
}

void
wrapper_unload(struct wrapper *w)
{
    front__destroy(w->skel);
    close(w->socket);
    free(w);
}
