/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_TABLE_PRIVATE_H
#define PREFIX_TABLE_PRIVATE_H 1

/* What the parts of the prefix table share:
 *     prefix-table.c          requests, one after the other
 *     prefix-table-pin.c      what a roll-back leaves
 *     prefix-force.c          putting a table in force
 *     prefix-table-show.c     what is seen of it */

#include "openvswitch/list.h"
#include "prefix-history.h"
#include "prefix-table.h"
#include "prefix-targets.h"
#include "xdp-table-layout.h"
#include "xdp-table-maps.h"

struct prefix_generation;
struct prefix_job;
struct prefix_request;

/* What is in force. */
struct prefix_force {
    struct prefix_set *set;             /* NULL: nothing. */
    enum prefix_source source;
    struct prefix_targets targets;      /* Of 'set'. */
    struct prefix_generation *gen;      /* NULL: no program to read it. */
    uint32_t slot;                      /* That 'gen' is in. */
    struct table_counter *base;         /* Of each entry of 'set': what
                                         * earlier generations counted. */
};

struct prefix_table {
    char *name;
    char *opt_prefixes, *opt_file;      /* As last configured, or NULL. */
    struct prefix_force force;
    struct prefix_history history;
    char *pinned_from;                  /* Version that a roll-back stands in
                                         * for, or NULL. */
    char *pin_error;                    /* Why a restart will lose it. */
    char *pin_lost;                     /* Why that of an earlier daemon is
                                         * not in force, or NULL. */
    bool pin_loaded;                    /* Has the state file been read? */

    struct xdp_table_fds fds;           /* Of the program's maps, our own, or
                                         * all -1. */
    uint32_t live_id;                   /* The kernel's, of 'fds.live'; 0. */
    struct table_live *live;            /* Its memory, or NULL. */
    unsigned int share;                 /* Percent. */

    struct ovs_list requests;           /* Waiting. */
    struct prefix_request *request;     /* At work, or NULL. */
    struct prefix_job *job;             /* Its job. */
    char *error;                        /* Of the last that went wrong. */
    bool rebuild_failed;                /* 'error' is of building anew. */
    bool changed;                       /* Since the last run. */
    uint64_t targets_seq;
    long long int next_look;            /* At bridges, in ms. */
};

void prefix_table_rebuild(struct prefix_table *);

void prefix_table_forget_pin(struct prefix_table *);
void prefix_table_remove_pin(struct prefix_table *);
bool prefix_table_take_pin(struct prefix_table *, struct prefix_job *);
char *prefix_table_check_pin(struct prefix_table *, struct prefix_job *);
void prefix_table_look_for_pin(const struct prefix_table *,
                               struct prefix_job *);
void prefix_table_prepare_pin(const struct prefix_table *,
                              struct prefix_job *);
void prefix_table_make_pin(struct prefix_table *, struct prefix_job *);

char *prefix_force_commit(struct prefix_table *, struct prefix_job *,
                          enum prefix_source);
void prefix_force_clear(struct prefix_table *);
void prefix_force_detach(struct prefix_table *);
void prefix_force_write_share(struct prefix_table *);
void prefix_force_write_now(struct prefix_table *);
uint32_t prefix_force_now(void);
void prefix_force_read(const struct prefix_force *, size_t entry,
                       struct table_counter *);

#endif /* prefix-table-private.h */
