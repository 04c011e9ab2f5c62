/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "host-shield.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <unistd.h>

#include "openvswitch/vlog.h"
#include "util.h"

VLOG_DEFINE_THIS_MODULE(host_shield);

/* BPF_TCX_INGRESS (kernel 6.6), which older headers lack. */
#define TCX_INGRESS 46

struct host_shield {
    int link;
    int map;                    /* Per CPU: the number of frames dropped. */
};

/* Loads a program that counts each frame in 'map' and drops it.  Returns a
 * file descriptor, or -1. */
static int
load_program(int map)
{
    const struct bpf_insn insns[] = {
        /* *(u32 *) (r10 - 4) = 0: the key. */
        { .code = BPF_ST | BPF_W | BPF_MEM, .dst_reg = BPF_REG_10, .off = -4 },
        { .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_2,
          .src_reg = BPF_REG_10 },
        { .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2,
          .imm = -4 },
        { .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1,
          .src_reg = BPF_PSEUDO_MAP_FD, .imm = map },
        { .code = 0 },          /* Second half of the one before. */
        { .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem },
        /* If there is a value, which there always is, it grows by one. */
        { .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 3 },
        { .code = BPF_LDX | BPF_DW | BPF_MEM, .dst_reg = BPF_REG_1,
          .src_reg = BPF_REG_0 },
        { .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1,
          .imm = 1 },
        { .code = BPF_STX | BPF_DW | BPF_MEM, .dst_reg = BPF_REG_0,
          .src_reg = BPF_REG_1 },
        { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0,
          .imm = TC_ACT_SHOT },
        { .code = BPF_JMP | BPF_EXIT },
    };

    return bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "afxdp_fast_gap", "GPL",
                         insns, ARRAY_SIZE(insns), NULL);
}

/* Has device 'ifindex' drop all frames that pass XDP, until
 * host_shield_lower() or the end of the process.  Programs on the device's
 * clsact of others stay.  Returns NULL if the kernel cannot do it (before
 * 6.6), and then nothing is dropped. */
struct host_shield *
host_shield_raise(int ifindex)
{
    struct host_shield *shield;
    int map, prog = -1, link = -1;

    map = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "afxdp_fast_gap",
                         sizeof(uint32_t), sizeof(uint64_t), 1, NULL);
    if (map >= 0) {
        prog = load_program(map);
    }
    if (prog >= 0) {
        link = bpf_link_create(prog, ifindex, TCX_INGRESS, NULL);
    }
    if (link < 0) {
        VLOG_DBG("cannot %s: %s", map < 0 ? "make its map"
                 : prog < 0 ? "load" : "attach", ovs_strerror(errno));
    }
    if (prog >= 0) {
        close(prog);
    }
    if (link < 0) {
        if (map >= 0) {
            close(map);
        }
        return NULL;
    }
    shield = xmalloc(sizeof *shield);
    shield->link = link;
    shield->map = map;
    return shield;
}

/* Returns the number of frames that 'shield' has dropped, 0 if the kernel does
 * not tell. */
static uint64_t
read_count(const struct host_shield *shield)
{
    int n_cpus = libbpf_num_possible_cpus();
    uint64_t *values, sum = 0;
    uint32_t key = 0;

    if (n_cpus <= 0) {
        return 0;
    }
    values = xcalloc(n_cpus, sizeof *values);
    if (!bpf_map_lookup_elem(shield->map, &key, values)) {
        for (int i = 0; i < n_cpus; i++) {
            sum += values[i];
        }
    }
    free(values);
    return sum;
}

/* Ends what host_shield_raise() began and frees 'shield'; NULL is fine.
 * Returns the number of frames that were dropped. */
uint64_t
host_shield_lower(struct host_shield *shield)
{
    uint64_t n;

    if (!shield) {
        return 0;
    }
    bpf_link_detach(shield->link);
    n = read_count(shield);
    close(shield->link);
    close(shield->map);
    free(shield);
    return n;
}
