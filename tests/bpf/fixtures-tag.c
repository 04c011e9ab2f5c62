/* SPDX-License-Identifier: Apache-2.0 */

/* VLAN tags that are, or may be, beside the frame. */

#include <config.h>
#include "table-fixtures.h"

#define ANY "0.0.0.0/0=redirect:out"
#define IN_VLAN "10.0.0.2=redirect:out,vlan=0 10.0.0.3=drop"
#define HIDDEN LAB_TAGS_HIDDEN
#define FOLLOW (LAB_TAGS_HIDDEN | LAB_TAGS_FOLLOW)

static const struct table_fixture fixtures[] = {
    { "where tags may be hidden no frame is redirected", ANY, "eth ip4 udp",
      XDP_C_UP_TAG, .settings = HIDDEN },
    { "where tags may be hidden a frame is dropped as an entry says",
      "10.0.0.2=drop", "eth ip4 udp", XDP_C_DROP_PREFIX, .settings = HIDDEN },
    { "where tags may be hidden a frame goes to the host as an entry says",
      "10.0.0.2=host", "eth ip4 udp", XDP_C_TO_HOST, .settings = HIDDEN },
    { "where tags may be hidden a frame goes up as an entry says",
      "10.0.0.2=userspace", "eth ip4 udp", XDP_C_UP_ENTRY,
      .settings = HIDDEN },
    { "where tags may be hidden no limit to a VLAN counts", IN_VLAN,
      "eth ip4 udp", XDP_C_UP_TAG, .settings = HIDDEN },
    { "where tags may be hidden no entry beside limits to a VLAN drops",
      IN_VLAN, "eth ip4 to=10.0.0.3 udp", XDP_C_UP_TAG, .settings = HIDDEN },
    { "where hidden tags follow a frame is redirected", ANY, "eth ip4 udp",
      XDP_C_REDIRECT, .settings = FOLLOW },
    { "where hidden tags follow a TTL is decremented", ANY ",dec-ttl",
      "eth ip4 udp", XDP_C_REDIRECT, "eth ip4 ttl=63 udp",
      .settings = FOLLOW },
    { "where hidden tags follow no tag is pushed", ANY ",push-vlan=5",
      "eth ip4 udp", XDP_C_UP_TAG, .settings = FOLLOW },
    { "where hidden tags follow no tag is popped", ANY ",pop-vlan",
      "eth tag ip4 udp", XDP_C_UP_TAG, .settings = FOLLOW },
    { "where hidden tags follow no VLAN is set", ANY ",set-vlan=5",
      "eth tag ip4 udp", XDP_C_UP_TAG, .settings = FOLLOW },
    { "where hidden tags follow no limit to a VLAN counts", IN_VLAN,
      "eth ip4 udp", XDP_C_UP_TAG, .settings = FOLLOW },

    { "a tag put back goes out again on the way to the host", "10.0.0.2=host",
      "eth tag tci=0xf064 ip4 udp pay=9", XDP_C_TO_HOST, "eth ip4 udp pay=9",
      .settings = LAB_FRONT, .tag_put_back = true },
    { "the outer one of two tags goes out again on the way to the host",
      "10.0.0.2=host", "eth stag tag ip4 udp pay=9", XDP_C_TO_HOST,
      "eth tag ip4 udp pay=9", .settings = LAB_FRONT, .tag_put_back = true },
    { "a tag that was in the frame stays on the way to the host",
      "10.0.0.2=host", "eth tag ip4 udp", XDP_C_TO_HOST,
      .settings = LAB_FRONT },
    { "a tag put back stays in a frame that is redirected", ANY,
      "eth tag ip4 udp", XDP_C_REDIRECT, .settings = LAB_FRONT,
      .tag_put_back = true },
    { "a tag put back stays in a frame that goes up", "10.0.0.2=userspace",
      "eth tag ip4 udp", XDP_C_UP_ENTRY, .settings = LAB_FRONT,
      .tag_put_back = true },
    { "a tag put back is met by limits to its VLAN", "10.0.0.2=host,vlan=100",
      "eth tag ip4 udp", XDP_C_TO_HOST, "eth ip4 udp", .settings = LAB_FRONT,
      .tag_put_back = true },
    { "without a front program a note of another port's does not count",
      "10.0.0.2=host", "eth tag ip4 udp", XDP_C_TO_HOST,
      .tag_put_back = true },
    { "of a jumbo frame the tag goes out again", "10.0.0.2=host",
      "eth tag ip4 udp pay=5000", XDP_C_TO_HOST, "eth ip4 udp pay=5000",
      .settings = LAB_FRONT | LAB_FRAGS, .tag_put_back = true },
};

TABLE_FIXTURES(fixtures_tag, "tags beside the frame")
