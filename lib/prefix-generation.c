/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-generation.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "prefix-trie.h"
#include "util.h"

/* Flags of the inner maps, as in bpf/table-maps.h: the kernel compares. */
#define ARRAY_FLAGS (BPF_F_INNER_MAP | BPF_F_MMAPABLE)

struct prefix_generation {
    int table_fd, hits_fd;
    size_t n_entries, n_lines;
    uint32_t stride;            /* See struct table_live. */
    int n_cpus;
    struct table_line *lines;   /* These two: the maps' own memory. */
    struct table_counter *hits;
    size_t lines_size, hits_size;       /* In bytes, whole pages. */
};

/* Makes an array map of 'n' values of 'value_size' bytes and returns it, or a
 * negative errno. */
static int
create_array(const char *name, size_t n, size_t value_size)
{
    LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = ARRAY_FLAGS);
    int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t),
                            value_size, n, &opts);

    return fd < 0 ? -errno : fd;
}

static size_t
page_align(size_t size)
{
    return ROUND_UP(size, get_page_size());
}

/* Returns the memory of the map 'fd', or NULL and an error in errno. */
static void *
map_memory(int fd, size_t size, int prot)
{
    void *p = mmap(NULL, size, prot, MAP_SHARED, fd, 0);

    return p == MAP_FAILED ? NULL : p;
}

/* Copies the table into its map. */
static int
fill_table(const struct prefix_generation *gen, const struct prefix_blob *blob)
{
    void *p = map_memory(gen->table_fd, gen->lines_size,
                         PROT_READ | PROT_WRITE);

    if (!p) {
        return errno;
    }
    memcpy(p, blob->lines, gen->n_lines * sizeof *blob->lines);
    munmap(p, gen->lines_size);
    return 0;
}

/* Reads one of the 'n' values in each page of the array 'fd', through the
 * kernel's mapping of it, which the program uses and nobody has used yet.
 * Where a hypervisor keeps page tables of its own, the first use of a page
 * costs microseconds: with 10,000 prefixes, all that the program is asked at
 * once after a swap, 8 % of a second. */
static void
touch_pages(int fd, size_t n, size_t value_size)
{
    size_t per_page = get_page_size() / value_size;
    uint64_t value[TABLE_LINE / 8];

    for (uint32_t i = 0; i < n; i += per_page) {
        bpf_map_lookup_elem(fd, &i, value);
    }
}

static int
create_maps(struct prefix_generation *gen, const struct prefix_blob *blob)
{
    size_t n_hits = (size_t) gen->stride * gen->n_cpus;
    int error;

    gen->table_fd = create_array("prefix_table", gen->n_lines,
                                 sizeof(struct table_line));
    if (gen->table_fd < 0) {
        return -gen->table_fd;
    }
    gen->hits_fd = create_array("prefix_hits", n_hits,
                                sizeof(struct table_counter));
    if (gen->hits_fd < 0) {
        return -gen->hits_fd;
    }
    gen->lines_size = page_align(gen->n_lines * sizeof(struct table_line));
    gen->hits_size = page_align(n_hits * sizeof(struct table_counter));
    error = fill_table(gen, blob);
    if (error) {
        return error;
    }
    touch_pages(gen->table_fd, gen->n_lines, sizeof(struct table_line));
    touch_pages(gen->hits_fd, n_hits, sizeof(struct table_counter));
    gen->lines = map_memory(gen->table_fd, gen->lines_size, PROT_READ);
    gen->hits = map_memory(gen->hits_fd, gen->hits_size, PROT_READ);
    return gen->lines && gen->hits ? 0 : errno;
}

/* Brings the table 'blob' with 'n_entries' entries into the kernel, with
 * counters that are 0.  Returns 0 and stores it in '*genp', or a positive
 * errno, NULL, and why in '*errp', which the caller frees. */
int
prefix_generation_create(const struct prefix_blob *blob, size_t n_entries,
                         struct prefix_generation **genp, char **errp)
{
    struct prefix_generation *gen = xzalloc(sizeof *gen);
    int error;

    gen->table_fd = gen->hits_fd = -1;
    gen->n_entries = n_entries;
    gen->n_lines = blob->n_lines;
    /* Two counters to a cache line, which CPUs must not share. */
    gen->stride = ROUND_UP(MAX(n_entries, 1), 2);
    gen->n_cpus = libbpf_num_possible_cpus();
    error = gen->n_cpus < 0 ? -gen->n_cpus : create_maps(gen, blob);
    if (error) {
        *errp = xasprintf("the kernel has no memory for a prefix table of "
                          "%"PRIuSIZE" entries, %"PRIuSIZE" KB and %d times "
                          "%"PRIuSIZE" KB of counters (%s)", n_entries,
                          gen->n_lines * sizeof(struct table_line) >> 10,
                          gen->n_cpus,
                          gen->stride * sizeof(struct table_counter) >> 10,
                          ovs_strerror(error));
        prefix_generation_destroy(gen);
        gen = NULL;
    }
    *genp = gen;
    return error;
}

/* Frees 'gen', which may be NULL.  Slots that it is in keep it alive. */
void
prefix_generation_destroy(struct prefix_generation *gen)
{
    if (gen) {
        if (gen->hits) {
            munmap(gen->hits, gen->hits_size);
        }
        if (gen->lines) {
            munmap(gen->lines, gen->lines_size);
        }
        if (gen->hits_fd >= 0) {
            close(gen->hits_fd);
        }
        if (gen->table_fd >= 0) {
            close(gen->table_fd);
        }
        free(gen);
    }
}

static int
set_slot(int outer_fd, uint32_t slot, int inner_fd)
{
    return bpf_map_update_elem(outer_fd, &slot, &inner_fd, BPF_ANY)
           ? errno : 0;
}

/* Puts 'gen' into 'slot', which must not be in force.  Waits for the kernel's
 * grace period twice, some 30 ms.  Returns 0, or a positive errno and why in
 * '*errp', which the caller frees. */
int
prefix_generation_enter(const struct prefix_generation *gen,
                        const struct xdp_table_fds *fds, uint32_t slot,
                        char **errp)
{
    int error = set_slot(fds->hits, slot, gen->hits_fd);

    if (!error) {
        error = set_slot(fds->tables, slot, gen->table_fd);
    }
    if (error) {
        *errp = xasprintf("entering the prefix table into slot %"PRIu32" "
                          "failed (%s)", slot, ovs_strerror(error));
    }
    return error;
}

/* Empties 'slot', which has been put out of force.  When it returns, after a
 * grace period, no program reads or counts there any more. */
void
prefix_generation_leave(const struct xdp_table_fds *fds, uint32_t slot)
{
    bpf_map_delete_elem(fds->tables, &slot);
    bpf_map_delete_elem(fds->hits, &slot);
}

/* Returns what the table takes in the kernel, in bytes, all CPUs together. */
size_t
prefix_generation_size(const struct prefix_generation *gen)
{
    return gen->lines_size + gen->hits_size;
}

/* Returns the table's memory, which the program reads. */
const struct table_line *
prefix_generation_lines(const struct prefix_generation *gen)
{
    return gen->lines;
}

uint32_t
prefix_generation_stride(const struct prefix_generation *gen)
{
    return gen->stride;
}

/* Stores what 'entry' has counted, all CPUs together, in '*sum'. */
void
prefix_generation_read(const struct prefix_generation *gen, size_t entry,
                       struct table_counter *sum)
{
    memset(sum, 0, sizeof *sum);
    for (int cpu = 0; cpu < gen->n_cpus; cpu++) {
        const struct table_counter *c = &gen->hits[cpu * (size_t) gen->stride
                                                   + entry];

        sum->packets += c->packets;
        sum->bytes += c->bytes;
        sum->last = MAX(sum->last, c->last);
    }
}
