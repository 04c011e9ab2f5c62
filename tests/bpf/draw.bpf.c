/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Gives each round of a test run another destination, then runs the program
 * under test; and a program to compare that one with. */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

#include "draw.h"

/* Destinations as in the frame, of which the rounds take one after the
 * other. */
__u32 draws4[N_DRAWS];
__u64 draws6[N_DRAWS][2];
__u32 position;

const volatile bool ipv6 = false;

/* Key: 0.  Value: the program under test.  Userspace writes it. */
struct {
    __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
    __type(key, __u32);
    __type(value, __u32);
    __uint(max_entries, 1);
} next SEC(".maps");

/* Key: 0.  Value: a device.  Userspace writes it. */
struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP);
    __type(key, __u32);
    __type(value, __u32);
    __uint(max_entries, 1);
} device SEC(".maps");

/* The payload and, for IPv4, the header's id take what makes the frame's
 * checksums those of any other destination. */
static __always_inline void
draw4(__u8 *frame, __u32 dst)
{
    __u32 sum = (dst & 0xffff) + (dst >> 16);

    sum = (sum & 0xffff) + (sum >> 16);
    *(__u32 *) (frame + DRAW_DST4) = dst;
    *(__u32 *) (frame + DRAW_PAYLOAD4) = ~dst;
    *(__u16 *) (frame + DRAW_ID) = ~sum;
}

static __always_inline void
draw6(__u8 *frame, const __u64 dst[2])
{
    *(__u64 *) (frame + DRAW_DST6) = dst[0];
    *(__u64 *) (frame + DRAW_DST6 + 8) = dst[1];
    *(__u64 *) (frame + DRAW_PAYLOAD6) = ~dst[0];
    *(__u64 *) (frame + DRAW_PAYLOAD6 + 8) = ~dst[1];
}

SEC("xdp.frags")
int
draw(struct xdp_md *ctx)
{
    __u8 *frame = (void *) (long) ctx->data;
    void *end = (void *) (long) ctx->data_end;
    __u32 i = position++ & (N_DRAWS - 1);

    if (ipv6) {
        if (frame + DRAW_LEN6 > (__u8 *) end) {
            return XDP_ABORTED;
        }
        draw6(frame, draws6[i]);
    } else {
        if (frame + DRAW_LEN4 > (__u8 *) end) {
            return XDP_ABORTED;
        }
        draw4(frame, draws4[i]);
    }
    bpf_tail_call(ctx, &next, 0);
    return XDP_ABORTED;
}

SEC("xdp.frags")
int
bare(struct xdp_md *ctx)
{
    return bpf_redirect_map(&device, 0, XDP_DROP);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
