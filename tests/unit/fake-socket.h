/* SPDX-License-Identifier: Apache-2.0 */

#ifndef FAKE_SOCKET_H
#define FAKE_SOCKET_H 1

/* A control socket that is a fake: commands that are registered are run by
 * name, and what they answer is looked at.
 *
 * Programs with it wrap unixctl_command_register(), unixctl_command_reply()
 * and unixctl_command_reply_error(). */

#include <stdbool.h>
#include <stdint.h>

#include "util.h"

struct json;

struct unixctl_conn {
    char *answer;                   /* Or NULL. */
    bool is_error;
};

enum outcome { GOOD, BAD };

/* Runs 'line', a command without its "afxdp-fast/" and blanks between the
 * arguments.  What '*conn' has of an earlier one must have been freed. */
void run(struct unixctl_conn *conn, const char *line);

/* Waits for the answer of a dry run, which a round of the main loop gives after
 * a thread has ended. */
void wait_for_check(const struct unixctl_conn *);

/* Checks that '*conn' has been answered with 'outcome', and that the answer
 * has 'words' in it; frees the answer. */
void check_says(const char *where, struct unixctl_conn *conn,
                enum outcome outcome, const char *line, const char *words);

/* Checks that the command LINE is answered, well or with an error, and that
 * the answer has WORDS in it. */
void check_line(const char *where, enum outcome outcome, const char *line,
                const char *words);
#define CHECK_SAYS(LINE, WORDS) \
    check_line(OVS_SOURCE_LOCATOR, GOOD, LINE, WORDS)
#define CHECK_REFUSES(LINE, WORDS) \
    check_line(OVS_SOURCE_LOCATOR, BAD, LINE, WORDS)

/* Runs a command with --json, whose answer must be an object with all of its
 * members in order, and "error" among them only if it is one.  Returns the
 * object, or NULL. */
struct json *ask(const char *where, const char *line);
#define ASK(LINE) ask(OVS_SOURCE_LOCATOR, LINE)

/* What is in an object: a member, which must be there, or NULL; one as a
 * number (INT64_MIN: it is none); is one a string with 'text' in it?  And has
 * one, whatever it is, 'text' in it when it is written down? */
const struct json *member(const struct json *, const char *name);
int64_t integer(const struct json *, const char *name);
bool has_text(const struct json *, const char *name, const char *text);
bool has_json(const struct json *, const char *name, const char *text);

/* Frees what the registered commands take. */
void fake_socket_destroy(void);

#endif /* fake-socket.h */
