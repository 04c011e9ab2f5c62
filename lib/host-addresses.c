/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "host-addresses.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>

#include "host-links.h"
#include "netlink.h"
#include "netlink-notifier.h"
#include "netlink-socket.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/ofpbuf.h"
#include "openvswitch/poll-loop.h"
#include "openvswitch/vlog.h"
#include "packets.h"
#include "timeval.h"
#include "util.h"

VLOG_DEFINE_THIS_MODULE(host_addresses);

static struct vlog_rate_limit rl = VLOG_RATE_LIMIT_INIT(1, 5);

/* How long to wait, in ms, before the kernel is asked once more: on a host of
 * containers devices change all the time, and each answer is about all. */
#define REFRESH_MS 200

struct address {
    int ifindex;
    struct in6_addr addr;
    uint8_t prefix_len;         /* As the host writes it. */
    uint8_t scope;              /* RT_SCOPE_*. */
    bool lifetime;              /* Has it an end unless it is renewed? */
};

struct addresses {
    struct address *list;
    size_t n, allocated;
};

static struct nln *nln;         /* NULL before host_addresses_start(). */
static bool dirty;              /* The kernel has told of a change. */
static long long int next_refresh;
static uint64_t seq = 1;

static struct host_links links; /* What the kernel has said. */
static struct addresses addresses;

/* Reading. */

/* Returns true if the RTM_NEWADDR message 'reply' is about an address. */
static bool
parse_address(struct ofpbuf *reply, struct address *address)
{
    const struct ifaddrmsg *msg = ofpbuf_at(reply, NLMSG_HDRLEN, sizeof *msg);
    const struct nlattr *addr, *flags;
    size_t ofs = NLMSG_HDRLEN + sizeof *msg;
    uint32_t bits;

    if (!msg || (msg->ifa_family != AF_INET && msg->ifa_family != AF_INET6)) {
        return false;
    }
    /* On a device from point to point the other one is the far end's. */
    addr = nl_attr_find(reply, ofs, IFA_LOCAL);
    if (!addr) {
        addr = nl_attr_find(reply, ofs, IFA_ADDRESS);
    }
    flags = nl_attr_find(reply, ofs, IFA_FLAGS);
    bits = flags ? nl_attr_get_u32(flags) : msg->ifa_flags;
    memset(address, 0, sizeof *address);        /* Padding too, see below. */
    address->ifindex = msg->ifa_index;
    address->prefix_len = msg->ifa_prefixlen;
    address->scope = msg->ifa_scope;
    address->lifetime = !(bits & IFA_F_PERMANENT);
    if (!addr || nl_attr_get_size(addr) != (msg->ifa_family == AF_INET
                                            ? 4 : 16)) {
        return false;
    }
    if (msg->ifa_family == AF_INET) {
        in6_addr_set_mapped_ipv4(&address->addr, nl_attr_get_be32(addr));
    } else {
        address->addr = nl_attr_get_in6_addr(addr);
    }
    return true;
}

/* Starts the dump of what 'type', RTM_GET*, asks for; 'size' bytes of header
 * with a family first. */
static void
start_dump(struct nl_dump *dump, uint16_t type, size_t size)
{
    struct ofpbuf request;

    ofpbuf_init(&request, 0);
    nl_msg_put_nlmsghdr(&request, size, type, NLM_F_REQUEST);
    ofpbuf_put_zeros(&request, size);           /* AF_UNSPEC. */
    if (type == RTM_GETLINK) {
        nl_msg_put_u32(&request, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
    }
    nl_dump_start(dump, NETLINK_ROUTE, &request);
    ofpbuf_uninit(&request);
}

static int
read_addresses(struct addresses *a)
{
    struct ofpbuf reply, buf;
    struct nl_dump dump;

    start_dump(&dump, RTM_GETADDR, sizeof(struct ifaddrmsg));
    ofpbuf_init(&buf, NL_DUMP_BUFSIZE);
    while (nl_dump_next(&dump, &reply, &buf)) {
        if (a->n == a->allocated) {
            a->list = x2nrealloc(a->list, &a->allocated, sizeof *a->list);
        }
        a->n += parse_address(&reply, &a->list[a->n]);
    }
    ofpbuf_uninit(&buf);
    return nl_dump_done(&dump);
}

static bool
addresses_equal(const struct addresses *a, const struct addresses *b)
{
    return (a->n == b->n
            && (!a->n || !memcmp(a->list, b->list, a->n * sizeof *a->list)));
}

static int
read_links(struct host_links *list)
{
    struct ofpbuf reply, buf;
    struct nl_dump dump;

    start_dump(&dump, RTM_GETLINK, sizeof(struct ifinfomsg));
    ofpbuf_init(&buf, NL_DUMP_BUFSIZE);
    while (nl_dump_next(&dump, &reply, &buf)) {
        host_links_add(list, &reply);
    }
    ofpbuf_uninit(&buf);
    return nl_dump_done(&dump);
}

int
host_addresses_refresh(void)
{
    struct host_links new_links = { .n = 0 };
    struct addresses new = { .n = 0 };
    int error;

    dirty = false;
    next_refresh = time_msec() + REFRESH_MS;
    error = read_links(&new_links);
    if (!error) {
        error = read_addresses(&new);
    }
    if (error) {
        VLOG_WARN_RL(&rl, "the kernel does not tell the host's addresses: %s",
                     ovs_strerror(error));
        dirty = true;
    } else if (!addresses_equal(&addresses, &new)
               || !host_links_equal(&links, &new_links)) {
        struct host_links old_links = links;
        struct addresses old = addresses;

        links = new_links;
        addresses = new;
        new_links = old_links;
        new = old;
        seq++;
    }
    host_links_uninit(&new_links);
    free(new.list);
    return error;
}

/* Following. */

/* Returns the group that the message 'buf' has come from, since that is what
 * its notifier goes by. */
static int
parse_change(struct ofpbuf *buf, void *change OVS_UNUSED)
{
    const struct nlmsghdr *nlmsg = buf->data;
    const struct ifaddrmsg *msg;

    if (nlmsg->nlmsg_type == RTM_NEWADDR
        || nlmsg->nlmsg_type == RTM_DELADDR) {
        msg = ofpbuf_at(buf, NLMSG_HDRLEN, sizeof *msg);
        return (msg && msg->ifa_family == AF_INET6
                ? RTNLGRP_IPV6_IFADDR : RTNLGRP_IPV4_IFADDR);
    }
    return RTNLGRP_LINK;
}

static void
note_change(const void *change OVS_UNUSED, void *aux OVS_UNUSED)
{
    dirty = true;
}

void
host_addresses_start(void)
{
    if (!nln) {
        nln = nln_create(NETLINK_ROUTE, parse_change, &dirty);
        nln_notifier_create(nln, RTNLGRP_LINK, note_change, NULL);
        nln_notifier_create(nln, RTNLGRP_IPV4_IFADDR, note_change, NULL);
        nln_notifier_create(nln, RTNLGRP_IPV6_IFADDR, note_change, NULL);
        dirty = true;
    }
}

void
host_addresses_run(void)
{
    if (nln) {
        nln_run(nln);
        if (dirty && time_msec() >= next_refresh) {
            host_addresses_refresh();
        }
    }
}

void
host_addresses_wait(void)
{
    if (nln) {
        nln_wait(nln);
        if (dirty) {
            poll_timer_wait_until(next_refresh);
        }
    }
}

uint64_t
host_addresses_seq(void)
{
    return seq;
}

/* What that means for a device. */

static bool
is_link_local(const struct in6_addr *addr)
{
    if (IN6_IS_ADDR_V4MAPPED(addr)) {
        return addr->s6_addr[12] == 169 && addr->s6_addr[13] == 254;
    }
    return IN6_IS_ADDR_LINKLOCAL(addr);
}

/* Do frames that come in by the device whose 'members' are given reach
 * 'address'?  Those of the loopback device can only come by another one. */
static bool
is_reached(const struct address *address, const struct host_members *members)
{
    return (host_members_contain(members, address->ifindex)
            || (address->scope != RT_SCOPE_HOST
                && host_links_is_loopback(&links, address->ifindex)));
}

static void
put_address(const struct in6_addr *addr, struct xdp_host_address *out)
{
    bool mapped = IN6_IS_ADDR_V4MAPPED(addr);

    memset(out, 0, sizeof *out);
    out->version = mapped ? 4 : 6;
    memcpy(out->addr, addr->s6_addr + (mapped ? 12 : 0), mapped ? 4 : 16);
}

/* Stores in '*view', for host_view_uninit(), what the host is on device
 * 'ifindex', as far as is known. */
void
host_addresses_view(int ifindex, struct host_view *view)
{
    struct host_members members;

    memset(view, 0, sizeof *view);
    host_links_get_members(&links, ifindex, &members);
    host_members_get_places(&members, &links, &view->places, &view->n_places);
    view->addresses = xcalloc(addresses.n, sizeof *view->addresses);
    for (size_t i = 0; i < addresses.n; i++) {
        const struct address *a = &addresses.list[i];

        if (is_reached(a, &members)) {
            put_address(&a->addr, &view->addresses[view->n_addresses++]);
        }
        if (host_members_contain(&members, a->ifindex) && a->lifetime
            && !is_link_local(&a->addr)) {
            if (IN6_IS_ADDR_V4MAPPED(&a->addr)) {
                view->lifetime_ipv4 = true;
            } else {
                view->lifetime_ipv6 = true;
            }
        }
    }
    host_members_uninit(&members);
}

/* Frees what is in 'view', not '*view' itself. */
void
host_view_uninit(struct host_view *view)
{
    free(view->places);
    free(view->addresses);
}

void
host_address_format(const struct xdp_host_address *address, struct ds *ds)
{
    char text[INET6_ADDRSTRLEN];

    inet_ntop(address->version == 4 ? AF_INET : AF_INET6, address->addr,
              text, sizeof text);
    ds_put_cstr(ds, text);
}

char *
host_addresses_claim(int ifindex, char **removep)
{
    struct ds claim = DS_EMPTY_INITIALIZER;
    struct host_members members;

    *removep = NULL;
    host_links_get_members(&links, ifindex, &members);
    for (size_t i = 0; i < addresses.n && !claim.length; i++) {
        const struct address *a = &addresses.list[i];

        if (host_members_contain(&members, a->ifindex)
            && !is_link_local(&a->addr)) {
            ipv6_format_mapped(&a->addr, &claim);
            ds_put_format(&claim, "/%u", a->prefix_len);
            *removep = xasprintf("ip address del %s dev %s", ds_cstr(&claim),
                                 host_links_name(&links, a->ifindex));
            ds_put_cstr(&claim, " is on ");
            host_links_format_path(&links, a->ifindex, ifindex, &claim);
        }
    }
    host_members_uninit(&members);
    return claim.length ? ds_steal_cstr(&claim) : NULL;
}

/* Does a next hop of the route 'reply', of whose attributes the first is at
 * 'ofs', leave by one of 'members'?  Stores which in '*oif'. */
static bool
route_leaves_by(const struct ofpbuf *reply, size_t ofs,
                const struct host_members *members, int *oif)
{
    const struct nlattr *attr = nl_attr_find(reply, ofs, RTA_OIF);
    const struct rtnexthop *hop;
    int left;

    if (attr) {
        *oif = nl_attr_get_u32(attr);
        return host_members_contain(members, *oif);
    }
    attr = nl_attr_find(reply, ofs, RTA_MULTIPATH);
    if (!attr) {
        return false;
    }
    hop = nl_attr_get(attr);
    left = nl_attr_get_size(attr);
    while (RTNH_OK(hop, left)) {
        *oif = hop->rtnh_ifindex;
        if (host_members_contain(members, *oif)) {
            return true;
        }
        left -= RTNH_ALIGN(hop->rtnh_len);
        hop = RTNH_NEXT(hop);
    }
    return false;
}

/* Returns true if the RTM_NEWROUTE message 'reply' is a default route by one
 * of 'members', which it stores in '*oif'. */
static bool
is_default_by(const struct ofpbuf *reply, const struct host_members *members,
              int *oif)
{
    const struct rtmsg *msg = ofpbuf_at(reply, NLMSG_HDRLEN, sizeof *msg);

    return (msg && !msg->rtm_dst_len && msg->rtm_type == RTN_UNICAST
            && !(msg->rtm_flags & RTM_F_CLONED)
            && (msg->rtm_family == AF_INET || msg->rtm_family == AF_INET6)
            && route_leaves_by(reply, NLMSG_HDRLEN + sizeof *msg, members,
                               oif));
}

char *
host_addresses_default_route(int ifindex, char **removep)
{
    struct ds claim = DS_EMPTY_INITIALIZER;
    struct host_members members;
    struct ofpbuf reply, buf;
    struct nl_dump dump;
    int oif;

    *removep = NULL;
    host_links_get_members(&links, ifindex, &members);
    start_dump(&dump, RTM_GETROUTE, sizeof(struct rtmsg));
    ofpbuf_init(&buf, NL_DUMP_BUFSIZE);
    while (nl_dump_next(&dump, &reply, &buf)) {
        if (!claim.length && is_default_by(&reply, &members, &oif)) {
            const struct rtmsg *msg = ofpbuf_at(&reply, NLMSG_HDRLEN,
                                                sizeof *msg);

            ds_put_format(&claim, "the %s default route goes by ",
                          msg->rtm_family == AF_INET ? "IPv4" : "IPv6");
            host_links_format_path(&links, oif, ifindex, &claim);
            *removep = xasprintf("ip -%d route del default dev %s",
                                 msg->rtm_family == AF_INET ? 4 : 6,
                                 host_links_name(&links, oif));
        }
    }
    ofpbuf_uninit(&buf);
    nl_dump_done(&dump);
    host_members_uninit(&members);
    return claim.length ? ds_steal_cstr(&claim) : NULL;
}
