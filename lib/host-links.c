/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "host-links.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "netlink.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/ofpbuf.h"
#include "packets.h"
#include "util.h"

/* Kinds of devices that take frames of the one in IFLA_LINK as they come in.
 * On other kinds that attribute has other meanings: a veth's is its peer, a
 * tunnel's is what the packets around its own leave by. */
static const char *const upper_kinds[] = {
    "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap",
};

/* The VLAN of a device that is none, and so takes no frame. */
#define NO_VLAN 0xffff

static bool
is_upper_kind(const char *kind)
{
    for (size_t i = 0; i < ARRAY_SIZE(upper_kinds); i++) {
        if (!strcmp(kind, upper_kinds[i])) {
            return true;
        }
    }
    return false;
}

/* Stores in 'link' what 'info', its IFLA_LINKINFO, says: whether it is on top
 * of 'lower', and in which VLAN. */
static void
parse_kind(const struct nlattr *info, int lower, struct host_link *link)
{
    const struct nlattr *kind = nl_attr_find_nested(info, IFLA_INFO_KIND);
    const struct nlattr *data = nl_attr_find_nested(info, IFLA_INFO_DATA);
    const struct nlattr *id;

    if (!kind || !is_upper_kind(nl_attr_get_string(kind))) {
        return;
    }
    link->lower = lower;
    if (!strcmp(nl_attr_get_string(kind), "vlan")) {
        id = data ? nl_attr_find_nested(data, IFLA_VLAN_ID) : NULL;
        link->vlan = id ? nl_attr_get_u16(id) : NO_VLAN;
    }
}

void
host_links_add(struct host_links *links, const struct ofpbuf *message)
{
    static const struct nl_policy policy[] = {
        [IFLA_IFNAME] = { .type = NL_A_STRING },
        [IFLA_ADDRESS] = { .type = NL_A_UNSPEC, .optional = true },
        [IFLA_MASTER] = { .type = NL_A_U32, .optional = true },
        [IFLA_LINK] = { .type = NL_A_U32, .optional = true },
        [IFLA_LINK_NETNSID] = { .type = NL_A_U32, .optional = true },
        [IFLA_LINKINFO] = { .type = NL_A_NESTED, .optional = true },
    };
    struct nlattr *attrs[ARRAY_SIZE(policy)];
    const struct ifinfomsg *msg = ofpbuf_at(message, NLMSG_HDRLEN,
                                            sizeof *msg);
    struct host_link *link;

    if (!msg || !nl_policy_parse(message, NLMSG_HDRLEN + sizeof *msg, policy,
                                 attrs, ARRAY_SIZE(policy))) {
        return;
    }
    if (links->n == links->allocated) {
        links->list = x2nrealloc(links->list, &links->allocated,
                                 sizeof *links->list);
    }
    link = &links->list[links->n++];
    memset(link, 0, sizeof *link);      /* Padding too, they are compared. */
    link->ifindex = msg->ifi_index;
    link->loopback = msg->ifi_flags & IFF_LOOPBACK;
    link->master = (attrs[IFLA_MASTER]
                    ? nl_attr_get_u32(attrs[IFLA_MASTER]) : 0);
    ovs_strlcpy(link->name, nl_attr_get_string(attrs[IFLA_IFNAME]),
                sizeof link->name);
    if (attrs[IFLA_ADDRESS]
        && nl_attr_get_size(attrs[IFLA_ADDRESS]) == sizeof link->mac) {
        memcpy(&link->mac, nl_attr_get(attrs[IFLA_ADDRESS]),
               sizeof link->mac);
    }
    if (attrs[IFLA_LINK] && attrs[IFLA_LINKINFO]
        && !attrs[IFLA_LINK_NETNSID]) {
        parse_kind(attrs[IFLA_LINKINFO], nl_attr_get_u32(attrs[IFLA_LINK]),
                   link);
    }
}

void
host_links_uninit(struct host_links *links)
{
    free(links->list);
    memset(links, 0, sizeof *links);
}

bool
host_links_equal(const struct host_links *a, const struct host_links *b)
{
    return (a->n == b->n
            && (!a->n || !memcmp(a->list, b->list, a->n * sizeof *a->list)));
}

static const struct host_link *
find(const struct host_links *links, int ifindex)
{
    for (size_t i = 0; i < links->n; i++) {
        if (links->list[i].ifindex == ifindex) {
            return &links->list[i];
        }
    }
    return NULL;
}

bool
host_links_is_loopback(const struct host_links *links, int ifindex)
{
    const struct host_link *link = find(links, ifindex);

    return link && link->loopback;
}

const char *
host_links_name(const struct host_links *links, int ifindex)
{
    const struct host_link *link = find(links, ifindex);

    return link ? link->name : "(gone)";
}

void
host_links_format_path(const struct host_links *links, int ifindex, int below,
                       struct ds *ds)
{
    ds_put_cstr(ds, host_links_name(links, ifindex));
    if (ifindex != below) {
        ds_put_format(ds, ", on top of %s", host_links_name(links, below));
    }
}

/* Members. */

static void
add_member(struct host_members *members, const struct host_member *new)
{
    for (size_t i = 0; i < members->n; i++) {
        const struct host_member *m = &members->list[i];

        if (m->ifindex == new->ifindex && m->vlan == new->vlan
            && m->inner_vlan == new->inner_vlan) {
            return;
        }
    }
    if (members->n == members->allocated) {
        members->list = x2nrealloc(members->list, &members->allocated,
                                   sizeof *members->list);
    }
    members->list[members->n++] = *new;
}

/* Adds 'upper', which is on top of 'member'.  The program knows of two tags,
 * so what is behind three is no member. */
static void
add_upper(struct host_members *members, struct host_member member,
          const struct host_link *upper)
{
    member.ifindex = upper->ifindex;
    if (upper->vlan == NO_VLAN || (upper->vlan && member.inner_vlan)) {
        return;
    }
    if (upper->vlan && member.vlan) {
        member.inner_vlan = upper->vlan;
    } else if (upper->vlan) {
        member.vlan = upper->vlan;
    }
    add_member(members, &member);
}

/* Stores in '*members', for host_members_uninit(), the device 'ifindex' and
 * what is on top of it, and on top of that. */
void
host_links_get_members(const struct host_links *links, int ifindex,
                       struct host_members *members)
{
    memset(members, 0, sizeof *members);
    add_member(members, &(struct host_member) { .ifindex = ifindex });
    for (size_t i = 0; i < members->n; i++) {
        const struct host_member member = members->list[i];
        const struct host_link *link = find(links, member.ifindex);
        const struct host_link *master;

        master = link && link->master ? find(links, link->master) : NULL;
        if (master) {
            add_upper(members, member, master);
        }
        for (size_t k = 0; k < links->n; k++) {
            if (links->list[k].lower
                && links->list[k].lower == member.ifindex) {
                add_upper(members, member, &links->list[k]);
            }
        }
    }
}

void
host_members_uninit(struct host_members *members)
{
    free(members->list);
}

bool
host_members_contain(const struct host_members *members, int ifindex)
{
    for (size_t i = 0; i < members->n; i++) {
        if (members->list[i].ifindex == ifindex) {
            return true;
        }
    }
    return false;
}

void
host_members_get_places(const struct host_members *members,
                        const struct host_links *links,
                        struct xdp_host_place **places, size_t *n)
{
    *places = xcalloc(2 * members->n, sizeof **places);
    *n = 0;
    for (size_t i = 0; i < members->n; i++) {
        const struct host_member *m = &members->list[i];
        const struct host_link *link = find(links, m->ifindex);
        struct xdp_host_place place = {
            .vlan = m->vlan, .inner_vlan = m->inner_vlan,
        };

        if (link && !eth_addr_is_zero(link->mac)) {
            memcpy(place.mac, &link->mac, sizeof place.mac);
            (*places)[(*n)++] = place;
        }
        memset(place.mac, 0xff, sizeof place.mac);
        (*places)[(*n)++] = place;
    }
}
