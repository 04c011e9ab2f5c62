/* SPDX-License-Identifier: Apache-2.0 */

/* What the kernel lacks, on kernels that are played by us. */

#include <config.h>
#include "kernel-features.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "kernel-constants.h"
#include "netdev-probe.h"
#include "openvswitch/dynamic-string.h"
#include "util.h"

#include "unit.h"

static bool has_budget, has_features;
static int known_advice;                /* The highest. */

int __wrap_setsockopt(int, int, int, const void *, socklen_t);
int __wrap_madvise(void *, size_t, int);

int
__wrap_setsockopt(int fd OVS_UNUSED, int level, int name,
                  const void *value OVS_UNUSED, socklen_t size OVS_UNUSED)
{
    CHECK_INT(level, SOL_XDP);
    CHECK_INT(name, XDP_MAX_TX_SKB_BUDGET);
    errno = ENOPROTOOPT;
    return has_budget ? 0 : -1;
}

int
__wrap_madvise(void *p OVS_UNUSED, size_t size, int advice)
{
    CHECK_INT(size, 0);
    errno = EINVAL;
    return advice <= known_advice ? 0 : -1;
}

bool
netdev_probe_xdp_features(int ifindex OVS_UNUSED,
                          uint64_t *features OVS_UNUSED)
{
    return has_features;
}

static void
check_lacks(const char *expected)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    kernel_features_probe();
    kernel_features_format_lacks(&ds, "; ");
    if (strcmp(ds_cstr(&ds), expected)) {
        unit_fail(OVS_SOURCE_LOCATOR, "it is said to lack \"%s\", not \"%s\"",
                  ds_cstr(&ds), expected);
    }
    ds_destroy(&ds);
}

static void
kernels(void)
{
    has_budget = has_features = true;
    known_advice = MADV_COLLAPSE;
    check_lacks("");

    has_budget = false;
    check_lacks("tx-skb-budget (more system calls to send in copy mode)");

    /* Debian 12's, 6.1. */
    has_features = false;
    check_lacks("tx-skb-budget (more system calls to send in copy mode); "
                "xdp-features (modes are found by trying them)");

    known_advice = MADV_POPULATE_WRITE - 1;
    has_features = has_budget = true;
    check_lacks("populate-write (want of memory may end the daemon); "
                "collapse (4 KB pages without hugepages where shmem_enabled "
                "is \"never\")");
}

int
main(void)
{
    unit_run("what a kernel lacks is found by asking it", kernels);
    return unit_exit_status();
}
