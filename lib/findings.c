/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "findings.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "appctl-command.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/json.h"
#include "util.h"

static const char *const level_names[] = {
    [FINDING_ERROR] = "error",
    [FINDING_WARNING] = "warning",
    [FINDING_NOTE] = "note",
};

/* Frees the findings, not '*findings' itself. */
void
findings_destroy(struct findings *findings)
{
    for (size_t i = 0; i < findings->n; i++) {
        struct finding *f = &findings->list[i];

        free(f->port);
        free(f->name);
        free(f->text);
        free(f->command);
    }
    free(findings->list);
}

/* Takes over 'text' and 'command'. */
static void
add(struct findings *findings, enum finding_level level, const char *port,
    const char *name, char *command, char *text)
{
    if (findings->n == findings->allocated) {
        findings->list = x2nrealloc(findings->list, &findings->allocated,
                                    sizeof *findings->list);
    }
    findings->list[findings->n++] = (struct finding) {
        .level = level,
        .port = nullable_xstrdup(port),
        .name = xstrdup(name),
        .text = text,
        .command = command,
    };
}

void
findings_add(struct findings *findings, enum finding_level level,
             const char *port, const char *name, const char *command,
             const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = xvasprintf(format, args);
    va_end(args);
    add(findings, level, port, name, nullable_xstrdup(command), text);
}

/* Returns the last command that 'message' names, for the caller to free, or
 * NULL. */
static char *
command_of(const char *message)
{
    static const char *const before[] = { "with \"", "run \"" };
    const char *start = NULL, *end;

    for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
        for (const char *p = message; (p = strstr(p, before[i])) != NULL;) {
            p += strlen(before[i]);
            start = start && start > p ? start : p;
        }
    }
    end = start ? strchr(start, '"') : NULL;
    return end ? xmemdup0(start, end - start) : NULL;
}

void
findings_add_message(struct findings *findings, enum finding_level level,
                     const char *port, const char *name, const char *message)
{
    add(findings, level, port, name, command_of(message), xstrdup(message));
}

/* Returns how many findings are of 'level'. */
size_t
findings_count(const struct findings *findings, enum finding_level level)
{
    size_t n = 0;

    for (size_t i = 0; i < findings->n; i++) {
        n += findings->list[i].level == level;
    }
    return n;
}

/* Appends the findings, the gravest first, and how many there are. */
void
findings_format(const struct findings *findings, struct ds *ds)
{
    for (enum finding_level level = 0; level < FINDING_N_LEVELS; level++) {
        for (size_t i = 0; i < findings->n; i++) {
            const struct finding *f = &findings->list[i];

            if (f->level == level) {
                ds_put_format(ds, "%s: %s%s%s: %s\n", level_names[level],
                              f->port ? f->port : "", f->port ? ": " : "",
                              f->name, f->text);
                if (f->command) {
                    ds_put_format(ds, "    %s\n", f->command);
                }
            }
        }
    }
    ds_put_format(ds, "%"PRIuSIZE" errors, %"PRIuSIZE" warnings, "
                  "%"PRIuSIZE" notes\n",
                  findings_count(findings, FINDING_ERROR),
                  findings_count(findings, FINDING_WARNING),
                  findings_count(findings, FINDING_NOTE));
}

/* Returns an array of objects, in the order in which they were found. */
struct json *
findings_to_json(const struct findings *findings)
{
    struct json *array = json_array_create_empty();

    for (size_t i = 0; i < findings->n; i++) {
        const struct finding *f = &findings->list[i];
        struct json *json = json_object_create();

        json_put_text(json, "level", level_names[f->level]);
        json_put_text(json, "port", f->port);
        json_put_text(json, "name", f->name);
        json_put_text(json, "text", f->text);
        json_put_text(json, "command", f->command);
        json_array_add(array, json);
    }
    return array;
}
