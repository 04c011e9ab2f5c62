/* SPDX-License-Identifier: Apache-2.0 */

#ifndef KERNEL_CONSTANTS_H
#define KERNEL_CONSTANTS_H 1

/* What Debian 12's kernel headers lack or guard. */

#include <linux/if_xdp.h>
#include <sys/mman.h>

#ifndef XDP_MAX_TX_SKB_BUDGET
#define XDP_MAX_TX_SKB_BUDGET 9         /* Linux 6.17. */
#endif

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23          /* Linux 5.14. */
#endif

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25                /* Linux 6.1. */
#endif

#endif /* kernel-constants.h */
