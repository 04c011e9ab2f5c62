/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_MEMBER_H
#define PREFIX_MEMBER_H 1

/* What the members of an entry may be, whether they come from text or JSON.
 * For prefix-entry.c and prefix-file.c.
 *
 * Messages are of printable ASCII, whatever was in the values.
 *
 * Thread rule: any thread, each with its own entries. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ds;
struct json;
struct prefix_entry;

enum prefix_member {
    MEMBER_PREFIX,
    MEMBER_MATCH,
    MEMBER_ACTION,
    MEMBER_PORT,
    MEMBER_VLAN,
    MEMBER_DMAC,
    MEMBER_SET_SMAC,
    MEMBER_SET_DMAC,
    MEMBER_DEC_TTL,
    MEMBER_POP_VLAN,
    MEMBER_PUSH_VLAN,
    MEMBER_SET_VLAN,
    MEMBER_COMMENT,
    N_PREFIX_MEMBERS
};

/* Longest comment, in characters.  Enough for a sentence or two. */
#define PREFIX_MAX_COMMENT 1024

/* Returns the name of a member, as JSON has it. */
const char *prefix_member_name(enum prefix_member);

/* An entry that is being made: all zeros, but for 'entry'. */
struct prefix_draft {
    struct prefix_entry *entry;
    uint32_t given;             /* 1 << MEMBER_*. */
    bool masked;                /* Host bits were set. */
};

/* Set one member of the entry.  The text of MEMBER_DEC_TTL and
 * MEMBER_POP_VLAN does not matter.  Return NULL or what is wrong, for the
 * caller to free. */
char *prefix_member_set_text(struct prefix_draft *, enum prefix_member,
                             const char *value);
char *prefix_member_set_json(struct prefix_draft *, enum prefix_member,
                             const struct json *value);

/* Checks that what is needed is there, and that it goes together.  Returns
 * NULL or what is wrong, for the caller to free. */
char *prefix_draft_finish(const struct prefix_draft *);

/* Returns NULL, or why 's' is no text for people to read: invalid UTF-8,
 * control characters, longer than PREFIX_MAX_COMMENT. */
char *prefix_check_comment(const char *name, const char *s);

/* Appends 's' in a form that is safe in a message: other than printable ASCII
 * as \xNN, and of very long ones only the beginning. */
void prefix_put_printable(struct ds *, const char *s);

/* Returns "NAME=VALUE: must be ALLOWED", for the caller to free. */
char *prefix_must_be(const char *name, const char *value,
                     const char *allowed);

#endif /* prefix-member.h */
