/* SPDX-License-Identifier: Apache-2.0 */

/* Which entry a frame meets. */

#include <config.h>
#include "table-fixtures.h"

/* A table in which each entry does something else: what becomes of a frame
 * says which one it has met. */
#define NESTED "10.0.0.0/8=redirect:out 10.0.0.0/16=drop 10.0.0.0/24=host " \
               "10.0.0.2/32=userspace "                                     \
               "2001:db8::/32=redirect:out 2001:db8::/48=drop "             \
               "2001:db8::/64=host 2001:db8::2/128=userspace"

/* Of one prefix, with limits of all kinds. */
#define LIMITED "10.0.0.0/8=drop,vlan=100,dmac=02:00:00:00:00:02 "          \
                "10.0.0.0/8=host,vlan=100 "                                 \
                "10.0.0.0/8=userspace,dmac=02:00:00:00:00:02 "              \
                "10.0.0.0/8=redirect:out"

static const struct table_fixture fixtures[] = {
    { "of nested prefixes /32 is the longest", NESTED, "eth ip4 udp",
      XDP_C_UP_ENTRY },
    { "beside the /32 there is the /24", NESTED, "eth ip4 to=10.0.0.3 udp",
      XDP_C_TO_HOST },
    { "beside the /24 there is the /16", NESTED, "eth ip4 to=10.0.1.0 udp",
      XDP_C_DROP_PREFIX },
    { "beside the /16 there is the /8", NESTED, "eth ip4 to=10.1.0.0 udp",
      XDP_C_REDIRECT },
    { "beside the /8 there is nothing", NESTED, "eth ip4 to=11.0.0.0 udp",
      XDP_C_UP_NO_MATCH },
    { "of nested IPv6 prefixes /128 is the longest", NESTED, "eth ip6 udp",
      XDP_C_UP_ENTRY },
    { "beside the /128 there is the /64", NESTED,
      "eth ip6 to=2001:db8::3 udp", XDP_C_TO_HOST },
    { "beside the /64 there is the /48", NESTED,
      "eth ip6 to=2001:db8:0:1::2 udp", XDP_C_DROP_PREFIX },
    { "beside the /48 there is the /32", NESTED,
      "eth ip6 to=2001:db8:1::2 udp", XDP_C_REDIRECT },
    { "beside the IPv6 /32 there is nothing", NESTED,
      "eth ip6 to=2001:db9::2 udp", XDP_C_UP_NO_MATCH },
    { "IPv4 does not meet entries of IPv6", "::/0=drop", "eth ip4 udp",
      XDP_C_UP_NO_MATCH },
    { "IPv6 does not meet entries of IPv4", "0.0.0.0/0=drop", "eth ip6 udp",
      XDP_C_UP_NO_MATCH },
    { "an IPv4-mapped address is IPv6", "10.0.0.2=drop",
      "eth ip6 to=::ffff:10.0.0.2 udp", XDP_C_UP_NO_MATCH },

    { "a source entry goes before a longer destination entry",
      "10.0.0.0/8=drop,src 10.0.0.2/32=redirect:out", "eth ip4 udp",
      XDP_C_DROP_PREFIX },
    { "where no source entry matches, the destination counts",
      "11.0.0.0/8=drop,src 10.0.0.2/32=redirect:out", "eth ip4 udp",
      XDP_C_REDIRECT },
    { "a source entry does not match the destination",
      "10.0.0.2=drop,src", "eth ip4 udp", XDP_C_UP_NO_MATCH },
    { "a source entry of IPv6 goes before a destination entry",
      "2001:db8::1=drop,src ::/0=redirect:out", "eth ip6 udp",
      XDP_C_DROP_PREFIX },
    { "a source entry that is limited leaves others to the destination",
      "10.0.0.1=drop,src,vlan=7 10.0.0.2=host", "eth ip4 udp",
      XDP_C_TO_HOST },

    { "an entry limited to VLAN and MAC wins", LIMITED, "eth tag ip4 udp",
      XDP_C_DROP_PREFIX },
    { "with another MAC the entry of the VLAN wins", LIMITED,
      "eth dmac=02:00:00:00:00:03 tag ip4 udp", XDP_C_TO_HOST },
    { "in another VLAN the entry of the MAC wins", LIMITED,
      "eth tag tci=101 ip4 udp", XDP_C_UP_ENTRY },
    { "with another VLAN and MAC the unlimited entry wins", LIMITED,
      "eth dmac=02:00:00:00:00:03 tag tci=101 ip4 udp", XDP_C_REDIRECT },
    { "the VLAN is that of the outer tag", LIMITED,
      "eth dmac=02:00:00:00:00:03 stag tag ip4 udp", XDP_C_REDIRECT },
    { "an outer tag of 802.1ad counts as one of 802.1Q", LIMITED,
      "eth dmac=02:00:00:00:00:03 stag tci=100 tag ip4 udp", XDP_C_TO_HOST },
    { "the priority is not part of the VLAN", LIMITED,
      "eth dmac=02:00:00:00:00:03 tag tci=0xf064 ip4 udp", XDP_C_TO_HOST },
    { "an entry of VLAN 0 takes frames without a tag",
      "10.0.0.2=drop,vlan=0", "eth ip4 udp", XDP_C_DROP_PREFIX },
    { "an entry of VLAN 0 takes frames with a priority tag",
      "10.0.0.2=drop,vlan=0", "eth tag tci=0xe000 ip4 udp",
      XDP_C_DROP_PREFIX },
    { "an entry of VLAN 0 takes no tagged frames", "10.0.0.2=drop,vlan=0",
      "eth tag ip4 udp", XDP_C_UP_NO_MATCH },
    { "where a longer limited prefix does not match, a shorter one does",
      "10.0.0.2=drop,vlan=7 10.0.0.0/8=host", "eth tag ip4 udp",
      XDP_C_TO_HOST },
    { "the last byte of a MAC counts", "10.0.0.2=drop,dmac=02:00:00:00:00:03",
      "eth ip4 udp", XDP_C_UP_NO_MATCH },
    { "the first byte of a MAC counts", "10.0.0.2=drop,dmac=06:00:00:00:00:02",
      "eth ip4 udp", XDP_C_UP_NO_MATCH },

    { "each entry has a target of its own: the one that is ready",
      "10.0.0.2=redirect:out 10.0.0.3=redirect:down",
      "eth ip4 udp", XDP_C_REDIRECT },
    { "each entry has a target of its own: the one that is not",
      "10.0.0.2=redirect:out 10.0.0.3=redirect:down",
      "eth ip4 to=10.0.0.3 udp", XDP_C_UP_NOT_READY },
};

TABLE_FIXTURES(fixtures_lookup, "which entry a frame meets")
