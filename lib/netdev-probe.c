/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "netdev-probe.h"

#include <dirent.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/types.h>

#include "netdev-linux.h"
#include "socket-util.h"
#include "util.h"

/* Asks the driver for its channels.  Returns 0 if it does not tell. */
static uint32_t
channels_from_ethtool(const char *ifname)
{
    struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };
    struct ifreq ifr;

    memset(&ifr, 0, sizeof ifr);
    ovs_strzcpy(ifr.ifr_name, ifname, sizeof ifr.ifr_name);
    ifr.ifr_data = (void *) &channels;
    if (af_inet_ioctl(SIOCETHTOOL, &ifr)) {
        return 0;
    }
    return channels.combined_count + channels.rx_count;
}

/* Counts the receive queues in sysfs.  Returns 0 without sysfs. */
static uint32_t
queues_from_sysfs(const char *ifname)
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
        n += !strncmp(entry->d_name, "rx-", 3);
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
    uint32_t n = channels_from_ethtool(ifname);

    if (!n) {
        n = queues_from_sysfs(ifname);
    }
    return MAX(n, 1);
}
