/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* What draw.bpf.c and bench-table.c must agree on. */

#ifndef DRAW_H
#define DRAW_H 1

/* As many as the method has: more than branch predictors learn by
 * heart. */
#define N_DRAWS (1 << 20)

/* Offsets in an Ethernet frame with IPv4 or IPv6 without options, and UDP, and
 * the length of the frames. */
#define DRAW_ID 18
#define DRAW_DST4 30
#define DRAW_PAYLOAD4 42
#define DRAW_LEN4 60
#define DRAW_DST6 38
#define DRAW_PAYLOAD6 62
#define DRAW_LEN6 78

#endif /* draw.h */
