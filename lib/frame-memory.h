/* SPDX-License-Identifier: Apache-2.0 */

#ifndef FRAME_MEMORY_H
#define FRAME_MEMORY_H 1

/* Where the bytes of frames live.
 *
 * One mapping a zone: a memfd on the zone's NUMA node, of 2 MB huge pages
 * where the system has them to give, else of transparent huge pages, else of
 * ordinary pages.  It is not inherited by forks (a child sharing pages that
 * the kernel has pinned would copy them on write) and is left out of core
 * dumps (it holds other people's traffic). */

#include <stddef.h>
#include <stdint.h>

/* The best first. */
enum frame_memory_kind {
    FRAME_MEMORY_HUGETLB,       /* 2 MB pages of vm.nr_hugepages. */
    FRAME_MEMORY_THP,           /* Transparent huge pages. */
    FRAME_MEMORY_PAGES,         /* Pages of 4 KB. */
};

struct frame_memory {
    uint8_t *base;              /* 2 MB aligned. */
    size_t size;                /* Bytes, a multiple of 2 MB. */
    enum frame_memory_kind kind;
    size_t off_node;            /* Bytes not on the node that was asked for. */
};

int frame_memory_map(size_t size, int numa_node, struct frame_memory *);
void frame_memory_prefer_node(void *, size_t size, int numa_node);
void frame_memory_unmap(struct frame_memory *);
const char *frame_memory_kind_to_string(enum frame_memory_kind);

#endif /* frame-memory.h */
