/* SPDX-License-Identifier: Apache-2.0 */

#ifndef TRY_LOCK_H
#define TRY_LOCK_H 1

/* A lock that nobody waits for: who does not get it does something else.
 *
 * Taking and releasing it are full barriers each, also for what is not under
 * the lock.  So when one thread writes A and then fails to take the lock, and
 * its holder releases it and then reads A, the holder sees what was written:
 * either the release comes first, and the lock would have been had, or it
 * comes last.  An ovs_mutex promises no such thing, and with a fence beside
 * it costs two more of the instructions that make a core wait for all that it
 * has written before.
 *
 * Thread rule: any thread. */

#include <stdbool.h>

struct try_lock {
    bool taken;
};

/* Takes the lock if it is free.  Returns true if the caller has it now. */
static inline bool
try_lock_take(struct try_lock *lock)
{
    return !__atomic_exchange_n(&lock->taken, true, __ATOMIC_SEQ_CST);
}

/* Releases the lock, which the caller has.  An exchange, since of what could
 * be a full barrier it is the cheapest on x86-64. */
static inline void
try_lock_release(struct try_lock *lock)
{
    (void) __atomic_exchange_n(&lock->taken, false, __ATOMIC_SEQ_CST);
}

#endif /* try-lock.h */
