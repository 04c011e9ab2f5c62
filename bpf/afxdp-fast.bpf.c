/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* The XDP program of an afxdp-fast port: a row of stages, each in a header of
 * its own, each deleted by the verifier where the port's settings do not ask
 * for it. */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "forward.h"
#include "hints.h"
#include "host.h"
#include "parse.h"
#include "settings.h"
#include "verdict.h"

SEC("xdp")
int
afxdp_fast(struct xdp_md *ctx)
{
    struct xdp_counters *stats = this_cpu_counters();
    struct packet pkt;
    __u32 parsed;

    if (!stats) {
        return XDP_DROP;
    }
    if (!hints_on && !table_on && !malformed_drop && !host_on) {
        return to_userspace(ctx, stats);
    }

    if (table_on && parse_plain(ctx, &pkt)) {
        int verdict;

        if (host_on && is_for_host(&pkt, PARSED_IP)) {
            return to_host(ctx, stats, &pkt, XDP_C_HOST_TRAFFIC);
        }
        verdict = forward(ctx, stats, &pkt);
        if (verdict != GO_UP) {
            return verdict;
        }
        if (hints_on) {
            write_hints(ctx, stats, &pkt, PARSED_IP);
        }
        return to_userspace(ctx, stats);
    }

    parsed = parse(ctx, &pkt);
    if (host_on && is_for_host(&pkt, parsed)) {
        return to_host(ctx, stats, &pkt, XDP_C_HOST_TRAFFIC);
    }
    if (malformed_drop && is_malformed(parsed)) {
        return end(stats, XDP_C_DROP_MALFORMED, XDP_DROP);
    }
    if (parsed != PARSED_IP) {
        count(stats, parsed);
    } else if (pkt.l3.fragment) {
        count(stats, XDP_C_PARSE_FRAGMENT);
    }
    if (table_on && parsed == PARSED_IP) {
        int verdict = forward(ctx, stats, &pkt);

        if (verdict != GO_UP) {
            return verdict;
        }
    }
    if (hints_on) {
        write_hints(ctx, stats, &pkt, parsed);
    }
    return to_userspace(ctx, stats);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
