/* SPDX-License-Identifier: Apache-2.0 */

#ifndef KERNEL_FEATURES_H
#define KERNEL_FEATURES_H 1

/* What the running kernel may lack of that we make use of: found by asking for
 * it, not by version numbers, since distributions port features back. */

/* X(NAME, CONSEQUENCE).  Linux that has it, in this order: 6.17, 6.3, 5.14,
 * 6.1. */
#define KERNEL_FEATURES(X)                                                  \
    X(tx_skb_budget, "tx-skb-budget",                                       \
      "more system calls to send in copy mode")                             \
    X(xdp_features, "xdp-features",                                         \
      "modes are found by trying them")                                     \
    X(populate_write, "populate-write",                                     \
      "want of memory may end the daemon")                                  \
    X(collapse, "collapse",                                                 \
      "4 KB pages without hugepages where shmem_enabled is \"never\"")

struct ds;

void kernel_features_probe(void);
void kernel_features_format_lacks(struct ds *, const char *separator);

#endif /* kernel-features.h */
