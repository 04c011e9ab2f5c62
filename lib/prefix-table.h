/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_TABLE_H
#define PREFIX_TABLE_H 1

/* The prefix table of a port: what is in force, where it came from, versions
 * before it.
 *
 * A change goes through a job: read, parse, build, fill the kernel's memory.
 * Small ones (an option, a file up to 256 KB) run at once, large ones in a
 * thread of their own, so that the main thread does not stand still.  At the
 * end the main thread puts the result in force by writing one word, or keeps
 * what is in force and says why.
 *
 * Thread rule: main thread, all of it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prefix-set.h"
#include "prefix-trie.h"

struct ds;
struct prefix_table;
struct smap;

#define PREFIX_HISTORY 10

enum prefix_source {
    PREFIX_NONE,
    PREFIX_OPTION,                  /* options:prefixes. */
    PREFIX_FILE,                    /* options:prefix-file. */
    PREFIX_COMMAND,                 /* Changed by "add" or "del" since. */
};

/* Called once when a request is done: 'error' is NULL, or what went wrong, and
 * then nothing has changed. */
typedef void prefix_done_cb(struct prefix_table *, const char *error,
                            void *aux);

/* 'name' is the port's.  The table works, and says what is wrong, also while
 * no program is there. */
struct prefix_table *prefix_table_create(const char *name);
void prefix_table_destroy(struct prefix_table *);

/* What the options say: each NULL if not set.  Reads the file only if its name
 * has changed.  Returns NULL, or what is wrong with the two together, for the
 * caller to free. */
char *prefix_table_configure(struct prefix_table *, const char *prefixes,
                             const char *file);

/* What fills the program's memory: the two slots' maps, and 'live'.  -1 while
 * no program is attached.  They may be closed by the time of the next call,
 * and other files have their numbers. */
void prefix_table_set_maps(struct prefix_table *, int tables_fd,
                           int hits_fd, int live_fd);
void prefix_table_set_share(struct prefix_table *, unsigned int percent);

/* Once a round of the main loop.  Returns true if what status shows has
 * changed. */
bool prefix_table_run(struct prefix_table *);
void prefix_table_wait(struct prefix_table *);

/* Is a table in force, or on its way? */
bool prefix_table_is_wanted(const struct prefix_table *);

/* What is shown. */
const struct prefix_set *prefix_table_get_set(const struct prefix_table *);
enum prefix_source prefix_table_source(const struct prefix_table *);
const char *prefix_source_to_string(enum prefix_source);
bool prefix_table_is_pinned(const struct prefix_table *);
/* Why a restart of the daemon will lose the pin, or NULL. */
const char *prefix_table_pin_error(const struct prefix_table *);
const char *prefix_table_error(const struct prefix_table *);
void prefix_table_get_status(const struct prefix_table *, struct smap *);

struct prefix_hits {
    uint64_t packets, bytes;
    long long int last_ms;          /* Ago; -1: never. */
};
/* Stores the hits of all entries, in the order of the set, in 'hits', which
 * has room for set->n. */
void prefix_table_get_hits(const struct prefix_table *,
                           struct prefix_hits *hits);

struct prefix_version {
    const char *version;            /* Version string. */
    enum prefix_source source;
    long long int when_ms;          /* When put in force, wall clock. */
    size_t n;                       /* Entries. */
    bool in_force, pinned;
};
/* Stores the versions, the newest first, and returns how many. */
size_t prefix_table_get_history(const struct prefix_table *,
                                struct prefix_version[PREFIX_HISTORY]);

/* Why entries stay on userspace though they say otherwise; the entry's index
 * in 'set', which need not be in force.  NULL: it does not. */
char *prefix_table_explain(const struct prefix_table *,
                           const struct prefix_entry *);

/* Returns NULL if 'set' may be put in force by a command, else the first
 * reason why not: a target that is no afxdp-fast port, or of another bridge,
 * or the port itself. */
char *prefix_table_check_set(const struct prefix_table *,
                             const struct prefix_set *set);

/* Returns NULL, or, if the version of 'set' has been rolled back and is not
 * taken again, that, for the caller to free. */
char *prefix_table_check_version(const struct prefix_table *,
                                 const struct prefix_set *set);

/* Commands. */
void prefix_table_apply(struct prefix_table *, prefix_done_cb *, void *aux);
void prefix_table_add(struct prefix_table *, const struct prefix_entry *,
                      prefix_done_cb *, void *aux);
void prefix_table_del(struct prefix_table *, const struct prefix_entry *,
                      prefix_done_cb *, void *aux);
void prefix_table_rollback(struct prefix_table *, prefix_done_cb *,
                           void *aux);

/* The entry that 'query' meets in the table in force, or NULL. */
const struct prefix_entry *prefix_table_lookup(const struct prefix_table *,
                                               const struct prefix_query *);

#endif /* prefix-table.h */
