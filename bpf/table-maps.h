/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Maps of the prefix table, which are made only for a port that has one. */

#ifndef TABLE_MAPS_H
#define TABLE_MAPS_H 1

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "xdp-table-layout.h"

/* What is in force on this port.
 *
 * Key: 0.  Userspace writes it, word by word, through its mapping; the program
 * reads it once a frame. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __type(key, __u32);
    __type(value, struct table_live);
    __uint(max_entries, 1);
    __uint(map_flags, BPF_F_MMAPABLE);
} live SEC(".maps");

/* Tables, of any size. */
struct table_map {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __type(key, __u32);
    __uint(value_size, sizeof(struct table_line));
    __uint(max_entries, 1);
    __uint(map_flags, BPF_F_INNER_MAP | BPF_F_MMAPABLE);
};

/* Key: slot.  Value: table.  Userspace fills the slot that is not in force. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __type(key, __u32);
    __uint(max_entries, 2);
    __array(values, struct table_map);
} tables SEC(".maps");

/* Counters of a table's entries, see struct table_counter. */
struct hits_map {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __type(key, __u32);
    __uint(value_size, sizeof(struct table_counter));
    __uint(max_entries, 1);
    __uint(map_flags, BPF_F_INNER_MAP | BPF_F_MMAPABLE);
};

/* Key: slot.  Value: counters.  The program writes those of its CPU. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __type(key, __u32);
    __uint(max_entries, 2);
    __array(values, struct hits_map);
} hits SEC(".maps");

/* Targets of redirects.  Key: index of the target.  One for all ports;
 * userspace and the guard (guard.bpf.c) write it. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __type(key, __u32);
    __type(value, struct table_target);
    __uint(max_entries, TABLE_N_TARGETS);
    __uint(map_flags, BPF_F_MMAPABLE);
} targets SEC(".maps");

/* Their devices.  Key: index of the target.  One for all ports. */
struct {
    __uint(type, BPF_MAP_TYPE_DEVMAP);
    __type(key, __u32);
    __type(value, __u32);
    __uint(max_entries, TABLE_N_TARGETS);
} devices SEC(".maps");

/* The cache in front of tables.  Key: page.  One for all ports; only the
 * program reads and writes it, each CPU its own. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __type(key, __u32);
    __type(value, struct cache4_page);
    __uint(max_entries, CACHE4_PAGES);
} cache4 SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __type(key, __u32);
    __type(value, struct cache6_page);
    __uint(max_entries, CACHE6_PAGES);
} cache6 SEC(".maps");

/* Source MACs that OVS has seen lately.  Key: 0.  As the cache. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __type(key, __u32);
    __type(value, struct learn_page);
    __uint(max_entries, 1);
} learned SEC(".maps");

#endif /* table-maps.h */
