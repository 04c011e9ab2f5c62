/* SPDX-License-Identifier: Apache-2.0 */

#ifndef XDP_DIAGNOSE_H
#define XDP_DIAGNOSE_H 1

#include <stdbool.h>

/* What to tell the operator when an XDP program does not load or attach
 * =====================================================================
 *
 * The kernel explains a refusal in words that reach us only through libbpf's
 * print callback.  Between xdp_diagnose_begin() and xdp_diagnose_end() that
 * callback is ours: it keeps the kernel's words and sends everything libbpf
 * says to the log at DBG.  The previous callback is put back at the end.
 *
 * Main thread only, not nested. */

void xdp_diagnose_begin(void);
void xdp_diagnose_end(void);

char *xdp_diagnose_text(const char *ifname, const char *what, int error);
int xdp_diagnose_foreign(const char *ifname, int ifindex, char **errp);

#endif /* xdp-diagnose.h */
