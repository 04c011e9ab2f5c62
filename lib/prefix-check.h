/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_CHECK_H
#define PREFIX_CHECK_H 1

/* The dry run: what a file would change in the prefix table of a port.
 *
 * Files are read, compared and reported on in a thread, one at a time, so that
 * neither a large one nor a file system that does not answer stops the main
 * thread.  In between that looks at the table, once: what a report says of it,
 * of the targets and of the bridge is what was so when the file had just been
 * read.  What is left to the main thread is to send the answer: with
 * limit=100000 this is some MB.
 *
 * Thread rule: main thread, all of it. */

#include <stdbool.h>

#include "appctl-command.h"

appctl_command_func prefix_check;

/* Once a round of the main loop: answers what has been read.  Returns true if
 * there was an answer, so that the main loop must not sleep before it has been
 * sent. */
bool prefix_check_run(void);
void prefix_check_wait(void);

#endif /* prefix-check.h */
