/* SPDX-License-Identifier: Apache-2.0 */

#ifndef QUEUE_WATCH_H
#define QUEUE_WATCH_H 1

/* Hearing at once that the queues of some device have changed, where the
 * kernel announces it, which is for "ethtool -L" (Linux 5.7) and neither for
 * what goes by ethtool's ioctl nor for a tap.  Main thread. */

#include <stdbool.h>

bool queue_watch_run(void);
void queue_watch_wait(void);

#endif /* queue-watch.h */
