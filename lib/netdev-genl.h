/* SPDX-License-Identifier: Apache-2.0 */

#ifndef NETDEV_GENL_H
#define NETDEV_GENL_H 1

/* Requests to the kernel's generic netlink family "netdev" (Linux 6.3), which
 * tells of devices, queues and NAPIs: linux/netdev.h, of which Debian 12's
 * headers have nothing. */

#include <stdbool.h>
#include <stdint.h>

struct ofpbuf;

enum {
    NETDEV_CMD_DEV_GET = 1,
    NETDEV_CMD_DEV_ADD_NTF = 2,         /* Of the multicast group "mgmt", as */
    NETDEV_CMD_DEV_DEL_NTF = 3,         /* are the two that follow. */
    NETDEV_CMD_DEV_CHANGE_NTF = 4,
    NETDEV_CMD_QUEUE_GET = 10,          /* Linux 6.8. */
    NETDEV_CMD_NAPI_GET = 11,           /* Linux 6.8. */
    NETDEV_CMD_NAPI_SET = 14,           /* Linux 6.13. */
};

enum {
    NETDEV_A_DEV_IFINDEX = 1,
    NETDEV_A_DEV_XDP_FEATURES = 3,
};

enum {
    NETDEV_A_QUEUE_ID = 1,
    NETDEV_A_QUEUE_IFINDEX = 2,
    NETDEV_A_QUEUE_TYPE = 3,
    NETDEV_A_QUEUE_NAPI_ID = 4,
};

enum { NETDEV_QUEUE_TYPE_RX = 0 };

enum {
    NETDEV_A_NAPI_IFINDEX = 1,
    NETDEV_A_NAPI_ID = 2,
    NETDEV_A_NAPI_DEFER_HARD_IRQS = 5,  /* This and the next: Linux 6.13. */
    NETDEV_A_NAPI_GRO_FLUSH_TIMEOUT = 6,
};

int netdev_genl_begin(struct ofpbuf *request, uint8_t command);
int netdev_genl_transact(struct ofpbuf *request, struct ofpbuf **replyp);
bool netdev_genl_get_uint(const struct ofpbuf *reply, uint16_t type,
                          uint64_t *value);

#endif /* netdev-genl.h */
