/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "fake-socket.h"

#include <stdlib.h>
#include <string.h>

#include "openvswitch/json.h"
#include "openvswitch/poll-loop.h"
#include "openvswitch/shash.h"
#include "prefix-check.h"
#include "unit.h"
#include "unixctl.h"

struct command {
    unixctl_cb_func *cb;
    void *aux;
};

static struct shash commands = SHASH_INITIALIZER(&commands);

void __wrap_unixctl_command_register(const char *, const char *, int, int,
                                     unixctl_cb_func *, void *);
void __wrap_unixctl_command_reply(struct unixctl_conn *, const char *);
void __wrap_unixctl_command_reply_error(struct unixctl_conn *, const char *);

void
__wrap_unixctl_command_register(const char *name, const char *usage,
                                int min_args OVS_UNUSED,
                                int max_args OVS_UNUSED,
                                unixctl_cb_func *cb, void *aux)
{
    if (!strncmp(name, "afxdp-fast/", 11)) {    /* OVS has some, too. */
        struct command *command = xmalloc(sizeof *command);

        free(CONST_CAST(char *, usage));        /* It is kept for good. */
        command->cb = cb;
        command->aux = aux;
        shash_add_once(&commands, name, command);
    }
}

static void
answer(struct unixctl_conn *conn, const char *text, bool is_error)
{
    CHECK(!conn->answer);           /* Answered once. */
    conn->answer = xstrdup(text);
    conn->is_error = is_error;
}

void
__wrap_unixctl_command_reply(struct unixctl_conn *conn, const char *text)
{
    answer(conn, text, false);
}

void
__wrap_unixctl_command_reply_error(struct unixctl_conn *conn,
                                   const char *text)
{
    answer(conn, text, true);
}

void
run(struct unixctl_conn *conn, const char *line)
{
    char *copy = xasprintf("afxdp-fast/%s", line);
    const char *argv[16];
    struct command *command;
    char *save = NULL;
    int argc = 0;

    *conn = (struct unixctl_conn) { .answer = NULL };
    for (char *word = strtok_r(copy, " ", &save); word;
         word = strtok_r(NULL, " ", &save)) {
        argv[argc++] = word;
    }
    command = shash_find_data(&commands, argv[0]);
    if (CHECK(command != NULL)) {
        command->cb(conn, argc, argv, command->aux);
    }
    free(copy);
}

void
wait_for_check(const struct unixctl_conn *conn)
{
    while (!conn->answer) {
        if (!prefix_check_run()) {
            prefix_check_wait();
            poll_block();
        }
    }
}

/* Runs 'line', and waits for the answer if it is a dry run's. */
static void
run_to_the_end(struct unixctl_conn *conn, const char *line)
{
    run(conn, line);
    if (!strncmp(line, "prefix-check", strlen("prefix-check"))) {
        wait_for_check(conn);
    }
}

/* The answers that are wanted. */

void
check_says(const char *where, struct unixctl_conn *conn, enum outcome outcome,
           const char *line, const char *words)
{
    if (!conn->answer) {
        unit_fail(where, "%s: no answer", line);
    } else if (conn->is_error != (outcome == BAD)) {
        unit_fail(where, "%s: is %s error: %s", line,
                  conn->is_error ? "an" : "no", conn->answer);
    } else if (!strstr(conn->answer, words)) {
        unit_fail(where, "%s: not about \"%s\": %s", line, words,
                  conn->answer);
    }
    free(conn->answer);
    conn->answer = NULL;
}

void
check_line(const char *where, enum outcome outcome, const char *line,
           const char *words)
{
    struct unixctl_conn conn;

    run_to_the_end(&conn, line);
    check_says(where, &conn, outcome, line, words);
}

struct json *
ask(const char *where, const char *line)
{
    struct unixctl_conn conn;
    struct json *json = NULL;

    run_to_the_end(&conn, line);
    if (!conn.answer) {
        unit_fail(where, "%s: no answer", line);
    } else {
        char *sorted;

        json = json_from_string(conn.answer);
        sorted = json_to_string(json, JSSF_SORT);
        if (json->type != JSON_OBJECT || strcmp(sorted, conn.answer)) {
            unit_fail(where, "%s: no object, or not sorted: %s", line,
                      conn.answer);
        } else if (conn.is_error
                   != (shash_find(json_object(json), "error") != NULL)) {
            unit_fail(where, "%s: is %s error: %s", line,
                      conn.is_error ? "an" : "no", conn.answer);
        }
        free(sorted);
        free(conn.answer);
    }
    return json;
}

const struct json *
member(const struct json *object, const char *name)
{
    const struct json *value = (object && object->type == JSON_OBJECT
                                ? shash_find_data(json_object(object), name)
                                : NULL);

    if (!value) {
        unit_fail(OVS_SOURCE_LOCATOR, "no member %s", name);
    }
    return value;
}

int64_t
integer(const struct json *object, const char *name)
{
    const struct json *value = member(object, name);

    return (value && value->type == JSON_INTEGER ? json_integer(value)
            : INT64_MIN);
}

bool
has_text(const struct json *object, const char *name, const char *text)
{
    const struct json *value = member(object, name);

    return (value && value->type == JSON_STRING
            && strstr(json_string(value), text));
}

/* As text, since arrays differ from OVS to OVS. */
bool
has_json(const struct json *object, const char *name, const char *text)
{
    const struct json *value = member(object, name);
    char *s = value ? json_to_string(value, JSSF_SORT) : xstrdup("");
    bool has = strstr(s, text) != NULL;

    if (!has) {
        unit_fail(OVS_SOURCE_LOCATOR, "%s: no \"%s\" in %s", name, text, s);
    }
    free(s);
    return has;
}

void
fake_socket_destroy(void)
{
    shash_destroy_free_data(&commands);
}
