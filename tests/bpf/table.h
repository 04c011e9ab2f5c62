/* SPDX-License-Identifier: Apache-2.0 */

/* The XDP program with prefix tables: builds tables from sets, as the daemon
 * does, and puts them into the program's maps.  Failures of the machinery end
 * the program that uses it. */

#ifndef TABLE_H
#define TABLE_H 1

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prefix-set.h"
#include "prefix-trie.h"
#include "xdp-layout.h"
#include "xdp-table-layout.h"

/* Settings of the program, see bpf/settings.h. */
struct table_opts {
    bool hints, malformed_drop, frags, tags_hidden, tags_follow, front, host;
    uint32_t max_frame;         /* 0: no limit. */
    uint32_t port_number;
    const struct table_program *neighbor;   /* A port that it shares the cache
                                             * and what is learned with. */
};

/* Frames come from the CPU that table_load() pins the calling thread to. */
struct table_program {
    struct afxdp_fast *skel;
    struct shorten *front;    /* With frags: see shorten.bpf.c. */
    int fd;                     /* Of the program. */
    int socket;
    int cpu;
    int n_cpus;
    struct xdp_counters *per_cpu;   /* Room for 'n_cpus'. */
    struct xdp_counters counters;   /* As last read, all CPUs together. */
    uint32_t tables_flags, hits_flags;      /* Of the maps in the slots. */
    volatile struct table_live *live;
    volatile struct table_target *targets;
    struct table_slot {
        size_t n;               /* Entries. */
        volatile struct table_counter *hits;    /* Of 'cpu', one an entry. */
        void *hits_map;
        size_t hits_size;
        uint32_t active;        /* For table_live. */
    } slots[2];
};

/* Loads the program with a table and a socket for queue 0.  No table is in
 * force. */
struct table_program *table_load(const struct table_opts *);
void table_unload(struct table_program *);

/* Puts the table of 'set' into 'slot', which must not be in force.  See
 * prefix_blob_build() for 'resolve'. */
void table_fill(struct table_program *, unsigned int slot,
                const struct prefix_set *set,
                struct prefix_verdict (*resolve)(const struct prefix_entry *,
                                                 void *aux), void *aux);

/* Puts the table in 'slot' in force, or none if it is TABLE_NO_SLOT; any
 * thread. */
#define TABLE_NO_SLOT 2
void table_activate(struct table_program *, unsigned int slot);

/* Makes target 'index' the device 'ifindex', for packets of 'mtu' bytes. */
void table_set_target(struct table_program *, uint32_t index, int ifindex,
                      uint32_t mtu, bool ready);

/* Makes a target take frames in several pieces. */
void table_set_target_sg(struct table_program *, uint32_t index);

/* Runs the program on a frame; stores its counters, all that there have
 * been.  Returns the verdict. */
uint32_t table_run(struct table_program *, const void *frame,
                   size_t len, struct xdp_counters *);

/* How a frame lies in memory. */
struct table_source {
    uint32_t meta;              /* Bytes of metadata, all 0xee. */
    uint32_t first_piece;       /* Bytes of the frame in the first piece of
                                 * memory, 0: as many as there can be.  Frames
                                 * that are not longer than a test run takes
                                 * at once are in one piece then. */
};

/* The cookie in 'rodata'. */
#define TEST_COOKIE 0x0123456789abcdefULL

/* What came of a frame. */
#define TABLE_MAX_FRAME 12288
struct table_outcome {
    int error;                  /* Positive errno of the test run. */
    uint32_t verdict;           /* XDP_REDIRECT, ... */
    uint8_t frame[TABLE_MAX_FRAME];     /* As it is now, */
    size_t len;
    uint8_t meta[512];          /* and what is in front. */
    size_t meta_len;
    uint64_t counted[XDP_N_COUNTERS];   /* By this frame. */
};

/* Runs the program on a frame.  'source' may be NULL. */
void table_run_frame(struct table_program *, const struct table_source *,
                     const void *frame, size_t len, struct table_outcome *);

#endif /* table.h */
