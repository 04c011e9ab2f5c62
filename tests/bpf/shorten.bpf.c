/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Makes the first piece of a frame short, and hands over to the program under
 * test.  Kernels before 6.18 do not let the caller of a test run say how long
 * it is; this works on all that know of pieces. */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/* Key: 0.  Value: the program under test.  Userspace writes it. */
struct {
    __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
    __type(key, __u32);
    __type(value, __u32);
    __uint(max_entries, 1);
} next SEC(".maps");

/* Bytes in front of the frame that are not part of it. */
__u32 filler;

SEC("xdp.frags")
int
shorten_first(struct xdp_md *ctx)
{
    if (bpf_xdp_adjust_head(ctx, filler)) {
        return XDP_ABORTED;
    }
    bpf_tail_call(ctx, &next, 0);
    return XDP_ABORTED;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
