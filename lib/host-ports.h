/* SPDX-License-Identifier: Apache-2.0 */

#ifndef HOST_PORTS_H
#define HOST_PORTS_H 1

/* The option host-ports: packets that go to the host's stack whatever their
 * address, such as "udp:68 icmpv6:134". */

#include <stdint.h>

#include "port-config.h"

struct ds;

char *host_ports_parse(const char *, uint32_t ports[PORT_MAX_HOST_PORTS],
                       uint32_t *n);
void host_ports_format(const uint32_t ports[], uint32_t n, struct ds *);

#endif /* host-ports.h */
