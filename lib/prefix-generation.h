/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_GENERATION_H
#define PREFIX_GENERATION_H 1

/* A prefix table in the kernel: the memory that the program reads, and the
 * counters of its entries.  Any thread, one at a time for each. */

#include <stddef.h>
#include <stdint.h>

#include "xdp-table-layout.h"
#include "xdp-table-maps.h"

struct prefix_blob;
struct prefix_generation;

int prefix_generation_create(const struct prefix_blob *, size_t n_entries,
                             struct prefix_generation **, char **errp);
void prefix_generation_destroy(struct prefix_generation *);

int prefix_generation_enter(const struct prefix_generation *,
                            const struct xdp_table_fds *, uint32_t slot,
                            char **errp);
void prefix_generation_leave(const struct xdp_table_fds *, uint32_t slot);

const struct table_line *prefix_generation_lines(
    const struct prefix_generation *);
size_t prefix_generation_size(const struct prefix_generation *);
uint32_t prefix_generation_stride(const struct prefix_generation *);
void prefix_generation_read(const struct prefix_generation *, size_t entry,
                            struct table_counter *);

#endif /* prefix-generation.h */
