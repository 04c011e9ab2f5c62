/* SPDX-License-Identifier: Apache-2.0 */

#ifndef APPCTL_COMMAND_H
#define APPCTL_COMMAND_H 1

/* Commands of the daemon's control socket, each of which answers in text or,
 * with "--json" in front of its arguments, with one JSON object.
 *
 * Thread rule: main thread, where not said otherwise. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ds;
struct json;
struct netdev_afxdp_fast;
struct unixctl_conn;

/* Whoever waits for an answer, in the form that it is wanted in.  May be
 * copied and kept: the connection stays until it has been answered, which must
 * happen exactly once. */
struct appctl_asker {
    struct unixctl_conn *conn;
    bool json;
};

/* Arguments are argv[1] to argv[argc - 1], without "--json". */
typedef void appctl_command_func(struct appctl_asker, int argc,
                                 const char *argv[]);

struct appctl_command {
    const char *name;
    const char *usage;              /* Of the arguments. */
    int min_args, max_args;
    appctl_command_func *run;
};

/* Registers 'n' commands, which are never freed. */
void appctl_commands_register(const struct appctl_command *, size_t n);

/* Answers: with text; with an object, which is destroyed; that it went wrong.
 * An error is a text of its own, or the member "error" of an object. */
void appctl_reply(struct appctl_asker, const char *text);
void appctl_reply_json(struct appctl_asker, struct json *);
void appctl_reply_error(struct appctl_asker, const char *error);

/* Answers with 'text', which is in the form that is wanted already.  With
 * 'error' the answer is one that says so, whatever the text is. */
void appctl_reply_ready(struct appctl_asker, bool error, const char *text);

/* Objects with an array that is too long for a tree of struct json: in the
 * object it stands as null, under a name that occurs once, and its elements
 * are written to 'elements' one by one.  _format_long_json() destroys the
 * object and returns the whole as text, which the caller frees.  Any
 * thread. */
void appctl_put_element(struct ds *elements, struct json *);
char *appctl_format_long_json(struct json *, const char *array_name,
                              const struct ds *elements);

/* Returns the port called 'name', or NULL; then the asker has been told which
 * ports there are. */
struct netdev_afxdp_fast *appctl_find_port(struct appctl_asker,
                                           const char *name);

/* If 'arg' is NAME=VALUE, returns VALUE, else NULL. */
const char *appctl_arg_value(const char *arg, const char *name);

/* Returns false, and has told the asker, if of the arguments from 'first' on
 * two are NAME=VALUE with the same name. */
bool appctl_check_once(struct appctl_asker, int argc, const char *argv[],
                       int first);

/* Stores the whole number that 'value' is in '*n'.  Returns false, and has
 * told the asker what is allowed, if it is none from 'min', or 0, to 'max'. */
bool appctl_parse_range(struct appctl_asker, const char *name,
                        const char *value, unsigned int min, unsigned int max,
                        unsigned int *n);
bool appctl_parse_number(struct appctl_asker, const char *name,
                         const char *value, unsigned int max,
                         unsigned int *n);

/* What JSON lacks in json.h. */
void json_put_integer(struct json *object, const char *name, long long int);
void json_put_bool(struct json *object, const char *name, bool);

/* A string, or null for NULL. */
void json_put_text(struct json *object, const char *name, const char *);

/* NAME, "2026-12-01T12:00:00.000Z", and NAME_ms, milliseconds since 1970. */
void json_put_time(struct json *object, const char *name, long long int ms);
char *appctl_format_time(long long int ms);

#endif /* appctl-command.h */
