/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "host-shield.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <unistd.h>

#include "openvswitch/vlog.h"
#include "util.h"

VLOG_DEFINE_THIS_MODULE(host_shield);

/* BPF_TCX_INGRESS (kernel 6.6), which older headers lack. */
#define TCX_INGRESS 46

/* Has device 'ifindex' drop all frames that pass XDP, until
 * host_shield_lower() or the end of the process.  Programs on the device's
 * clsact of others stay.  Returns a file descriptor for that, or -1 if the
 * kernel cannot do it (before 6.6), and then nothing is dropped. */
int
host_shield_raise(int ifindex)
{
    static const struct bpf_insn insns[] = {
        { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0,
          .imm = TC_ACT_SHOT },
        { .code = BPF_JMP | BPF_EXIT },
    };
    int prog, link;

    prog = bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "afxdp_fast_gap", "GPL",
                         insns, ARRAY_SIZE(insns), NULL);
    if (prog < 0) {
        VLOG_DBG("cannot load: %s", ovs_strerror(errno));
        return -1;
    }
    link = bpf_link_create(prog, ifindex, TCX_INGRESS, NULL);
    if (link < 0) {
        VLOG_DBG("cannot attach: %s", ovs_strerror(errno));
    }
    close(prog);
    return link;
}

/* Ends what host_shield_raise() began; -1 is fine. */
void
host_shield_lower(int fd)
{
    if (fd >= 0) {
        bpf_link_detach(fd);
        close(fd);
    }
}
