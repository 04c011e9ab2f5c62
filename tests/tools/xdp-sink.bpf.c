/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* The program of xdp-sink: counts, checks and drops what arrives.  It stands
 * at clsact ingress and not in XDP, because XDP_DROP on a veth makes the
 * kernel copy every skb first and would bound what is measured. */

#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

#include "probe.h"
#include "xdp-sink.h"

/* Longest frame whose filler is checked: the port's largest and some. */
#define MAX_FILLER_WORDS 512

const volatile struct sink_config config;

/* One stream arrives on one queue, so one CPU at a time writes this. */
struct sink_stream stream;

/* Probes by sink_bucket() of the time they took.  Written by that CPU, too. */
__u64 delays[SINK_BUCKETS];

/* Key 0: what this CPU counted.  Written here, read by the tool. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct sink_counters);
} counters SEC(".maps");

/* Key: sequence number / 64; value: a bit for each number seen. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, SINK_SEEN_BITS / 64);
    __type(key, __u32);
    __type(value, __u64);
} seen SEC(".maps");

static __always_inline int
filler_is_intact(void *p, void *end, __u64 seq)
{
    for (__u32 i = 0; i < MAX_FILLER_WORDS; i++) {
        if (p + 8 > end) {
            return 1;
        }
        if (*(__u64 *) p != probe_filler(seq, i)) {
            return 0;
        }
        p += 8;
    }
    return 1;
}

static __always_inline int
was_seen(__u64 seq)
{
    __u32 key = seq / 64;
    __u64 bit = 1ull << (seq % 64);
    __u64 *word = seq < SINK_SEEN_BITS ? bpf_map_lookup_elem(&seen, &key)
                                       : NULL;

    return word && __sync_fetch_and_or(word, bit) & bit;
}

static __always_inline void
note_time(__u64 seq, __u64 sent)
{
    __u64 now = bpf_ktime_get_ns();

    if (!stream.first_time) {
        stream.first_time = now;
    } else if (now - stream.last_time > stream.longest_gap) {
        stream.longest_gap = now - stream.last_time;
        stream.longest_gap_seq = seq;
    }
    if (now - sent > stream.longest_delay) {
        stream.longest_delay = now - sent;
    }
    stream.last_time = now;
    if (config.latency) {
        __u32 bucket = sink_bucket(now - sent);

        if (bucket < SINK_BUCKETS) {
            delays[bucket]++;
        }
    }
}

static __always_inline void
verify(struct __sk_buff *skb, struct sink_counters *c)
{
    __u32 offset = config.offset & 0xfff;
    struct probe probe;
    void *data, *end;

    bpf_skb_pull_data(skb, skb->len);
    data = (void *) (long) skb->data;
    end = (void *) (long) skb->data_end;
    if (data + offset + sizeof probe > end) {
        c->other++;
        return;
    }
    __builtin_memcpy(&probe, data + offset, sizeof probe);
    if (probe.magic != (PROBE_MAGIC | config.stream)) {
        c->other++;
        return;
    }

    /* The sender's frame began PROBE_OFFSET before the probe, whatever stands
     * in front of it now. */
    if (probe.check != probe_check(probe.seq, probe.time,
                                   skb->len - offset + PROBE_OFFSET)
        || (config.filler
            && !filler_is_intact(data + offset + sizeof probe, end,
                                 probe.seq))) {
        c->corrupt++;
        return;
    }

    if (was_seen(probe.seq)) {
        c->duplicates++;
        return;
    }
    c->good++;
    if (probe.seq < stream.next) {
        c->reordered++;
    } else {
        stream.next = probe.seq + 1;
    }
    note_time(probe.seq, probe.time);
}

SEC("tc")
int
sink(struct __sk_buff *skb)
{
    __u32 key = 0;
    struct sink_counters *c = bpf_map_lookup_elem(&counters, &key);

    if (c) {
        c->packets++;
        c->bytes += skb->len;
        if (config.verify) {
            verify(skb, c);
        }
    }
    return TC_ACT_SHOT;
}

char _license[] SEC("license") = "Dual BSD/GPL";
