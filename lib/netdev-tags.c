/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "netdev-tags.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>

#include "netlink.h"
#include "netlink-socket.h"
#include "openvswitch/ofpbuf.h"
#include "socket-util.h"
#include "util.h"

static int
ethtool(const char *ifname, void *command)
{
    struct ifreq ifr;

    memset(&ifr, 0, sizeof ifr);
    ovs_strzcpy(ifr.ifr_name, ifname, sizeof ifr.ifr_name);
    ifr.ifr_data = command;
    return af_inet_ioctl(SIOCETHTOOL, &ifr);
}

/* Returns the names of the features that devices have, each ETH_GSTRING_LEN
 * bytes long, or NULL.  The caller frees it. */
static struct ethtool_gstrings *
get_feature_names(const char *ifname)
{
    struct {
        struct ethtool_sset_info info;
        uint32_t len;
    } sset = { { .cmd = ETHTOOL_GSSET_INFO,
                 .sset_mask = 1ULL << ETH_SS_FEATURES }, 0 };
    struct ethtool_gstrings *names;

    if (ethtool(ifname, &sset) || !sset.info.sset_mask) {
        return NULL;
    }
    names = xzalloc(sizeof *names + (size_t) sset.len * ETH_GSTRING_LEN);
    names->cmd = ETHTOOL_GSTRINGS;
    names->string_set = ETH_SS_FEATURES;
    names->len = sset.len;
    if (ethtool(ifname, names)) {
        free(names);
        return NULL;
    }
    return names;
}

/* Returns true if feature 'i' of device 'ifname' is on. */
static bool
feature_is_on(const char *ifname, uint32_t i)
{
    uint32_t n_blocks = i / 32 + 1;
    struct ethtool_gfeatures *features;
    bool on;

    features = xzalloc(sizeof *features
                       + n_blocks * sizeof features->features[0]);
    features->cmd = ETHTOOL_GFEATURES;
    features->size = n_blocks;
    on = (!ethtool(ifname, features)
          && features->features[i / 32].active & 1u << i % 32);
    free(features);
    return on;
}

/* Returns true if one of the two features of device 'ifname' is on, or if the
 * kernel does not tell. */
static bool
either_is_on(const char *ifname, const char *a, const char *b)
{
    struct ethtool_gstrings *names = get_feature_names(ifname);
    bool on = false;

    if (!names) {
        return true;
    }
    for (uint32_t i = 0; i < names->len && !on; i++) {
        const char *name = (const char *) names->data + i * ETH_GSTRING_LEN;

        on = ((!strncmp(name, a, ETH_GSTRING_LEN)
               || !strncmp(name, b, ETH_GSTRING_LEN))
              && feature_is_on(ifname, i));
    }
    free(names);
    return on;
}

/* Returns the ifindex of the other end of veth 'ifindex' if that is in this
 * network namespace, 0 otherwise. */
static int
peer_of(int ifindex)
{
    const struct nlattr *link, *netns;
    struct ofpbuf request, *reply;
    struct ifinfomsg *ifi;
    int peer = 0;

    ofpbuf_init(&request, 0);
    nl_msg_put_nlmsghdr(&request, sizeof *ifi, RTM_GETLINK, NLM_F_REQUEST);
    ifi = ofpbuf_put_zeros(&request, sizeof *ifi);
    ifi->ifi_index = ifindex;
    if (!nl_transact(NETLINK_ROUTE, &request, &reply)) {
        link = nl_attr_find(reply, NLMSG_HDRLEN + sizeof *ifi, IFLA_LINK);
        netns = nl_attr_find(reply, NLMSG_HDRLEN + sizeof *ifi,
                             IFLA_LINK_NETNSID);
        if (link && !netns) {
            peer = nl_attr_get_u32(link);
        }
        ofpbuf_delete(reply);
    }
    ofpbuf_uninit(&request);
    return peer;
}

static bool
veth_peer_may_hide_tags(int ifindex)
{
    char peer[IF_NAMESIZE];

    return (!if_indextoname(peer_of(ifindex), peer)
            || either_is_on(peer, "tx-vlan-hw-insert",
                            "tx-vlan-stag-hw-insert"));
}

/* Returns true if the VLAN tag of a frame that device 'ifname' receives may be
 * beside the frame, where neither XDP nor AF_XDP sees it: on a NIC that takes
 * tags out (rxvlan), on a veth whose other end leaves them to its device
 * (txvlan), and on devices of which this cannot be told.  A tap gets frames as
 * a process has written them. */
bool
netdev_probe_may_hide_tags(const char *ifname, int ifindex)
{
    struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };

    if (ethtool(ifname, &info)) {
        return true;
    }
    if (!strcmp(info.driver, "tun")) {
        return false;
    }
    if (!strcmp(info.driver, "veth")) {
        return veth_peer_may_hide_tags(ifindex);
    }
    if (!info.bus_info[0] || !strcmp(info.bus_info, "N/A")) {
        return true;
    }
    return either_is_on(ifname, "rx-vlan-hw-parse", "rx-vlan-stag-hw-parse");
}
