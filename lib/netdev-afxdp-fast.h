/* SPDX-License-Identifier: Apache-2.0 */

#ifndef NETDEV_AFXDP_FAST_H
#define NETDEV_AFXDP_FAST_H 1

/* The netdev class "afxdp-fast": PMD ports of the userspace datapath on
 * AF_XDP sockets that share their frames. */

void netdev_afxdp_fast_register(void);

#endif /* netdev-afxdp-fast.h */
