/* SPDX-License-Identifier: Apache-2.0 */

#ifndef XDP_FRONT_H
#define XDP_FRONT_H 1

/* The front program of a device (bpf/tags.bpf.c): asks the driver for a VLAN
 * tag that it has taken out of the frame, and hands over to the port's
 * program.  Main thread. */

#include <stdbool.h>
#include <stdint.h>

struct xdp_front;

int xdp_front_load(int ifindex, bool frags, struct xdp_front **);
int xdp_front_renew(struct xdp_front *, int ifindex, bool frags, int link_fd);
void xdp_front_unload(struct xdp_front *);
int xdp_front_fd(const struct xdp_front *);
uint32_t xdp_front_id(const struct xdp_front *);
int xdp_front_counters_fd(const struct xdp_front *);
int xdp_front_note_fd(const struct xdp_front *);
int xdp_front_set_next(struct xdp_front *, int prog_fd);

#endif /* xdp-front.h */
