/* SPDX-License-Identifier: Apache-2.0 */

/* For the fuzzer of the program with a table. */

#ifndef FUZZ_H
#define FUZZ_H 1

#include "lab.h"
#include "prefix-model.h"
#include "unit-random.h"

struct fuzz_frame {
    uint8_t data[TABLE_MAX_FRAME];
    size_t len;
};

/* Reads the frames of the captures in 'folder'.  Returns how many. */
size_t fuzz_read_captures(const char *folder);

/* Makes a frame of at most 'max' bytes: random bytes, or one of a fixture or
 * a capture with changes. */
void fuzz_make_frame(struct unit_random *, size_t max, struct fuzz_frame *);

/* Puts a tag in front of the others, as the front program does. */
void fuzz_put_tag(struct unit_random *, struct fuzz_frame *);

/* What has to hold for each frame, and the first frame for which it did not:
 * X(ENUM, SENTENCE). */
#define FUZZ_RULES(X)                                                       \
    X(RUNS, "the program runs and never aborts")                            \
    X(VERDICT, "each frame is in exactly one verdict counter, that of its " \
      "verdict")                                                            \
    X(REASON, "each frame that goes up has exactly one reason, others have " \
      "none")                                                               \
    X(HINTS, "each frame that goes up has hints in front where they are on, " \
      "others have none")                                                   \
    X(UNCHANGED, "a frame that is not redirected is not changed")           \
    X(REWRITTEN, "a redirected frame is as its entry says")                 \
    X(ENTRY, "each verdict is that of the entry that the reference has, "   \
      "which alone counts it")                                              \
    X(GROUP, "no frame for a group is redirected")                          \
    X(HOST, "a frame goes to the host as its own if, by the reference, it is")

enum fuzz_rule {
#define FUZZ_RULE(ENUM, SENTENCE) RULE_##ENUM,
    FUZZ_RULES(FUZZ_RULE)
#undef FUZZ_RULE
    N_FUZZ_RULES
};

/* A program, its table, which need not be in force, and what its entries have
 * counted. */
struct fuzz_state {
    unsigned int settings;
    bool tag_put_back;
    struct table_program *program;
    unsigned int slot;                  /* Of the table. */
    const struct prefix_set *set;
    struct prefix_model model;
    uint64_t hits[64];
};

/* Is the frame the host's own, the host being as set_host() of table.c has
 * it? */
bool fuzz_is_host(const struct fuzz_frame *);

/* Checks what came of a frame.  Returns N_FUZZ_RULES, or the rule that is
 * broken and how in 'why'. */
enum fuzz_rule fuzz_check(struct fuzz_state *, const struct table_source *,
                          const struct fuzz_frame *,
                          const struct table_outcome *, char why[256]);

#endif /* fuzz.h */
