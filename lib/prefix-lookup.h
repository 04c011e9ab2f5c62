/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_LOOKUP_H
#define PREFIX_LOOKUP_H 1

/* Which entry of a prefix table a frame meets, and what becomes of the frame.
 *
 * Thread rule: main thread. */

#include "appctl-command.h"

appctl_command_func prefix_lookup;

#endif /* prefix-lookup.h */
