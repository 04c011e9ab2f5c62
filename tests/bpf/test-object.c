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

static void
test_maps(const struct afxdp_fast *skel)
{
    const struct bpf_map *map;

    test_begin("the program writes to per-CPU maps only");
    bpf_object__for_each_map(map, skel->obj) {
        CHECK(!is_shared_type(bpf_map__type(map))
              || bpf_map__map_flags(map) & BPF_F_RDONLY_PROG,
              "map %s is shared by CPUs and not BPF_F_RDONLY_PROG",
              bpf_map__name(map));
    }
    test_end();

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

    test_maps(skel);
    afxdp_fast__destroy(skel);

    test_begin("a port without hints does not pay for them");
    plain = count_insns(false);
    full = count_insns(true);
    CHECK(plain && plain <= MAX_PLAIN_INSNS, "%u instructions, at most %d",
          plain, MAX_PLAIN_INSNS);
    CHECK(full > MAX_PLAIN_INSNS, "%u instructions with hints", full);
    test_end();
}
