/* SPDX-License-Identifier: Apache-2.0 */

/* A library to preload: NUMA nodes that the machine does not have.
 *
 *   FAKE_NUMA_DEVICES   DEV=NODE,...: what the kernel says of where devices
 *                       are (/sys/class/net/DEV/device/numa_node)
 *   FAKE_NUMA_NODES     as many nodes as libnuma then knows; without it
 *                       libnuma and the kernel answer for themselves
 *   FAKE_NUMA_EMPTY     the one of them that has no memory
 *   FAKE_NUMA_LOG       a file for what is asked for: "node NODE: SIZE"
 *
 * With FAKE_NUMA_NODES memory is where it was asked for, or, if that is the
 * empty node, on node 0. */

#include <dlfcn.h>
#include <numa.h>
#include <numaif.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANGES 256

/* Memory that was asked for; later entries are of newer mappings. */
static struct range {
    const char *base;
    size_t size;
    int node;
} ranges[MAX_RANGES];
static size_t n_ranges;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Returns the number in the environment, 'missing' if it is not there. */
static int
number(const char *name, int missing)
{
    const char *text = getenv(name);

    return text ? atoi(text) : missing;
}

static int
n_nodes(void)
{
    return number("FAKE_NUMA_NODES", 0);
}

/* Returns what is said of the device whose node 'path' tells, NULL if that is
 * nothing or 'path' another file. */
static const char *
find_device(const char *path)
{
    const char *entry = getenv("FAKE_NUMA_DEVICES");
    char dev[32];
    int end = 0;

    sscanf(path, "/sys/class/net/%31[^/]/device/numa_node%n", dev, &end);
    if (!end || path[end]) {
        return NULL;
    }
    for (; entry; entry = strchr(entry, ',')) {
        entry += *entry == ',';
        if (!strncmp(entry, dev, strlen(dev)) && entry[strlen(dev)] == '=') {
            return entry + strlen(dev) + 1;
        }
    }
    return NULL;
}

FILE *
fopen(const char *path, const char *mode)
{
    static FILE *(*real)(const char *, const char *);
    const char *node = find_device(path);

    if (node) {
        return fmemopen((char *) node, strcspn(node, ","), "r");
    } else if (!real) {
        *(void **) &real = dlsym(RTLD_NEXT, "fopen");
    }
    return real(path, mode);
}

int
numa_available(void)
{
    static int (*real)(void);

    if (n_nodes()) {
        return 0;
    } else if (!real) {
        *(void **) &real = dlsym(RTLD_NEXT, "numa_available");
    }
    return real();
}

int
numa_max_node(void)
{
    static int (*real)(void);

    if (n_nodes()) {
        return n_nodes() - 1;
    } else if (!real) {
        *(void **) &real = dlsym(RTLD_NEXT, "numa_max_node");
    }
    return real();
}

int
numa_num_configured_nodes(void)
{
    return numa_max_node() + 1;
}

/* A node that is not there would be an error of the kernel. */
void
numa_tonode_memory(void *base, size_t size, int node)
{
    const char *name = getenv("FAKE_NUMA_LOG");
    FILE *log = name ? fopen(name, "a") : NULL;

    pthread_mutex_lock(&mutex);
    if (n_ranges < MAX_RANGES) {
        ranges[n_ranges++] = (struct range) { base, size, node };
    }
    pthread_mutex_unlock(&mutex);
    if (log) {
        fprintf(log, "node %d: %zu\n", node, size);
        fclose(log);
    }
}

static int
node_of(const char *page)
{
    int node = 0;

    pthread_mutex_lock(&mutex);
    for (size_t i = n_ranges; i-- > 0;) {
        if (page >= ranges[i].base && page < ranges[i].base + ranges[i].size) {
            node = ranges[i].node;
            break;
        }
    }
    pthread_mutex_unlock(&mutex);
    return node == number("FAKE_NUMA_EMPTY", -1) ? 0 : node;
}

/* Only asks, with 'nodes' NULL. */
long
move_pages(int pid, unsigned long n, void **pages, const int *nodes,
           int *status, int flags)
{
    static long (*real)(int, unsigned long, void **, const int *, int *, int);

    if (!n_nodes() || nodes) {
        if (!real) {
            *(void **) &real = dlsym(RTLD_NEXT, "move_pages");
        }
        return real(pid, n, pages, nodes, status, flags);
    }
    for (unsigned long i = 0; i < n; i++) {
        status[i] = node_of(pages[i]);
    }
    return 0;
}
