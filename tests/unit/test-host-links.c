/* SPDX-License-Identifier: Apache-2.0 */

/* host-links.h: where the host is on a device, from messages of rtnetlink as
 * the kernel makes them.  VLAN devices, which not every kernel has, are here
 * only. */

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
#include "unit.h"
#include "util.h"

/* A device as the kernel would describe it; 0, NULL and -1 are what is not in
 * the message. */
struct device {
    int ifindex;
    const char *name;
    int mac;                    /* Its last byte. */
    int master, link;
    const char *kind;
    int vlan;
    bool link_is_elsewhere;     /* In another network namespace. */
};

static void
put_info(struct ofpbuf *message, const struct device *d)
{
    size_t info = nl_msg_start_nested(message, IFLA_LINKINFO);

    nl_msg_put_string(message, IFLA_INFO_KIND, d->kind);
    if (d->vlan) {
        size_t data = nl_msg_start_nested(message, IFLA_INFO_DATA);

        nl_msg_put_u16(message, IFLA_VLAN_ID, d->vlan);
        nl_msg_end_nested(message, data);
    }
    nl_msg_end_nested(message, info);
}

static void
add(struct host_links *links, const struct device *d)
{
    const struct eth_addr mac = { .ea = { 2, 0, 0, 0, 0, d->mac } };
    struct ifinfomsg *msg;
    struct ofpbuf message;

    ofpbuf_init(&message, 0);
    nl_msg_put_nlmsghdr(&message, sizeof *msg, RTM_NEWLINK, 0);
    msg = ofpbuf_put_zeros(&message, sizeof *msg);
    msg->ifi_index = d->ifindex;
    msg->ifi_flags = strcmp(d->name, "lo") ? 0 : IFF_LOOPBACK;
    nl_msg_put_string(&message, IFLA_IFNAME, d->name);
    if (d->mac) {
        nl_msg_put_unspec(&message, IFLA_ADDRESS, &mac, sizeof mac);
    }
    if (d->master) {
        nl_msg_put_u32(&message, IFLA_MASTER, d->master);
    }
    if (d->link) {
        nl_msg_put_u32(&message, IFLA_LINK, d->link);
    }
    if (d->link_is_elsewhere) {
        nl_msg_put_u32(&message, IFLA_LINK_NETNSID, 0);
    }
    if (d->kind) {
        put_info(&message, d);
    }
    host_links_add(links, &message);
    ofpbuf_uninit(&message);
}

/* Returns the places on device 1 as text, each as the last byte of the MAC
 * address, or "*" for groups, and the VLANs behind it. */
static char *
places_on(const struct device devices[], size_t n)
{
    struct ds ds = DS_EMPTY_INITIALIZER;
    struct host_links links = { .n = 0 };
    struct host_members members;
    struct xdp_host_place *places;
    size_t n_places;

    for (size_t i = 0; i < n; i++) {
        add(&links, &devices[i]);
    }
    host_links_get_members(&links, 1, &members);
    host_members_get_places(&members, &links, &places, &n_places);
    for (size_t i = 0; i < n_places; i++) {
        const struct xdp_host_place *p = &places[i];

        ds_put_cstr(&ds, i ? " " : "");
        if (p->mac[0] == 0xff) {
            ds_put_char(&ds, '*');
        } else {
            ds_put_format(&ds, "%x", p->mac[5]);
        }
        if (p->vlan) {
            ds_put_format(&ds, "/%u", p->vlan);
        }
        if (p->inner_vlan) {
            ds_put_format(&ds, "/%u", p->inner_vlan);
        }
    }
    free(places);
    host_members_uninit(&members);
    host_links_uninit(&links);
    return ds_steal_cstr(&ds);
}

#define CHECK_PLACES(EXPECTED, ...)                                     \
    do {                                                                \
        const struct device devices[] = {                               \
            { .ifindex = 1, .name = "eth0", .mac = 0xa },               \
            { .ifindex = 2, .name = "lo" },                             \
            { .ifindex = 3, .name = "eth1", .mac = 0xb },               \
            __VA_ARGS__                                                 \
        };                                                              \
        char *places = places_on(devices, ARRAY_SIZE(devices));         \
                                                                        \
        if (strcmp(places, EXPECTED)) {                                 \
            unit_fail(OVS_SOURCE_LOCATOR, "%s, not %s", places,         \
                      EXPECTED);                                        \
        }                                                               \
        free(places);                                                   \
    } while (0)

static void
plain(void)
{
    CHECK_PLACES("a *", { .ifindex = 4, .name = "eth2", .mac = 0xc });
}

static void
vlans(void)
{
    CHECK_PLACES("a * a/5 */5 c/6 */6",
                 { 4, "eth0.5", 0xa, .link = 1, .kind = "vlan", .vlan = 5 },
                 { 5, "eth1.5", 0xb, .link = 3, .kind = "vlan", .vlan = 5 },
                 { 6, "eth0.6", 0xc, .link = 1, .kind = "vlan", .vlan = 6 });
    CHECK_PLACES("a * a/4094 */4094 a/4094/1 */4094/1",
                 { 4, "o", 0xa, .link = 1, .kind = "vlan", .vlan = 4094 },
                 { 5, "i", 0xa, .link = 4, .kind = "vlan", .vlan = 1 },
                 { 6, "third", 0xa, .link = 5, .kind = "vlan", .vlan = 2 });
    /* One that the kernel does not number is no place. */
    CHECK_PLACES("a *", { 4, "odd", 0xc, .link = 1, .kind = "vlan" });
}

static void
others_on_top(void)
{
    CHECK_PLACES("a * c *",
                 { 4, "mv", 0xc, .link = 1, .kind = "macvlan" });
    CHECK_PLACES("a * a *",
                 { 4, "iv", 0xa, .link = 1, .kind = "ipvlan" });
    CHECK_PLACES("a * a/5 */5 d/5 */5",
                 { 4, "eth0.5", 0xa, .link = 1, .kind = "vlan", .vlan = 5 },
                 { 5, "mv", 0xd, .link = 4, .kind = "macvlan" });
}

static void
masters(void)
{
    const struct device enslaved[] = {
        { .ifindex = 1, .name = "eth0", .mac = 0xa, .master = 4 },
        { .ifindex = 4, .name = "bridge", .mac = 0xc },
        { 5, "bridge.7", 0xc, .link = 4, .kind = "vlan", .vlan = 7 },
    };
    char *text = places_on(enslaved, ARRAY_SIZE(enslaved));

    CHECK(!strcmp(text, "a * c * c/7 */7"));
    free(text);
    CHECK_PLACES("a * a/5 */5 c/5 */5",
                 { 4, "eth0.5", 0xa, .master = 5, .link = 1, .kind = "vlan",
                   .vlan = 5 },
                 { .ifindex = 5, .name = "bridge", .mac = 0xc });
}

static void
no_uppers(void)
{
    /* The other end of a veth, a tunnel by the device, one in another
     * namespace, and a ring that no kernel makes. */
    CHECK_PLACES("a *",
                 { 4, "peer", 0xc, .link = 1, .kind = "veth" },
                 { 5, "vx", 0xd, .link = 1, .kind = "vxlan" },
                 { 6, "far", 0xe, .link = 1, .kind = "vlan", .vlan = 9,
                   .link_is_elsewhere = true });
    CHECK_PLACES("a * c * d *",
                 { 4, "x", 0xc, .master = 5, .link = 1, .kind = "macvlan" },
                 { 5, "y", 0xd, .master = 4 });
}

static void
names(void)
{
    struct host_links links = { .n = 0 }, same = { .n = 0 };
    const struct device devices[] = {
        { .ifindex = 1, .name = "eth0", .mac = 0xa },
        { .ifindex = 2, .name = "lo" },
    };
    struct ds ds = DS_EMPTY_INITIALIZER;
    struct host_members members;

    for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
        add(&links, &devices[i]);
    }
    CHECK(host_links_is_loopback(&links, 2));
    CHECK(!host_links_is_loopback(&links, 1));
    CHECK(!host_links_is_loopback(&links, 3));
    CHECK(!strcmp(host_links_name(&links, 1), "eth0"));
    host_links_get_members(&links, 0, &members);
    CHECK_INT(members.n, 1);            /* Nothing is on top of no device. */
    host_members_uninit(&members);
    host_links_format_path(&links, 2, 1, &ds);
    CHECK(!strcmp(ds_cstr(&ds), "lo, on top of eth0"));
    ds_destroy(&ds);

    CHECK(!host_links_equal(&links, &same));
    add(&same, &devices[0]);
    add(&same, &devices[1]);
    CHECK(host_links_equal(&links, &same));
    same.list[0].mac.ea[5]++;
    CHECK(!host_links_equal(&links, &same));
    host_links_uninit(&same);
    host_links_uninit(&links);
}

int
main(void)
{
    unit_run("on a device the host is at its MAC address and in groups",
             plain);
    unit_run("on top of it, in the VLANs of its VLAN devices", vlans);
    unit_run("and at the addresses of macvlan and ipvlan", others_on_top);
    unit_run("and at that of the bridge that has it", masters);
    unit_run("and nowhere else", no_uppers);
    unit_run("devices are found by number, and compared", names);
    return unit_exit_status();
}
