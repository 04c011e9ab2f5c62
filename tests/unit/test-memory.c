/* SPDX-License-Identifier: Apache-2.0 */

/* frame-memory.h: which pages frames get, and how they are mapped. */

#include <config.h>
#include "frame-memory.h"

#include <errno.h>
#include <linux/memfd.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util.h"
#include "unit.h"

#define MB (1u << 20)

/* A system without huge pages (ld --wrap). */
static bool no_huge_pages;

int __real_memfd_create(const char *, unsigned int);
int __wrap_memfd_create(const char *, unsigned int);

int
__wrap_memfd_create(const char *name, unsigned int flags)
{
    if (no_huge_pages && flags & MFD_HUGETLB) {
        errno = ENOSYS;
        return -1;
    }
    return __real_memfd_create(name, flags);
}

/* Returns the number after 'key' in /proc/meminfo. */
static unsigned long
meminfo(const char *key)
{
    FILE *stream = fopen("/proc/meminfo", "r");
    unsigned long value = 0;
    char line[128];

    ovs_assert(stream);
    while (fgets(line, sizeof line, stream)) {
        if (!strncmp(line, key, strlen(key))) {
            ovs_scan(line + strlen(key), ": %lu", &value);
            break;
        }
    }
    fclose(stream);
    return value;
}

/* Returns true if the line VmFlags of the mapping at 'address' has 'flag',
 * two letters (see proc(5)). */
static bool
has_vm_flag(const void *address, const char *flag)
{
    FILE *stream = fopen("/proc/self/smaps", "r");
    bool inside = false, found = false;
    uintptr_t start, end;
    char line[512];

    ovs_assert(stream);
    while (fgets(line, sizeof line, stream)) {
        if (sscanf(line, "%"SCNxPTR"-%"SCNxPTR" ", &start, &end) == 2) {
            inside = ((uintptr_t) address >= start
                      && (uintptr_t) address < end);
        } else if (inside && !strncmp(line, "VmFlags:", 8)) {
            found = strstr(line, flag) != NULL;
        }
    }
    fclose(stream);
    return found;
}

static bool
is_zeroed(const struct frame_memory *memory)
{
    for (size_t i = 0; i < memory->size; i++) {
        if (memory->base[i]) {
            return false;
        }
    }
    return true;
}

/* Maps memory and checks what has to be so whatever its pages are. */
static bool
map(size_t size, struct frame_memory *memory)
{
    if (!CHECK_INT(frame_memory_map(size, 0, memory), 0)) {
        return false;
    }
    CHECK_INT(memory->size, ROUND_UP(size, 2 * MB));
    CHECK_INT((uintptr_t) memory->base % (2 * MB), 0);
    CHECK(is_zeroed(memory));
    memset(memory->base, 0xa5, memory->size);
    CHECK(has_vm_flag(memory->base, " dc"));
    CHECK(has_vm_flag(memory->base, " dd"));
    return true;
}

static void
unmap(struct frame_memory *memory)
{
    const uint8_t *base = memory->base;
    unsigned char resident;

    frame_memory_unmap(memory);
    CHECK(!memory->base);
    CHECK(mincore((void *) base, 1, &resident) == -1 && errno == ENOMEM);
}

/* Others may take or return huge pages meanwhile, so this asks what the
 * mapping is made of. */
static void
huge_pages(void)
{
    struct frame_memory memory;

    if (map(8 * MB, &memory)) {
        CHECK((memory.kind == FRAME_MEMORY_HUGETLB)
              == has_vm_flag(memory.base, " ht"));
        unmap(&memory);
    }
}

static void
huge_pages_first(void)
{
    struct frame_memory memory;
    unsigned long n = meminfo("HugePages_Free") - meminfo("HugePages_Rsvd");

    if (map(2 * MB, &memory)) {
        CHECK(n == 0 || memory.kind == FRAME_MEMORY_HUGETLB);
        unmap(&memory);
    }
}

static void
without_huge_pages(void)
{
    struct frame_memory memory;

    no_huge_pages = true;
    if (map(8 * MB, &memory)) {
        CHECK(memory.kind != FRAME_MEMORY_HUGETLB);
        CHECK(!has_vm_flag(memory.base, " ht"));
        unmap(&memory);
    }
    no_huge_pages = false;
}

/* A descriptor would keep the memory when the mapping is gone. */
static void
no_descriptor(void)
{
    int before = dup(0);
    struct frame_memory memory;

    close(before);
    if (map(2 * MB, &memory)) {
        int after = dup(0);

        CHECK_INT(after, before);
        close(after);
        unmap(&memory);
    }
}

static void
odd_size(void)
{
    struct frame_memory memory;

    if (map(2 * MB + 4096, &memory)) {
        unmap(&memory);
    }
}

/* Where the kernel has nodes at all, it tells where memory is. */
static void
unknown_node(void)
{
    static const int nodes[] = { -1, 63, 1000000 };
    bool has_nodes = !access("/sys/devices/system/node/node0", F_OK);

    for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
        struct frame_memory memory;

        if (CHECK_INT(frame_memory_map(4 * MB, nodes[i], &memory), 0)) {
            CHECK_INT(memory.off_node,
                      has_nodes && nodes[i] >= 0 ? 4 * MB : 0);
            unmap(&memory);
        }
    }
}

/* Returns what frame_memory_map() returns in a process whose 'resource' is
 * limited to 'limit', -1 if that crashes. */
static int
map_with_limit(int resource, rlim_t limit)
{
    pid_t pid = fork();
    int status;

    if (!pid) {
        struct rlimit rlimit = { limit, limit };
        struct frame_memory memory;

        ovs_assert(!setrlimit(resource, &rlimit));
        _exit(frame_memory_map(64 * MB, 0, &memory));
    }
    ovs_assert(pid > 0 && waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
no_memory(void)
{
    CHECK_INT(map_with_limit(RLIMIT_AS, 32 * MB), ENOMEM);
    CHECK_INT(map_with_limit(RLIMIT_NOFILE, 0), EMFILE);
}

static void
names(void)
{
    CHECK(!strcmp(frame_memory_kind_to_string(FRAME_MEMORY_HUGETLB),
                  "hugetlb-2M"));
    CHECK(!strcmp(frame_memory_kind_to_string(FRAME_MEMORY_THP),
                  "transparent-2M"));
    CHECK(!strcmp(frame_memory_kind_to_string(FRAME_MEMORY_PAGES), "4K"));
}

int
main(void)
{
    unit_run("memory is aligned, zeroed, not inherited, not dumped and called "
             "what it is", huge_pages);
    unit_run("huge pages are taken where there are any", huge_pages_first);
    unit_run("there is memory without huge pages", without_huge_pages);
    unit_run("no file descriptor stays open", no_descriptor);
    unit_run("a size between huge pages is rounded up", odd_size);
    unit_run("a NUMA node that is not there does no harm, and is told of",
             unknown_node);
    unit_run("want of memory or files is an error", no_memory);
    unit_run("each kind of pages has a name", names);
    return unit_exit_status();
}
