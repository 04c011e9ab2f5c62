/* SPDX-License-Identifier: Apache-2.0 */

/* What the object file promises, whatever frames do. */

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

#include "afxdp-fast.skel.h"
#include "harness.h"

/* Instructions that a port without hints runs: look-up, redirect, count.
 * What parses is several hundred. */
#define MAX_PLAIN_INSNS 60

/* Can a program write to values of maps of this type, and every CPU to the
 * same one?  Not where each CPU has its own, and not where the verifier hands
 * out no pointer to them: sockets, devices, programs, inner maps. */
static bool
is_shared_type(enum bpf_map_type type)
{
    return type != BPF_MAP_TYPE_PERCPU_ARRAY
           && type != BPF_MAP_TYPE_PERCPU_HASH
           && type != BPF_MAP_TYPE_LRU_PERCPU_HASH
           && type != BPF_MAP_TYPE_XSKMAP
           && type != BPF_MAP_TYPE_DEVMAP
           && type != BPF_MAP_TYPE_DEVMAP_HASH
           && type != BPF_MAP_TYPE_CPUMAP
           && type != BPF_MAP_TYPE_PROG_ARRAY
           && type != BPF_MAP_TYPE_ARRAY_OF_MAPS
           && type != BPF_MAP_TYPE_HASH_OF_MAPS;
}

static int
forbid(struct bpf_map *map)
{
    return bpf_map__set_map_flags(map, bpf_map__map_flags(map)
                                       | BPF_F_RDONLY_PROG);
}

/* The verifier is the judge: with each map that CPUs share made read-only for
 * programs, but for the counters of entries, it must still take the program.
 * Those counters have an area for each CPU (test-table.c). */
static void
test_maps(void)
{
    struct afxdp_fast *skel = afxdp_fast__open();
    struct bpf_map *map;

    test_begin("the program writes to maps of its own CPU only");
    skel->rodata->table_on = true;
    skel->rodata->hints_on = true;
    skel->rodata->front_on = true;
    bpf_object__for_each_map(map, skel->obj) {
        if (is_shared_type(bpf_map__type(map))) {
            CHECK(!forbid(map), "map %s", bpf_map__name(map));
        }
    }
    CHECK(!forbid(bpf_map__inner_map(skel->maps.tables)), "inner map");
    CHECK(!afxdp_fast__load(skel), "a map that CPUs share is written to");
    afxdp_fast__destroy(skel);
    test_end();
}

static void
test_layout(const struct afxdp_fast *skel)
{
    test_begin("program and xdp-layout.h agree");
    CHECK(skel->rodata->layout_version == XDP_LAYOUT_VERSION,
          "layout version %u", skel->rodata->layout_version);
    CHECK((void *) &skel->rodata->hints_cookie == (void *) skel->rodata,
          "the cookie is not the first of the settings");
    CHECK(bpf_map__value_size(skel->maps.counters)
          == sizeof(struct xdp_counters), "counters of %u bytes",
          bpf_map__value_size(skel->maps.counters));
    test_end();
}

static unsigned int
count_insns(bool hints)
{
    struct program *program = program_load(hints);
    struct bpf_prog_info info = { .id = 0 };
    __u32 len = sizeof info;

    if (bpf_obj_get_info_by_fd(program_fd(program), &info, &len)) {
        test_fail("no program information");
    }
    program_unload(program);
    return info.xlated_prog_len / 8;
}

void
test_object(void)
{
    struct afxdp_fast *skel = afxdp_fast__open();
    unsigned int plain, full;

    test_maps();
    test_layout(skel);
    afxdp_fast__destroy(skel);

    test_begin("a port without hints does not pay for them");
    plain = count_insns(false);
    full = count_insns(true);
    CHECK(plain && plain <= MAX_PLAIN_INSNS, "%u instructions, at most %d",
          plain, MAX_PLAIN_INSNS);
    CHECK(full > MAX_PLAIN_INSNS, "%u instructions with hints", full);
    test_end();
}
