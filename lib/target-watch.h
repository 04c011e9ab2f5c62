/* SPDX-License-Identifier: Apache-2.0 */

#ifndef TARGET_WATCH_H
#define TARGET_WATCH_H 1

/* What the kernel tells of a device that frames are redirected to, and hearing
 * of it when that changes.  Main thread. */

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

/* Of linux/if.h, which does not go with net/if.h. */
#ifndef IFF_LOWER_UP
#define IFF_LOWER_UP 0x10000
#endif

struct target_device {
    char name[IFNAMSIZ];
    unsigned int flags;         /* IFF_*, IFF_LOWER_UP among them. */
    uint32_t mtu;
    bool veth;
    bool features_known;        /* Not before Linux 6.3. */
    uint64_t features;          /* NETDEV_XDP_*. */
};

int target_watch_probe(int ifindex, struct target_device *);

/* Something of device 'ifindex' has changed, which is called 'name' where that
 * is known and not NULL; 0: of any device. */
typedef void target_watch_func(int ifindex, const char *name);

void target_watch_start(target_watch_func *);
void target_watch_stop(void);
void target_watch_run(void);
void target_watch_wait(void);

#endif /* target-watch.h */
