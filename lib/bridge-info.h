/* SPDX-License-Identifier: Apache-2.0 */

#ifndef BRIDGE_INFO_H
#define BRIDGE_INFO_H 1

/* What the bridges above the ports are like, as far as the prefix table has to
 * know.  Main thread. */

#include <stdbool.h>

struct bridge_info {
    char *name;                     /* Of the bridge, or NULL: in none yet. */
    bool mirrors, sflow, ipfix, netflow;
};

/* Stores what is known of the bridge that has port 'port' in '*info', for
 * bridge_info_uninit(). */
void bridge_info_of_port(const char *port, struct bridge_info *info);
void bridge_info_uninit(struct bridge_info *);

#endif /* bridge-info.h */
