/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "kernel-features.h"

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel-constants.h"
#include "netdev-probe.h"
#include "openvswitch/dynamic-string.h"
#include "util.h"

/* Returns true where the kernel cannot be asked: what it does then is said
 * when a port is made. */
static bool
has_tx_skb_budget(void)
{
    uint32_t budget = 32;
    int fd = socket(AF_XDP, SOCK_RAW, 0);
    bool has = true;

    if (fd >= 0) {
        has = !setsockopt(fd, SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &budget,
                          sizeof budget);
        close(fd);
    }
    return has;
}

static bool
has_xdp_features(void)
{
    uint64_t features;
    int lo = if_nametoindex("lo");

    return !lo || netdev_probe_xdp_features(lo, &features);
}

/* Of no bytes, madvise() does nothing but look at the advice. */
static bool
has_populate_write(void)
{
    return !madvise(NULL, 0, MADV_POPULATE_WRITE);
}

static bool
has_collapse(void)
{
    return !madvise(NULL, 0, MADV_COLLAPSE);
}

static struct kernel_feature {
    const char *name;
    const char *consequence;
    bool (*probe)(void);
    bool has;
} features[] = {
#define KERNEL_FEATURE(ID, NAME, CONSEQUENCE) \
    { NAME, CONSEQUENCE, has_##ID, true },
    KERNEL_FEATURES(KERNEL_FEATURE)
#undef KERNEL_FEATURE
};

/* Asks the kernel.  Main thread, once, before any port. */
void
kernel_features_probe(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
        features[i].has = features[i].probe();
    }
}

/* Appends "NAME (CONSEQUENCE)" of each feature that the kernel lacks, with
 * 'separator' between them; nothing if it lacks none.  Any thread. */
void
kernel_features_format_lacks(struct ds *ds, const char *separator)
{
    const char *between = "";

    for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
        if (!features[i].has) {
            ds_put_format(ds, "%s%s (%s)", between, features[i].name,
                          features[i].consequence);
            between = separator;
        }
    }
}
