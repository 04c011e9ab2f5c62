/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "netdev-probe.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "netdev-genl.h"
#include "netlink.h"
#include "openvswitch/ofpbuf.h"
#include "socket-util.h"
#include "util.h"

/* Stores the xdp-features of a device in '*features', NETDEV_XDP_* bits, and
 * returns true; returns false if the kernel does not tell (before 6.3).  They
 * change while a device runs.  Main thread. */
bool
netdev_probe_xdp_features(int ifindex, uint64_t *features)
{
    struct ofpbuf request, *reply;
    bool known = false;

    if (netdev_genl_begin(&request, NETDEV_CMD_DEV_GET)) {
        return false;
    }
    nl_msg_put_u32(&request, NETDEV_A_DEV_IFINDEX, ifindex);
    if (!netdev_genl_transact(&request, &reply)) {
        known = netdev_genl_get_uint(reply, NETDEV_A_DEV_XDP_FEATURES,
                                     features);
        ofpbuf_delete(reply);
    }
    return known;
}

/* Returns true if frames of device 'ifname' start with an Ethernet header, or
 * if the kernel does not tell.  Any thread. */
bool
netdev_probe_is_ethernet(const char *ifname)
{
    struct ifreq ifr;

    memset(&ifr, 0, sizeof ifr);
    ovs_strzcpy(ifr.ifr_name, ifname, sizeof ifr.ifr_name);
    return (af_inet_ioctl(SIOCGIFHWADDR, &ifr)
            || ifr.ifr_hwaddr.sa_family == ARPHRD_ETHER);
}

/* Asks the driver for its channels.  They are 0 if it does not tell. */
static struct ethtool_channels
channels_from_ethtool(const char *ifname)
{
    struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };
    struct ifreq ifr;

    memset(&ifr, 0, sizeof ifr);
    ovs_strzcpy(ifr.ifr_name, ifname, sizeof ifr.ifr_name);
    ifr.ifr_data = (void *) &channels;
    if (af_inet_ioctl(SIOCETHTOOL, &ifr)) {
        memset(&channels, 0, sizeof channels);
    }
    return channels;
}

/* Counts the queues in sysfs whose names begin with 'prefix'.  Returns 0
 * without sysfs. */
static uint32_t
queues_from_sysfs(const char *ifname, const char *prefix)
{
    char *path = xasprintf("/sys/class/net/%s/queues", ifname);
    struct dirent *entry;
    uint32_t n = 0;
    DIR *dir;

    dir = opendir(path);
    free(path);
    if (!dir) {
        return 0;
    }
    while ((entry = readdir(dir)) != NULL) {
        n += !strncmp(entry->d_name, prefix, strlen(prefix));
    }
    closedir(dir);
    return n;
}

/* Returns the number of receive queues in use on device 'ifname', at least
 * 1.  The driver's own word counts, since a sysfs of another network
 * namespace may show another device of that name; drivers without channels
 * (tap) are asked there.  Any thread. */
uint32_t
netdev_probe_n_rx_queues(const char *ifname)
{
    struct ethtool_channels channels = channels_from_ethtool(ifname);
    uint32_t n = channels.combined_count + channels.rx_count;

    if (!n) {
        n = queues_from_sysfs(ifname, "rx-");
    }
    return MAX(n, 1);
}

/* Returns the number of transmit queues in use on device 'ifname', likewise,
 * but 0 if that is not known. */
uint32_t
netdev_probe_n_tx_queues(const char *ifname)
{
    struct ethtool_channels channels = channels_from_ethtool(ifname);
    uint32_t n = channels.combined_count + channels.tx_count;

    return n ? n : queues_from_sysfs(ifname, "tx-");
}

/* Returns true if frames may come from device 'ifname' whose checksum the
 * sender has left to hardware: from those that hand over what other software
 * sends, which are devices without hardware, and on a virtio bus.  What has
 * been on a wire has its checksum.  Any thread. */
bool
netdev_probe_leaves_checksums(const char *ifname)
{
    char *path = xasprintf("/sys/class/net/%s/device/subsystem", ifname);
    char bus[PATH_MAX];
    ssize_t n = readlink(path, bus, sizeof bus - 1);
    const char *name;

    free(path);
    if (n < 0) {
        return true;
    }
    bus[n] = '\0';
    name = strrchr(bus, '/');
    return !strcmp(name ? name + 1 : bus, "virtio");
}
