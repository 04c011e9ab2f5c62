/* SPDX-License-Identifier: Apache-2.0 */

/* The host's own traffic, in front of a table that claims everything.  The
 * host is as set_host() of table.c has it. */

#include <config.h>
#include "table-fixtures.h"

#define ANY "0.0.0.0/0=redirect:out ::/0=redirect:out"
#define ALL "dmac=ff:ff:ff:ff:ff:ff"
#define GROUP "dmac=33:33:ff:00:00:02"
#define HOST(SENTENCE, IN) \
    { SENTENCE, ANY, IN, XDP_C_HOST_TRAFFIC, .settings = LAB_HOST }
#define PASSES_BY(SENTENCE, IN, WHAT) \
    { SENTENCE, ANY, IN, WHAT, .settings = LAB_HOST }

static const struct table_fixture fixtures[] = {
    HOST("IPv4 to the host goes to it", "eth ip4 udp pay=30"),
    HOST("TCP to the host goes to it", "eth ip4 tcp"),
    HOST("IPv6 to the host goes to it", "eth ip6 tcp"),
    HOST("a protocol without ports goes to the host", "eth ip4 esp"),
    HOST("a ping goes to the host", "eth ip4 icmp pay=56"),
    HOST("IPv4 options do not keep it from the host", "eth ip4opt udp"),
    HOST("nor do IPv6 extension headers", "eth ip6 hbh rt dst udp"),
    HOST("a first fragment goes to the host", "eth ip4 udp pay=64 first"),
    HOST("a later fragment goes to the host", "eth ip4 pay=64 more"),
    HOST("a fragment of IPv6 goes to the host", "eth ip6 frag pay=64 last"),
    HOST("an unfinished checksum does not keep it from the host",
         "eth ip4 tcp partial pay=100"),
    HOST("the host's address to all stations goes to it",
         "eth " ALL " ip4 udp"),
    HOST("behind a tag of priority a frame goes to the host",
         "eth tag tci=0xe000 ip4 udp"),
    HOST("in a VLAN of the host a frame goes to it",
         "eth dmac=02:00:00:00:00:50 tag tci=50 ip4 udp"),
    HOST("the tag's other bits do not matter",
         "eth dmac=02:00:00:00:00:50 tag tci=0xf032 ip6 udp"),
    HOST("behind two tags of the host a frame goes to it",
         "eth stag tci=7 tag tci=8 ip4 udp"),
    { "a frame for the host has no hints", ANY, "eth ip4 udp",
      XDP_C_HOST_TRAFFIC, .settings = LAB_HOST | LAB_HINTS },
    { "a frame for the host is no longer than others may be", ANY,
      "eth ip4 udp pay=5000", XDP_C_HOST_TRAFFIC,
      .settings = LAB_HOST | LAB_FRAGS | LAB_MAX_FRAME },
    { "without a table a frame goes to the host", NULL, "eth ip4 udp",
      XDP_C_HOST_TRAFFIC, .settings = LAB_HOST },
    { "an entry that drops does not come before the host", "10.0.0.2=drop",
      "eth ip4 udp", XDP_C_HOST_TRAFFIC, .settings = LAB_HOST },
    { "without the setting it is the table's", ANY, "eth ip4 udp",
      XDP_C_REDIRECT },

    HOST("who has the host's address", "eth " ALL " arp about=10.0.0.2"),
    HOST("an answer to the host's own question", "eth arp about=10.0.0.2"),
    HOST("who has it, in a VLAN of the host",
         "eth " ALL " tag tci=50 arp about=10.0.0.2"),
    HOST("a neighbor solicitation of the host",
         "eth " GROUP " ip6 to=ff02::1:ff00:2 icmp6 type=135 "
         "about=2001:db8::2"),
    HOST("somebody else who says that he has the host's address",
         "eth dmac=33:33:00:00:00:01 ip6 to=ff02::1 icmp6 type=136 "
         "about=2001:db8::2"),
    HOST("a neighbor advertisement to the host",
         "eth ip6 icmp6 type=136 about=2001:db8::9"),

    HOST("a port that is named goes to the host", "eth ip4 to=10.0.0.9 sctp"),
    HOST("to all stations too", "eth " ALL " ip4 to=255.255.255.255 sctp"),
    HOST("over IPv6 too", "eth ip6 to=2001:db8::9 sctp"),
    HOST("a port of UDP", "eth ip4 to=10.0.0.9 udp vxlan ieth ip4 udp"),
    HOST("a type of ICMPv6 that is named goes to the host",
         "eth dmac=33:33:00:00:00:01 ip6 to=ff02::1 icmp6 type=134 pay=8"),

    PASSES_BY("another address passes the host by",
              "eth ip4 to=10.0.0.3 udp", XDP_C_REDIRECT),
    PASSES_BY("another IPv6 address passes the host by",
              "eth ip6 to=2001:db8::3 udp", XDP_C_REDIRECT),
    PASSES_BY("IPv6 to an address made of the host's IPv4 one passes it by",
              "eth ip6 to=::ffff:10.0.0.2 udp", XDP_C_REDIRECT),
    PASSES_BY("so does one that begins as that does",
              "eth ip6 to=a00:2:: udp", XDP_C_REDIRECT),
    PASSES_BY("the host's address as a source passes by",
              "eth ip4 from=10.0.0.2 to=10.0.0.3 udp", XDP_C_REDIRECT),
    PASSES_BY("at another MAC address it passes by",
              "eth dmac=02:00:00:00:00:03 ip4 udp", XDP_C_REDIRECT),
    PASSES_BY("in a VLAN that is not the host's it passes by",
              "eth tag tci=51 ip4 udp", XDP_C_REDIRECT),
    PASSES_BY("in another VLAN than its MAC address it passes by",
              "eth tag tci=50 ip4 udp", XDP_C_REDIRECT),
    PASSES_BY("behind one of two tags it passes by",
              "eth stag tci=7 ip4 udp", XDP_C_REDIRECT),
    PASSES_BY("behind two tags of which one is the host's it passes by",
              "eth dmac=02:00:00:00:00:50 tag tci=50 tag tci=8 ip4 udp",
              XDP_C_REDIRECT),
    PASSES_BY("to all stations of a VLAN that is not the host's it passes by",
              "eth " ALL " tag tci=51 ip4 udp", XDP_C_UP_GROUP),
    PASSES_BY("the host's address in a tunnel passes by",
              "eth ip4 to=10.0.0.3 gre ieth ip4 udp", XDP_C_REDIRECT),
    PASSES_BY("broadcast is not the host's",
              "eth " ALL " ip4 to=10.0.0.255 udp", XDP_C_UP_GROUP),
    PASSES_BY("who has another address", "eth " ALL " arp about=10.0.0.3",
              XDP_C_NOT_IP),
    PASSES_BY("who has the host's address, in another VLAN",
              "eth " ALL " tag tci=51 arp about=10.0.0.2", XDP_C_NOT_IP),
    PASSES_BY("ARP that is cut off", "eth " ALL " arp about=10.0.0.2 cut=41",
              XDP_C_NOT_IP),
    PASSES_BY("a solicitation of another neighbor",
              "eth " GROUP " ip6 to=ff02::1:ff00:2 icmp6 type=135 "
              "about=2001:db8::3", XDP_C_UP_GROUP),
    PASSES_BY("a solicitation that is cut off",
              "eth " GROUP " ip6 to=ff02::1:ff00:2 icmp6 type=135 pay=15",
              XDP_C_UP_GROUP),
    PASSES_BY("another type of ICMPv6 about the host",
              "eth " GROUP " ip6 to=ff02::1:ff00:2 icmp6 type=137 "
              "about=2001:db8::2", XDP_C_UP_GROUP),
    PASSES_BY("a router solicitation",
              "eth dmac=33:33:00:00:00:02 ip6 to=ff02::2 icmp6 type=133 "
              "pay=8", XDP_C_UP_GROUP),
    PASSES_BY("a port that is not named", "eth ip4 to=10.0.0.9 tcp",
              XDP_C_REDIRECT),
    PASSES_BY("a named port of another protocol",
              "eth ip4 to=10.0.0.9 udp", XDP_C_REDIRECT),
    PASSES_BY("a named port at another MAC address",
              "eth dmac=02:00:00:00:00:03 ip4 to=10.0.0.9 sctp",
              XDP_C_REDIRECT),
    { "of fragments no port is named", ANY,
      "eth ip4 to=10.0.0.9 sctp pay=64 first", XDP_C_REDIRECT,
      .also = XDP_C_PARSE_FRAGMENT, .settings = LAB_HOST },
    PASSES_BY("malformed IPv4 to the host is nobody's",
              "eth ip4 tcp set=0:0x44", XDP_C_MALFORMED_IPV4),
    { "malformed IPv4 to the host is dropped with malformed=drop", ANY,
      "eth ip4 tcp set=0:0x44", XDP_C_DROP_MALFORMED,
      .settings = LAB_HOST | LAB_DROP_MALFORMED },
    PASSES_BY("behind three tags a frame is nobody's",
              "eth stag tag tag ip4 udp", XDP_C_VLAN_DEPTH),

    { "a tag put back goes out again on the way to the host", ANY,
      "eth dmac=02:00:00:00:00:50 tag tci=50 ip4 udp pay=9",
      XDP_C_HOST_TRAFFIC, "eth dmac=02:00:00:00:00:50 ip4 udp pay=9",
      .settings = LAB_HOST | LAB_FRONT, .tag_put_back = true },
    { "so it does in front of ARP", ANY,
      "eth " ALL " tag tci=50 arp about=10.0.0.2",
      XDP_C_HOST_TRAFFIC, "eth " ALL " arp about=10.0.0.2",
      .settings = LAB_HOST | LAB_FRONT, .tag_put_back = true },
    { "a tag put back makes it another network's", ANY, "eth tag tci=51 ip4 "
      "udp", XDP_C_REDIRECT, .settings = LAB_HOST | LAB_FRONT,
      .tag_put_back = true },
};

TABLE_FIXTURES(fixtures_host, "the host's own traffic")
