/* SPDX-License-Identifier: Apache-2.0 */

#ifndef HOST_SHIELD_H
#define HOST_SHIELD_H 1

/* Drops what arrives at a device before the host's stack sees it, while there
 * is no XDP program on it.  Main thread. */

int host_shield_raise(int ifindex);
void host_shield_lower(int fd);

#endif /* host-shield.h */
