/* SPDX-License-Identifier: Apache-2.0 */

#ifndef FINDINGS_H
#define FINDINGS_H 1

/* What an examination finds: what is wrong, and the command that mends it. */

#include <stddef.h>

#include "openvswitch/compiler.h"

struct ds;
struct json;

enum finding_level {
    FINDING_ERROR,                  /* Traffic does not flow, or is lost. */
    FINDING_WARNING,                /* It may be, or flows not as asked. */
    FINDING_NOTE,                   /* Could be better, or is to be known. */
    FINDING_N_LEVELS
};

struct finding {
    enum finding_level level;
    char *port;                     /* Or NULL: of the daemon. */
    char *name;                     /* One word; of a key of 'status' where
                                     * that says the same. */
    char *text;
    char *command;                  /* Or NULL: none is known. */
};

struct findings {
    struct finding *list;
    size_t n, allocated;
};

#define FINDINGS_INITIALIZER { NULL, 0, 0 }

void findings_destroy(struct findings *);

/* Add one about 'port', which may be NULL.  The second one takes the text of a
 * message: in ours, what mends it is in quotes after "with" or "run". */
void findings_add(struct findings *, enum finding_level, const char *port,
                  const char *name, const char *command,
                  const char *format, ...) OVS_PRINTF_FORMAT(6, 7);
void findings_add_message(struct findings *, enum finding_level,
                          const char *port, const char *name,
                          const char *message);

size_t findings_count(const struct findings *, enum finding_level);
void findings_format(const struct findings *, struct ds *);
struct json *findings_to_json(const struct findings *);

#endif /* findings.h */
