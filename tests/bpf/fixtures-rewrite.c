/* SPDX-License-Identifier: Apache-2.0 */

/* Changes of frames on their way out. */

#include <config.h>
#include "table-fixtures.h"

#define TO "0.0.0.0/0=redirect:out,"
#define TO6 "::/0=redirect:out,"
#define REDIRECT XDP_C_REDIRECT

static const struct table_fixture fixtures[] = {
    { "the source MAC is set", TO "set-smac=02:aa:00:00:00:01",
      "eth ip4 udp pay=9", REDIRECT,
      "eth smac=02:aa:00:00:00:01 ip4 udp pay=9" },
    { "the destination MAC is set", TO "set-dmac=02:bb:cc:dd:ee:ff",
      "eth ip4 udp pay=9", REDIRECT,
      "eth dmac=02:bb:cc:dd:ee:ff ip4 udp pay=9" },
    { "the TTL is decremented, the header's checksum with it", TO "dec-ttl",
      "eth ip4 udp pay=9", REDIRECT, "eth ip4 ttl=63 udp pay=9" },
    { "the hop limit is decremented", TO6 "dec-ttl", "eth ip6 udp pay=9",
      REDIRECT, "eth ip6 ttl=63 udp pay=9" },
    { "the TTL behind tags and before options is decremented", TO "dec-ttl",
      "eth stag tag ip4opt ttl=255 udp", REDIRECT,
      "eth stag tag ip4opt ttl=254 udp" },
    { "of a fragment the TTL is decremented", TO "dec-ttl",
      "eth ip4 pay=64 more", REDIRECT, "eth ip4 ttl=63 pay=64 more",
      .also = XDP_C_PARSE_FRAGMENT },
    { "of tunnels the outer TTL is decremented", TO "dec-ttl",
      "eth ip4 ttl=9 ip4 ttl=5 tcp", REDIRECT,
      "eth ip4 ttl=8 ip4 ttl=5 tcp" },
    { "a tag is pushed", TO "push-vlan=5", "eth ip4 udp pay=9", REDIRECT,
      "eth tag tci=5 ip4 udp pay=9" },
    { "a tag of 802.1ad is pushed", TO "push-vlan=0x88a8:4094",
      "eth ip4 udp pay=9", REDIRECT, "eth stag tci=4094 ip4 udp pay=9" },
    { "a tag is pushed before an IPv6 header", TO6 "push-vlan=5",
      "eth ip6 hbh udp pay=9", REDIRECT, "eth tag tci=5 ip6 hbh udp pay=9" },
    { "a second tag is pushed", TO "push-vlan=5", "eth tag ip4 udp",
      REDIRECT, "eth tag tci=5 tag ip4 udp" },
    { "a third tag is pushed", TO "push-vlan=5", "eth stag tag ip4 udp",
      REDIRECT, "eth tag tci=5 stag tag ip4 udp" },
    { "a tag is pushed over metadata of the driver", TO "push-vlan=5",
      "eth ip4 udp pay=9", REDIRECT, "eth tag tci=5 ip4 udp pay=9",
      .source = { .meta = 32 } },
    { "a tag is popped", TO "pop-vlan", "eth tag ip4 udp pay=9", REDIRECT,
      "eth ip4 udp pay=9" },
    { "the outer one of two tags is popped", TO "pop-vlan",
      "eth stag tag ip4 udp", REDIRECT, "eth tag ip4 udp" },
    { "a priority tag is popped", TO "pop-vlan", "eth tag tci=0xe000 ip4 udp",
      REDIRECT, "eth ip4 udp" },
    { "a VLAN is set, priority and DEI stay", TO "set-vlan=5",
      "eth tag tci=0xf064 ip4 udp", REDIRECT, "eth tag tci=0xf005 ip4 udp" },
    { "the VLAN of a tag of 802.1ad is set, the type stays", TO "set-vlan=5",
      "eth stag tci=0x60c8 tag ip4 udp", REDIRECT,
      "eth stag tci=0x6005 tag ip4 udp" },
    { "a priority tag gets a VLAN", TO6 "set-vlan=4094",
      "eth tag tci=0xe000 ip6 udp", REDIRECT, "eth tag tci=0xeffe ip6 udp" },
    { "a tag is popped and another one pushed", TO "pop-vlan,push-vlan=5",
      "eth stag tci=0xf064 ip4 udp", REDIRECT, "eth tag tci=5 ip4 udp" },
    { "of two tags the outer one is popped and another one pushed",
      TO "pop-vlan,push-vlan=0x88a8:5", "eth tag tag ip4 udp", REDIRECT,
      "eth stag tci=5 tag ip4 udp" },

    { "a router's next hop: MACs and TTL",
      TO "set-smac=02:aa:00:00:00:01,set-dmac=02:bb:00:00:00:01,dec-ttl",
      "eth ip4 udp pay=9", REDIRECT,
      "eth smac=02:aa:00:00:00:01 dmac=02:bb:00:00:00:01 ip4 ttl=63 udp "
      "pay=9" },
    { "MACs, TTL and a pushed tag at once",
      TO "set-smac=02:aa:00:00:00:01,set-dmac=02:bb:00:00:00:01,dec-ttl,"
      "push-vlan=5", "eth ip4 udp pay=9", REDIRECT,
      "eth smac=02:aa:00:00:00:01 dmac=02:bb:00:00:00:01 tag tci=5 ip4 "
      "ttl=63 udp pay=9" },
    { "MACs, TTL and a popped tag at once",
      TO6 "set-smac=02:aa:00:00:00:01,set-dmac=02:bb:00:00:00:01,dec-ttl,"
      "pop-vlan", "eth tag ip6 udp pay=9", REDIRECT,
      "eth smac=02:aa:00:00:00:01 dmac=02:bb:00:00:00:01 ip6 ttl=63 udp "
      "pay=9" },
    { "MACs, TTL and a VLAN at once",
      TO "set-smac=02:aa:00:00:00:01,set-dmac=02:bb:00:00:00:01,dec-ttl,"
      "set-vlan=7", "eth tag ip4 udp pay=9", REDIRECT,
      "eth smac=02:aa:00:00:00:01 dmac=02:bb:00:00:00:01 tag tci=7 ip4 "
      "ttl=63 udp pay=9" },
    { "MACs, TTL and another tag at once",
      TO "set-smac=02:aa:00:00:00:01,set-dmac=02:bb:00:00:00:01,dec-ttl,"
      "pop-vlan,push-vlan=7", "eth stag ip4 udp pay=9", REDIRECT,
      "eth smac=02:aa:00:00:00:01 dmac=02:bb:00:00:00:01 tag tci=7 ip4 "
      "ttl=63 udp pay=9" },
    { "of two entries each changes as it says",
      TO "set-vlan=7 10.0.0.2=redirect:out,set-vlan=8", "eth tag ip4 udp",
      REDIRECT, "eth tag tci=8 ip4 udp" },

    { "a TTL of 1 goes up", TO "dec-ttl", "eth ip4 ttl=1 udp", XDP_C_UP_TTL },
    { "a TTL of 0 goes up", TO "dec-ttl", "eth ip4 ttl=0 udp", XDP_C_UP_TTL },
    { "a TTL of 2 is decremented", TO "dec-ttl", "eth ip4 ttl=2 udp",
      REDIRECT, "eth ip4 ttl=1 udp" },
    { "a hop limit of 1 goes up", TO6 "dec-ttl", "eth ip6 ttl=1 udp",
      XDP_C_UP_TTL },
    { "a hop limit of 0 goes up", TO6 "dec-ttl", "eth ip6 ttl=0 udp",
      XDP_C_UP_TTL },
    { "a TTL of 1 that stays 1 is redirected", TO "set-smac=02:aa:00:00:00:01",
      "eth ip4 ttl=1 udp", REDIRECT,
      "eth smac=02:aa:00:00:00:01 ip4 ttl=1 udp" },
    { "a TTL of 1 goes up unchanged by the entry's other changes",
      TO "dec-ttl,push-vlan=5,set-smac=02:aa:00:00:00:01",
      "eth ip4 ttl=1 udp", XDP_C_UP_TTL },
    { "without a tag, to pop one does not fit", TO "pop-vlan", "eth ip4 udp",
      XDP_C_UP_REWRITE },
    { "without a tag, to set its VLAN does not fit", TO "set-vlan=5",
      "eth ip4 udp", XDP_C_UP_REWRITE },
    { "without a tag, to replace it does not fit", TO "pop-vlan,push-vlan=5",
      "eth ip4 udp", XDP_C_UP_REWRITE },
    { "a frame with no room in front goes up rather than get a tag",
      TO "push-vlan=5,dec-ttl,set-smac=02:aa:00:00:00:01",
      "eth ip4 udp pay=9", XDP_C_UP_REWRITE, .source = { .meta = 216 } },
};

TABLE_FIXTURES(fixtures_rewrite, "changes of frames")
