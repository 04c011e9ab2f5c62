/* SPDX-License-Identifier: Apache-2.0 */

/* Programs with a table, of all settings that tests ask for, and ports to
 * redirect to. */

#ifndef LAB_H
#define LAB_H 1

#include "prefix-set.h"
#include "table.h"
#include "xdp-layout.h"

/* Settings of a program, in one word. */
enum {
    LAB_HINTS = 1 << 0,
    LAB_DROP_MALFORMED = 1 << 1,
    LAB_FRAGS = 1 << 2,
    LAB_TAGS_HIDDEN = 1 << 3,
    LAB_TAGS_FOLLOW = 1 << 4,
    LAB_FRONT = 1 << 5,
    LAB_MAX_FRAME = 1 << 6,     /* LAB_FRAME_MAX. */
    LAB_NEIGHBOR = 1 << 7,      /* Another port beside that with settings 0. */
    LAB_HOST = 1 << 8,          /* See set_host() of table.c. */
};

/* Longest frame that goes up with LAB_MAX_FRAME. */
#define LAB_FRAME_MAX 3500

/* Targets, by the name that an entry calls them. */
#define LAB_TARGETS(X)                                          \
    X("out", 1500, READY)                                       \
    X("sg", 1500, READY | SG)       /* Takes several pieces. */ \
    X("small", 1000, READY | SG)                                \
    X("jumbo", 9000, READY)                                     \
    X("jumbo-sg", 9000, READY | SG)                             \
    X("down", 1500, SG)             /* Not ready. */            \
    X("gone", 1500, READY | EMPTY)  /* Its device is. */        \
    X("late", 1500, READY | SG)     /* For tests to change. */
/* An index beyond all targets. */
#define LAB_UNKNOWN "unknown"
/* No port to redirect to. */
#define LAB_WAITING "waiting"

/* Returns the program with 'settings', LAB_*; the same one each time. */
struct table_program *lab_program(unsigned int settings);
void lab_close(void);

/* Returns the index of the target 'name'. */
uint32_t lab_target(const char *name);

/* Puts the table 'prefixes', as options:prefixes has it, in force in a slot
 * that is not, or none if it is NULL.  Returns its set, good until the next
 * call for the program. */
const struct prefix_set *lab_set_table(struct table_program *,
                                       const char *prefixes);

/* As lab_set_table(), for a set, which the lab takes over. */
void lab_set_set(struct table_program *, struct prefix_set *);

/* Clears what has been learned of source MACs. */
void lab_forget(const struct table_program *);

/* Says whether the front program has put a tag into the frame at hand. */
void lab_set_note(const struct table_program *, bool tag_put_back);

/* Returns how much metadata this kernel lets a frame have in a test run: 32
 * bytes, or, since 6.3, what fits into the headroom. */
uint32_t lab_max_meta(void);

/* Runs the program on a frame, once more if it went up only so that its source
 * MAC is seen. */
void lab_run(struct table_program *, const struct table_source *,
             const void *frame, size_t len, struct table_outcome *);

/* What kind of counter. */
enum counter_kind {
    COUNTER_VERDICT, COUNTER_UP, COUNTER_HINTS, COUNTER_OTHER
};
enum counter_kind counter_kind(enum xdp_counter);
const char *counter_name(enum xdp_counter);

/* How many of the counters of that kind have counted a frame. */
uint64_t counted_of_kind(const struct table_outcome *, enum counter_kind);

#endif /* lab.h */
