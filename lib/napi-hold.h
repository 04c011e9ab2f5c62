/* SPDX-License-Identifier: Apache-2.0 */

#ifndef NAPI_HOLD_H
#define NAPI_HOLD_H 1

/* Values of NAPIs that we have changed, and how they are put back.
 *
 * Who needs other values holds the NAPI, and gives it up in the end; the last
 * one to do so puts back what was there before.  A state file names all that
 * is held, from before it is changed until it is put back, so that a daemon
 * that is killed leaves it to the next one, or to afxdp-fast-restore.
 *
 * Put back is only what still has our value: whoever has set another one
 * since means it.  NAPIs of a device that is down are not there, but drivers
 * may keep their values until it is up again: then they stay in the file.
 *
 * A state file is taken over as a whole or not at all.  One of no use, as that
 * of another version or of another network namespace, is never replaced but
 * renamed, for people: it may be all that is known of the values before.
 *
 * Main thread. */

#include <stdbool.h>

#include "napi.h"

/* The state file, in the run-time folder. */
#define NAPI_HOLDS_FILE "afxdp-fast-busy-poll"

struct napi_hold;

char *napi_holds_load(const char *path);
int napi_holds_set_aside(char **keptp);
void napi_holds_settle(void);
bool napi_holds_are_waiting(void);

struct napi_hold *napi_hold_take(const struct napi_owner *,
                                 const struct napi_values *, char **errp);
bool napi_hold_is_there(const struct napi_hold *);
void napi_hold_release(struct napi_hold *);

#endif /* napi-hold.h */
