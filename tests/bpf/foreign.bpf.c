/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Somebody else's program. */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("xdp")
int
somebody(struct xdp_md *ctx)
{
    return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
