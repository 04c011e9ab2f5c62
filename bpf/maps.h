/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

#ifndef MAPS_H
#define MAPS_H 1

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "xdp-layout.h"

/* Where frames go up.
 *
 * Key: rx queue of the device.  Value: AF_XDP socket bound to that queue.
 * Userspace writes it and sets its size, to the number of queues, before the
 * load; the program only redirects through it. */
struct {
    __uint(type, BPF_MAP_TYPE_XSKMAP);
    __type(key, __u32);
    __type(value, __u32);
    __uint(max_entries, 1);
} xsks SEC(".maps");

/* What happened to frames.
 *
 * Key: 0.  Value: all counters, one copy a CPU.  The program writes the copy
 * of the CPU it runs on; userspace reads all of them and adds them up. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __type(key, __u32);
    __type(value, struct xdp_counters);
    __uint(max_entries, 1);
} counters SEC(".maps");

/* What the front program knows of the frame at hand.
 *
 * Key: 0.  The front program, where there is one, writes it for each frame,
 * the other reads it. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __type(key, __u32);
    __type(value, struct xdp_front_note);
    __uint(max_entries, 1);
} front_note SEC(".maps");

#endif /* maps.h */
