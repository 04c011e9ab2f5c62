/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "frame-memory.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/memfd.h>
#include <numa.h>
#include <numaif.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel-constants.h"
#include "openvswitch/vlog.h"
#include "util.h"

VLOG_DEFINE_THIS_MODULE(frame_memory);

/* A huge page of x86-64 and of arm64 with 4 KB granules. */
#define HUGE_PAGE_SIZE (2u << 20)

/* Returns true when 'memory' is backed by huge pages to at least nine tenths.
 * The kernel gives transparent huge pages as it can, so only the account it
 * keeps (ShmemPmdMapped in smaps) tells what was really given. */
static bool
is_mostly_huge(const struct frame_memory *memory)
{
    uintptr_t start, end, wanted = (uintptr_t) memory->base;
    bool ours = false, huge = false;
    unsigned long kb;
    char line[512];
    FILE *smaps;

    smaps = fopen("/proc/self/smaps", "r");
    if (!smaps) {
        return false;
    }
    while (fgets(line, sizeof line, smaps)) {
        if (sscanf(line, "%"SCNxPTR"-%"SCNxPTR" ", &start, &end) == 2) {
            ours = wanted >= start && wanted < end;
        } else if (ours && sscanf(line, "ShmemPmdMapped: %lu kB", &kb) == 1) {
            huge = kb >= memory->size / 1024 / 10 * 9;
            break;
        }
    }
    fclose(smaps);
    return huge;
}

/* Touches every page now, so that want of memory is an error here and not a
 * SIGBUS under traffic.  Kernels before 5.14 cannot say it, so there the
 * pages are written one by one. */
static int
populate(struct frame_memory *memory)
{
    if (!madvise(memory->base, memory->size, MADV_POPULATE_WRITE)) {
        return 0;
    } else if (errno != EINVAL) {
        return errno == EFAULT ? ENOMEM : errno;
    }
    memset(memory->base, 0, memory->size);
    return 0;
}

/* Reserves an address range that is aligned to huge pages and maps 'fd' over
 * it: shmem needs the alignment to be given huge pages at all. */
static int
map_aligned(int fd, struct frame_memory *memory)
{
    size_t span = memory->size + HUGE_PAGE_SIZE;
    uint8_t *range, *base;

    range = mmap(NULL, span, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) {
        return errno;
    }
    base = (uint8_t *) ROUND_UP((uintptr_t) range, HUGE_PAGE_SIZE);
    if (mmap(base, memory->size, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        int error = errno;

        munmap(range, span);
        return error;
    }
    if (base > range) {
        munmap(range, base - range);
    }
    munmap(base + memory->size, range + span - (base + memory->size));
    memory->base = base;
    return 0;
}

/* Asks for the 'size' bytes at 'base', not touched yet, to come from
 * 'numa_node', if there is one of that number.  Preferred, not bound: a node
 * without memory left gives slower frames, never a port that does not come
 * up.  Any thread. */
void
frame_memory_prefer_node(void *base, size_t size, int numa_node)
{
    if (numa_node >= 0 && numa_available() >= 0
        && numa_node <= numa_max_node()) {
        numa_set_bind_policy(0);
        numa_tonode_memory(base, size, numa_node);
    }
}

/* Returns how many bytes of 'memory', which is all present, lie elsewhere than
 * on 'numa_node', if that is not negative.  Asks for a page of each 2 MB: the
 * kernel turns to another node for good when one has no more to give.  What it
 * does not tell, having no nodes or no leave to, counts as well placed. */
static size_t
count_off_node(const struct frame_memory *memory, int numa_node)
{
    size_t off_node = 0;

    for (size_t i = 0; numa_node >= 0 && i < memory->size;
         i += HUGE_PAGE_SIZE) {
        void *page = memory->base + i;
        int node;               /* Or a negative errno. */

        if (!move_pages(0, 1, &page, NULL, &node, 0)
            && node >= 0 && node != numa_node) {
            off_node += HUGE_PAGE_SIZE;
        }
    }
    return off_node;
}

/* Maps 'memory->size' bytes of kind 'memory->kind' on 'numa_node'. */
static int
map_kind(struct frame_memory *memory, int numa_node)
{
    unsigned int flags = MFD_CLOEXEC;
    int error, fd;

    if (memory->kind == FRAME_MEMORY_HUGETLB) {
        flags |= MFD_HUGETLB | MFD_HUGE_2MB;
    }
    fd = memfd_create("afxdp-fast", flags);
    if (fd < 0) {
        return errno;
    }
    error = ftruncate(fd, memory->size) ? errno : map_aligned(fd, memory);
    close(fd);
    if (error) {
        return error;
    }

    frame_memory_prefer_node(memory->base, memory->size, numa_node);
    if (memory->kind == FRAME_MEMORY_THP) {
        madvise(memory->base, memory->size, MADV_HUGEPAGE);
    }
    error = populate(memory);
    if (!error && memory->kind == FRAME_MEMORY_THP
        && !is_mostly_huge(memory)) {
        /* Where shmem_enabled is "never", only an explicit collapse (Linux
         * 6.1) makes huge pages. */
        madvise(memory->base, memory->size, MADV_COLLAPSE);
        if (!is_mostly_huge(memory)) {
            memory->kind = FRAME_MEMORY_PAGES;
        }
    }
    if (!error && (madvise(memory->base, memory->size, MADV_DONTFORK)
                   || madvise(memory->base, memory->size, MADV_DONTDUMP))) {
        error = errno;
    }
    if (error) {
        frame_memory_unmap(memory);
    } else {
        memory->off_node = count_off_node(memory, numa_node);
    }
    return error;
}

/* Maps at least 'size' bytes for frames, near 'numa_node' where that is not
 * negative, all of it present and zeroed, and describes it in '*memory'.
 * Returns 0 or a positive errno (ENOMEM when even ordinary pages are not to
 * be had).  Any thread. */
int
frame_memory_map(size_t size, int numa_node, struct frame_memory *memory)
{
    int error;

    memory->size = ROUND_UP(size, HUGE_PAGE_SIZE);
    memory->kind = FRAME_MEMORY_HUGETLB;
    error = map_kind(memory, numa_node);
    if (error) {
        VLOG_DBG("no huge pages for %"PRIuSIZE" bytes (%s)",
                 memory->size, ovs_strerror(error));
        memory->kind = FRAME_MEMORY_THP;
        error = map_kind(memory, numa_node);
    }
    return error;
}

/* Gives the memory back to the system.  The caller has closed every socket
 * that registered it.  Any thread. */
void
frame_memory_unmap(struct frame_memory *memory)
{
    munmap(memory->base, memory->size);
    memory->base = NULL;
}

/* Returns the name of 'kind' as status shows it. */
const char *
frame_memory_kind_to_string(enum frame_memory_kind kind)
{
    switch (kind) {
    case FRAME_MEMORY_HUGETLB: return "hugetlb-2M";
    case FRAME_MEMORY_THP: return "transparent-2M";
    case FRAME_MEMORY_PAGES: return "4K";
    default: OVS_NOT_REACHED();
    }
}
