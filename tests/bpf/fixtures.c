/* SPDX-License-Identifier: Apache-2.0 */

/* usage: fixtures [CAPTURES]
 *
 * Runs all fixtures, in a network namespace of its own; prints a line for each
 * test.  CAPTURES is a folder of capture files. */

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* A veth with two queues; test runs can only come from a device that XDP is
 * attached to. */
#define DEVICE "fixture0"

static int
make_device(const struct program *program)
{
    LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = XDP_FLAGS_DRV_MODE);
    int ifindex;

    if (system("ip link add " DEVICE " numtxqueues 2 numrxqueues 2 type veth"
               " peer name fixture1 numtxqueues 2 numrxqueues 2")) {
        exit(1);
    }
    ifindex = if_nametoindex(DEVICE);
    if (bpf_link_create(program_fd(program), ifindex, BPF_XDP, &opts) < 0) {
        fprintf(stderr, DEVICE ": attach: %s\n", strerror(errno));
        exit(1);
    }
    return ifindex;
}

int
main(int argc, char *argv[])
{
    struct program *program = program_load(true);

    test_frames(program);
    test_prefixes(program);
    test_mutations(program);
    test_garbage(program);
    test_queues(program, make_device(program));
    test_plain();
    test_hash(program);
    test_hash_distribution(program);
    test_captures(program, argc > 1 ? argv[1] : NULL);
    test_object();
    program_unload(program);
    return 0;
}
