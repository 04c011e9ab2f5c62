/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_APPCTL_H
#define PREFIX_APPCTL_H 1

/* Commands of the daemon's control socket for the prefix tables:
 * afxdp-fast/prefix-*.
 *
 * Thread rule: main thread, all of it. */

/* Registers the commands.  Once. */
void prefix_appctl_init(void);

#endif /* prefix-appctl.h */
