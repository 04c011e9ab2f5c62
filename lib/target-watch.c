/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "target-watch.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "netdev-genl.h"
#include "netdev-probe.h"
#include "netlink.h"
#include "netlink-notifier.h"
#include "netlink-socket.h"
#include "openvswitch/ofpbuf.h"
#include "rtnetlink.h"
#include "util.h"

/* Between target_watch_start() and target_watch_stop(). */
static target_watch_func *changed;
static struct nln_notifier *link_notifier;
static struct nln *features_nln;        /* NULL: the kernel has none. */
static struct nln_notifier *features_notifier;

/* Of the family "netdev": the group that tells of devices, and what
 * parse_features() leaves. */
static unsigned int features_group;
static int features_ifindex;

/* Is the device of the RTM_NEWLINK message 'reply' of 'kind'? */
static bool
link_is(const struct ofpbuf *reply, const char *kind)
{
    const struct nlattr *info, *name;

    info = nl_attr_find(reply, NLMSG_HDRLEN + sizeof(struct ifinfomsg),
                        IFLA_LINKINFO);
    name = info ? nl_attr_find_nested(info, IFLA_INFO_KIND) : NULL;
    return (name && nl_attr_get_size(name) == strlen(kind) + 1
            && !memcmp(nl_attr_get(name), kind, strlen(kind) + 1));
}

/* Stores what the RTM_NEWLINK message 'reply' says in '*device'. */
static int
parse_link(const struct ofpbuf *reply, struct target_device *device)
{
    static const struct nl_policy policy[] = {
        [IFLA_IFNAME] = { .type = NL_A_STRING },
        [IFLA_MTU] = { .type = NL_A_U32 },
    };
    struct nlattr *attrs[ARRAY_SIZE(policy)];
    const struct ifinfomsg *ifinfo;

    ifinfo = ofpbuf_at(reply, NLMSG_HDRLEN, sizeof *ifinfo);
    if (!ifinfo
        || !nl_policy_parse(reply, NLMSG_HDRLEN + sizeof *ifinfo, policy,
                            attrs, ARRAY_SIZE(policy))) {
        return EPROTO;
    }
    device->flags = ifinfo->ifi_flags;
    device->mtu = nl_attr_get_u32(attrs[IFLA_MTU]);
    device->veth = link_is(reply, "veth");
    ovs_strlcpy(device->name, nl_attr_get_string(attrs[IFLA_IFNAME]),
                sizeof device->name);
    return 0;
}

/* Asks the kernel for what it knows of the device 'ifindex' now, and stores it
 * in '*device'.  Returns 0, ENODEV if there is none in our network namespace,
 * or another positive errno. */
int
target_watch_probe(int ifindex, struct target_device *device)
{
    struct ofpbuf request, *reply;
    struct ifinfomsg *ifinfo;
    int error;

    memset(device, 0, sizeof *device);
    ofpbuf_init(&request, 0);
    nl_msg_put_nlmsghdr(&request, sizeof *ifinfo, RTM_GETLINK, NLM_F_REQUEST);
    ifinfo = ofpbuf_put_zeros(&request, sizeof *ifinfo);
    ifinfo->ifi_family = AF_UNSPEC;
    ifinfo->ifi_index = ifindex;
    error = nl_transact(NETLINK_ROUTE, &request, &reply);
    ofpbuf_uninit(&request);
    if (!error) {
        error = parse_link(reply, device);
        ofpbuf_delete(reply);
    }
    if (!error) {
        device->features_known = netdev_probe_xdp_features(ifindex,
                                                           &device->features);
    }
    return error;
}

/* Puts the device that the message 'buf' of the family "netdev" is about in
 * features_ifindex, 0 if it is about none. */
static int
parse_features(struct ofpbuf *buf, void *change OVS_UNUSED)
{
    const struct genlmsghdr *genl = ofpbuf_at(buf, NLMSG_HDRLEN, sizeof *genl);
    uint64_t ifindex = 0;

    features_ifindex = 0;
    if (genl && genl->cmd >= NETDEV_CMD_DEV_ADD_NTF
        && genl->cmd <= NETDEV_CMD_DEV_CHANGE_NTF
        && netdev_genl_get_uint(buf, NETDEV_A_DEV_IFINDEX, &ifindex)) {
        features_ifindex = ifindex;
    }
    return features_group;
}

static void
features_changed(const void *change, void *aux OVS_UNUSED)
{
    if (!change) {
        changed(0, NULL);
    } else if (features_ifindex) {
        changed(features_ifindex, NULL);
    }
}

static void
link_changed(const struct rtnetlink_change *change, void *aux OVS_UNUSED)
{
    changed(change ? change->if_index : 0, change ? change->ifname : NULL);
}

/* From now on target_watch_run() calls 'cb' for what changes.  A kernel that
 * does not tell of a change is nothing to stop for: the guard sees frames that
 * are lost. */
void
target_watch_start(target_watch_func *cb)
{
    changed = cb;
    link_notifier = rtnetlink_notifier_create(link_changed, NULL);
    if (!nl_lookup_genl_mcgroup("netdev", "mgmt", &features_group)) {
        features_nln = nln_create(NETLINK_GENERIC, parse_features,
                                  &features_ifindex);
        features_notifier = nln_notifier_create(features_nln, features_group,
                                                features_changed, NULL);
    }
}

/* Ends what target_watch_start() began. */
void
target_watch_stop(void)
{
    rtnetlink_notifier_destroy(link_notifier);
    nln_notifier_destroy(features_notifier);
    nln_destroy(features_nln);
    link_notifier = features_notifier = NULL;
    features_nln = NULL;
}

/* Calls back for each change since the last call.  Between
 * target_watch_start() and target_watch_stop(). */
void
target_watch_run(void)
{
    rtnetlink_run();
    if (features_nln) {
        nln_run(features_nln);
    }
}

/* Wakes the poll loop when target_watch_run() has something to do. */
void
target_watch_wait(void)
{
    rtnetlink_wait();
    if (features_nln) {
        nln_wait(features_nln);
    }
}
