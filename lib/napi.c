/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "napi.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "netdev-genl.h"
#include "netlink.h"
#include "openvswitch/ofpbuf.h"
#include "socket-util.h"
#include "util.h"

/* A NAPI's own values: netlink. */

static int
set_own_values(uint32_t napi_id, const struct napi_values *values)
{
    struct ofpbuf request;
    int error = netdev_genl_begin(&request, NETDEV_CMD_NAPI_SET);

    if (error) {
        return error;
    }
    nl_msg_put_u32(&request, NETDEV_A_NAPI_ID, napi_id);
    nl_msg_put_u32(&request, NETDEV_A_NAPI_DEFER_HARD_IRQS,
                   values->defer_hard_irqs);
    nl_msg_put_u64(&request, NETDEV_A_NAPI_GRO_FLUSH_TIMEOUT,
                   values->gro_flush_timeout);
    return netdev_genl_transact(&request, NULL);
}

/* ENOENT for a NAPI that another device has by now. */
static int
get_own_values(const struct napi_owner *owner, struct napi_values *values)
{
    uint64_t ifindex, defer, timeout;
    struct ofpbuf request, *reply;
    int error = netdev_genl_begin(&request, NETDEV_CMD_NAPI_GET);

    if (error) {
        return error;
    }
    nl_msg_put_u32(&request, NETDEV_A_NAPI_ID, owner->napi_id);
    error = netdev_genl_transact(&request, &reply);
    if (error) {
        return error;
    }
    if (!netdev_genl_get_uint(reply, NETDEV_A_NAPI_IFINDEX, &ifindex)
        || ifindex != owner->ifindex) {
        error = ENOENT;
    } else if (!netdev_genl_get_uint(reply, NETDEV_A_NAPI_DEFER_HARD_IRQS,
                                     &defer)
               || !netdev_genl_get_uint(reply,
                                        NETDEV_A_NAPI_GRO_FLUSH_TIMEOUT,
                                        &timeout)) {
        error = EOPNOTSUPP;
    } else {
        values->defer_hard_irqs = defer;
        values->gro_flush_timeout = timeout;
    }
    ofpbuf_delete(reply);
    return error;
}

/* Returns true if NAPIs have values of their own (Linux 6.13).  No NAPI has
 * the id 0, so this changes nothing. */
bool
napi_has_own_values(void)
{
    static const struct napi_values none;

    return set_own_values(0, &none) != EOPNOTSUPP;
}

/* Returns the id of the NAPI that serves a receive queue of a device, 0 if the
 * kernel does not know it. */
uint32_t
napi_of_rx_queue(int ifindex, uint32_t queue)
{
    struct ofpbuf request, *reply;
    uint64_t napi_id = 0;

    if (!netdev_genl_begin(&request, NETDEV_CMD_QUEUE_GET)) {
        nl_msg_put_u32(&request, NETDEV_A_QUEUE_IFINDEX, ifindex);
        nl_msg_put_u32(&request, NETDEV_A_QUEUE_ID, queue);
        nl_msg_put_u32(&request, NETDEV_A_QUEUE_TYPE, NETDEV_QUEUE_TYPE_RX);
        if (!netdev_genl_transact(&request, &reply)) {
            netdev_genl_get_uint(reply, NETDEV_A_QUEUE_NAPI_ID, &napi_id);
            ofpbuf_delete(reply);
        }
    }
    return napi_id;
}

/* Returns true if there is such a device and it is down: then its NAPIs are
 * not there. */
bool
napi_device_is_down(int ifindex)
{
    struct ifreq ifr;

    memset(&ifr, 0, sizeof ifr);
    return (if_indextoname(ifindex, ifr.ifr_name)
            && !af_inet_ioctl(SIOCGIFFLAGS, &ifr)
            && !(ifr.ifr_flags & IFF_UP));
}

/* A device's values: sysfs. */

/* Opens a file of the device in sysfs.  Returns its descriptor or a negative
 * errno. */
static int
open_file(const char *ifname, const char *name, int flags)
{
    char *path = xasprintf("/sys/class/net/%s/%s", ifname, name);
    int fd = open(path, flags | O_CLOEXEC);

    free(path);
    return fd < 0 ? -errno : fd;
}

static int
read_number(const char *ifname, const char *name, unsigned long long *number)
{
    char text[32];
    ssize_t n;
    int fd, error;

    fd = open_file(ifname, name, O_RDONLY);
    if (fd < 0) {
        return -fd;
    }
    n = read(fd, text, sizeof text - 1);
    error = n < 0 ? errno : 0;
    close(fd);
    if (!error) {
        text[n] = '\0';
        *number = strtoull(text, NULL, 10);
    }
    return error;
}

static int
write_number(const char *ifname, const char *name, unsigned long long number)
{
    char *text = xasprintf("%llu\n", number);
    int fd = open_file(ifname, name, O_WRONLY);
    int error = 0;

    if (fd < 0) {
        error = -fd;
    } else {
        if (write(fd, text, strlen(text)) < 0) {
            error = errno;
        }
        close(fd);
    }
    free(text);
    return error;
}

/* Stores the name of a device.  A sysfs of another network namespace may show
 * another device under that name: ENODEV then. */
static int
find_device(int ifindex, char ifname[IF_NAMESIZE])
{
    unsigned long long number;
    int error;

    if (!if_indextoname(ifindex, ifname)) {
        return ENODEV;
    }
    error = read_number(ifname, "ifindex", &number);
    return error ? error : number != ifindex ? ENODEV : 0;
}

static int
get_device_values(int ifindex, struct napi_values *values)
{
    unsigned long long defer, timeout;
    char ifname[IF_NAMESIZE];
    int error;

    error = find_device(ifindex, ifname);
    if (!error) {
        error = read_number(ifname, "napi_defer_hard_irqs", &defer);
    }
    if (!error) {
        error = read_number(ifname, "gro_flush_timeout", &timeout);
    }
    if (!error) {
        values->defer_hard_irqs = defer;
        values->gro_flush_timeout = timeout;
    }
    return error;
}

static int
set_device_values(int ifindex, const struct napi_values *values)
{
    char ifname[IF_NAMESIZE];
    int error;

    error = find_device(ifindex, ifname);
    if (!error) {
        error = write_number(ifname, "napi_defer_hard_irqs",
                             values->defer_hard_irqs);
    }
    if (!error) {
        error = write_number(ifname, "gro_flush_timeout",
                             values->gro_flush_timeout);
    }
    return error;
}

/* Both. */

/* Stores the values of 'owner'.  Returns 0 or a positive errno: ENOENT if
 * there is no such NAPI, for instance because its device is down, ENODEV if
 * there is no such device. */
int
napi_get_values(const struct napi_owner *owner, struct napi_values *values)
{
    return (owner->napi_id
            ? get_own_values(owner, values)
            : get_device_values(owner->ifindex, values));
}

/* Sets the values of 'owner'.  Returns 0 or a positive errno, as above, or
 * EPERM or EACCES; of a device's values one may be set then. */
int
napi_set_values(const struct napi_owner *owner,
                const struct napi_values *values)
{
    return (owner->napi_id
            ? set_own_values(owner->napi_id, values)
            : set_device_values(owner->ifindex, values));
}
