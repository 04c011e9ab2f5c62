/* SPDX-License-Identifier: Apache-2.0 */

#ifndef NETDEV_TAGS_H
#define NETDEV_TAGS_H 1

#include <stdbool.h>

/* Where VLAN tags of received frames may be: in the frame, or beside it.  Main
 * thread. */
bool netdev_probe_may_hide_tags(const char *ifname, int ifindex);

#endif /* netdev-tags.h */
