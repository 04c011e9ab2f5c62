/* SPDX-License-Identifier: Apache-2.0 */

#ifndef HOST_SHIELD_H
#define HOST_SHIELD_H 1

/* Drops what arrives at a device before the host's stack sees it, while there
 * is no XDP program on it, and counts it.  Main thread. */

#include <stdint.h>

struct host_shield;

struct host_shield *host_shield_raise(int ifindex);
uint64_t host_shield_lower(struct host_shield *);

#endif /* host-shield.h */
