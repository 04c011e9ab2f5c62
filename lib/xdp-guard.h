/* SPDX-License-Identifier: Apache-2.0 */

#ifndef XDP_GUARD_H
#define XDP_GUARD_H 1

/* The guard of targets, bpf/guard.bpf.c: loading it, telling it the ports, and
 * hearing from it.  One for the daemon; while it is not loaded, each function
 * but xdp_guard_load() does nothing.  Main thread. */

#include <stdbool.h>
#include <stdint.h>

#include "xdp-guard-layout.h"

struct table_lost;

int xdp_guard_load(int targets_fd, const uint32_t devmap_ids[2], char **errp);
int xdp_guard_attach(char **errp);
void xdp_guard_detach(void);

void xdp_guard_set_port(int ifindex, uint32_t target);
void xdp_guard_clear_port(int ifindex);

typedef void xdp_guard_failed_func(uint32_t target, int error);
void xdp_guard_run(xdp_guard_failed_func *);
void xdp_guard_wait(void);

void xdp_guard_read_lost(uint32_t target, struct table_lost *);
void xdp_guard_reset_lost(uint32_t target);

#endif /* xdp-guard.h */
