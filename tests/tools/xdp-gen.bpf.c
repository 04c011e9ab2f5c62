/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* The program of xdp-gen.  Run by BPF_PROG_TEST_RUN with live frames, it makes
 * each of the kernel's recycled pages a test frame and redirects it. */

#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "probe.h"
#include "xdp-gen.h"

const volatile struct gen_config config;

/* Where the run stands.  One CPU at a time runs the program, so plain memory
 * does. */
struct gen_state state;

/* Template of a frame's headers.  Not in 'config': the compiler may copy only
 * volatile data byte by byte. */
union gen_headers headers;

/* The flow of each frame, by sequence number, if config.by_table. */
__u32 flow_table[GEN_TABLE_SIZE];

/* Its destination, in network order, if config.dst_by_table.  By frame and
 * not by flow, so that it is read in order. */
__u32 dst_table[GEN_TABLE_SIZE];

/* Returns the frames to send in the batch that begins now. */
static __always_inline __u32
next_burst(void)
{
    __u64 due = config.count - state.sent;
    __u32 burst = config.burst_min;
    __u64 now = bpf_ktime_get_ns();

    if (config.burst_max > config.burst_min) {
        burst += bpf_get_prandom_u32()
                 % (config.burst_max - config.burst_min + 1);
    }
    if (now >= state.deadline) {
        return 0;
    }
    if (config.interval) {
        __u64 paced = (now - state.start) / config.interval + 1;

        /* A burst at full speed after a pause is more than what was asked
         * for: move the start, as if the pause had not been. */
        if (config.leave_out && paced > state.sent + GEN_MAX_LATE + burst) {
            state.start = now - state.sent * config.interval;
            paced = state.sent + burst;
        }

        /* Less than a burst is due: send none, so that bursts stay whole. */
        if (paced < state.sent + burst) {
            return 0;
        }
    }
    state.last = now;
    return due < burst ? due : burst;
}

static __always_inline __u16
fold(__u64 sum)
{
    sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

/* Writes the headers of 'flow' to 'daddr' to 'p'.  The page comes back as its
 * last receiver left it, so all of the headers are written, not the
 * changes. */
static __always_inline void
write_headers(void *p, __u32 flow, __u32 daddr, __u32 size)
{
    __u32 saddr = bpf_htonl(0x0a000001 + flow);
    __u16 tot_len = bpf_htons(size - 14);
    __u16 port = bpf_htons(1024 + (flow & 0x3fff));
    __u16 udp_len = bpf_htons(size - 34);
    __u16 check = ~fold((__u64) config.ip_sum + tot_len
                        + (saddr & 0xffff) + (saddr >> 16)
                        + (daddr & 0xffff) + (daddr >> 16));

    for (int i = 0; i < PROBE_OFFSET / 8; i++) {
        ((__u64 *) p)[i] = headers.words[i];
    }
    __builtin_memcpy(p + PROBE_OFFSET / 8 * 8,
                     headers.bytes + PROBE_OFFSET / 8 * 8, PROBE_OFFSET % 8);
    __builtin_memcpy(p + 16, &tot_len, 2);
    __builtin_memcpy(p + 24, &check, 2);
    __builtin_memcpy(p + 26, &saddr, 4);
    __builtin_memcpy(p + 30, &daddr, 4);
    __builtin_memcpy(p + 34, &port, 2);
    __builtin_memcpy(p + 38, &udp_len, 2);
}

static __always_inline void
write_filler(void *p, void *end, __u64 seq)
{
    for (__u32 i = 0; i < (PROBE_MAX_SIZE - PROBE_MIN_SIZE) / 8; i++) {
        if (p + 8 > end) {
            break;
        }
        *(__u64 *) p = probe_filler(seq, i);
        p += 8;
    }
}

SEC("xdp")
int
generate(struct xdp_md *ctx)
{
    struct probe probe;
    void *data, *end;
    __u32 size;
    __u64 seq;

    if (!state.batch_left) {
        state.batch_left = GEN_BATCH;
        state.burst_left = next_burst();
    }
    state.batch_left--;
    if (!state.burst_left) {
        return XDP_DROP;        /* Back to the pool at once. */
    }
    state.burst_left--;

    seq = state.sent++;
    size = config.sizes[seq % config.n_sizes % GEN_MAX_SIZES];
    if (size != config.max_size
        && bpf_xdp_adjust_tail(ctx, (int) size - (int) config.max_size)) {
        state.failed++;
        return XDP_DROP;
    }

    data = (void *) (long) ctx->data;
    end = (void *) (long) ctx->data_end;
    if (data + PROBE_MIN_SIZE > end) {
        state.failed++;
        return XDP_DROP;
    }
    write_headers(data, (config.by_table ? flow_table[seq % GEN_TABLE_SIZE]
                         : seq % config.flows),
                  (config.dst_by_table ? dst_table[seq % GEN_TABLE_SIZE]
                   : config.daddr), size);

    probe.magic = PROBE_MAGIC | config.stream;
    probe.seq = seq;
    probe.time = bpf_ktime_get_ns();
    probe.check = probe_check(seq, probe.time, size);
    __builtin_memcpy(data + PROBE_OFFSET, &probe, sizeof probe);
    if (config.filler) {
        write_filler(data + PROBE_MIN_SIZE, end, seq);
    }
    return bpf_redirect(config.ifindexes[seq % config.n_devs % GEN_MAX_DEVS],
                        0);
}

/* bpf_get_prandom_u32() and bpf_redirect() ask for none, bpf_ktime_get_ns()
 * did before 5.8. */
char _license[] SEC("license") = "Dual BSD/GPL";
