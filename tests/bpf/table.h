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

/* Frames come from the CPU that table_load() pins the calling thread to. */
struct table_program {
    struct afxdp_fast *skel;
    int fd;                     /* Of the program. */
    int socket;
    int cpu;
    int n_cpus;
    struct xdp_counters *per_cpu;   /* Room for 'n_cpus'. */
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
    uint32_t n_loads;           /* Of tables. */
};

struct table_program *table_load(void);
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

/* Runs the program on a frame; stores its counters, all that there have
 * been.  Returns the verdict. */
uint32_t table_run(const struct table_program *, const void *frame,
                   size_t len, struct xdp_counters *);

#endif /* table.h */
