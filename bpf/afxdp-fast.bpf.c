/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* The XDP program of an afxdp-fast port: a row of stages, each in a header of
 * its own, each deleted by the verifier where the port's settings do not ask
 * for it. */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "hints.h"
#include "parse.h"
#include "settings.h"
#include "verdict.h"

SEC("xdp")
int
afxdp_fast(struct xdp_md *ctx)
{
    struct xdp_counters *stats = this_cpu_counters();
    struct packet pkt;

    if (!stats) {
        return XDP_DROP;
    }

    if (hints_on) {
        parse(ctx, stats, &pkt);
        write_hints(ctx, stats, &pkt);
    }
    return to_userspace(ctx, stats);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
