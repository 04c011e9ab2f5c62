/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_CHECK_H
#define PREFIX_CHECK_H 1

/* The dry run: what a file would change in the prefix table of a port.
 *
 * Large files are read in a thread of their own, one at a time, so that the
 * main thread does not stand still.
 *
 * Thread rule: main thread, all of it. */

#include <stdbool.h>

#include "appctl-command.h"

/* Files above this are read in a thread. */
#define PREFIX_CHECK_AT_ONCE (256 * 1024)

appctl_command_func prefix_check;

/* Once a round of the main loop: answers what has been read.  Returns true if
 * there was an answer, so that the main loop must not sleep before it has been
 * sent. */
bool prefix_check_run(void);
void prefix_check_wait(void);

#endif /* prefix-check.h */
