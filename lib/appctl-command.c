/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "appctl-command.h"

#include <limits.h>
#include <string.h>

#include "netdev-afxdp-fast-private.h"
#include "netdev.h"
#include "netdev-provider.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/json.h"
#include "timeval.h"
#include "unixctl.h"
#include "util.h"

/* unixctl's callback of all commands. */
static void
run_command(struct unixctl_conn *conn, int argc, const char *argv[],
            void *command_)
{
    const struct appctl_command *command = command_;
    bool json = argc > 1 && !strcmp(argv[1], "--json");
    struct appctl_asker asker = { .conn = conn, .json = json };
    int n_args;

    argc -= json;
    argv += json;
    n_args = argc - 1;
    if (n_args < command->min_args || n_args > command->max_args) {
        char *error = xasprintf("%s: %s; its arguments are: [--json]%s%s",
                                command->name,
                                (n_args < command->min_args
                                 ? "an argument is missing"
                                 : "too many arguments"),
                                command->usage[0] ? " " : "",
                                command->usage);

        appctl_reply_error(asker, error);
        free(error);
    } else {
        command->run(asker, argc, argv);
    }
}

/* The number of arguments is checked here, so that the error shows the usage
 * and is JSON where that is wanted. */
void
appctl_commands_register(const struct appctl_command *commands, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct appctl_command *command = &commands[i];
        char *usage = xasprintf("[--json]%s%s", command->usage[0] ? " " : "",
                                command->usage);

        unixctl_command_register(command->name, usage, 0, INT_MAX,
                                 run_command,
                                 CONST_CAST(struct appctl_command *,
                                            command));
    }
}

void
appctl_reply(struct appctl_asker asker, const char *text)
{
    unixctl_command_reply(asker.conn, text);
}

void
appctl_reply_json(struct appctl_asker asker, struct json *object)
{
    char *text = json_to_string(object, JSSF_SORT);

    json_destroy(object);
    unixctl_command_reply(asker.conn, text);
    free(text);
}

void
appctl_reply_error(struct appctl_asker asker, const char *error)
{
    if (asker.json) {
        struct json *object = json_object_create();
        char *text;

        json_object_put_string(object, "error", error);
        text = json_to_string(object, JSSF_SORT);
        json_destroy(object);
        unixctl_command_reply_error(asker.conn, text);
        free(text);
    } else {
        unixctl_command_reply_error(asker.conn, error);
    }
}

void
appctl_put_element(struct ds *elements, struct json *element)
{
    if (elements->length) {
        ds_put_char(elements, ',');
    }
    json_to_ds(element, JSSF_SORT, elements);
    json_destroy(element);
}

void
appctl_reply_ready(struct appctl_asker asker, bool error, const char *text)
{
    if (error) {
        unixctl_command_reply_error(asker.conn, text);
    } else {
        unixctl_command_reply(asker.conn, text);
    }
}

/* Quotes are escaped inside strings, so that what is looked for is no part of
 * one. */
char *
appctl_format_long_json(struct json *object, const char *array_name,
                        const struct ds *elements)
{
    char *place = xasprintf("\"%s\":null", array_name);
    char *text = json_to_string(object, JSSF_SORT);
    const char *found = strstr(text, place);
    struct ds ds = DS_EMPTY_INITIALIZER;

    ovs_assert(found);
    ds_reserve(&ds, strlen(text) + elements->length + 2);
    ds_put_buffer(&ds, text, found - text);
    ds_put_format(&ds, "\"%s\":[", array_name);
    if (elements->length) {
        ds_put_buffer(&ds, elements->string, elements->length);
    }
    ds_put_char(&ds, ']');
    ds_put_cstr(&ds, found + strlen(place));
    free(text);
    free(place);
    json_destroy(object);
    return ds_steal_cstr(&ds);
}

struct netdev_afxdp_fast *
appctl_find_port(struct appctl_asker asker, const char *name)
{
    struct netdev_afxdp_fast *dev = NULL;
    struct ds ds = DS_EMPTY_INITIALIZER;

    while ((dev = netdev_afxdp_fast_next(dev)) != NULL) {
        if (!strcmp(netdev_get_name(&dev->lin.up), name)) {
            return dev;
        }
    }
    ds_put_format(&ds, "%s: no such afxdp-fast port; there are", name);
    if (!netdev_afxdp_fast_next(NULL)) {
        ds_put_cstr(&ds, " none");
    }
    while ((dev = netdev_afxdp_fast_next(dev)) != NULL) {
        ds_put_format(&ds, " %s", netdev_get_name(&dev->lin.up));
    }
    appctl_reply_error(asker, ds_cstr(&ds));
    ds_destroy(&ds);
    return NULL;
}

const char *
appctl_arg_value(const char *arg, const char *name)
{
    size_t len = strlen(name);

    return !strncmp(arg, name, len) && arg[len] == '=' ? &arg[len + 1] : NULL;
}

bool
appctl_check_once(struct appctl_asker asker, int argc, const char *argv[],
                  int first)
{
    for (int i = first; i < argc; i++) {
        size_t len = strcspn(argv[i], "=");

        for (int j = first; j < i && argv[i][len]; j++) {
            if (!strncmp(argv[i], argv[j], len + 1)) {
                char *error = xasprintf("%s: %.*s is there twice; must be "
                                        "there once", argv[i], (int) len,
                                        argv[i]);

                appctl_reply_error(asker, error);
                free(error);
                return false;
            }
        }
    }
    return true;
}

/* str_to_uint() takes signs and blanks too. */
bool
appctl_parse_range(struct appctl_asker asker, const char *name,
                   const char *value, unsigned int min, unsigned int max,
                   unsigned int *n)
{
    char *error;

    if (value[0] && value[strspn(value, "0123456789")] == '\0'
        && str_to_uint(value, 10, n) && *n >= min && *n <= max) {
        return true;
    }
    error = xasprintf("%s=%s: must be a whole number from %u to %u", name,
                      value, min, max);
    appctl_reply_error(asker, error);
    free(error);
    return false;
}

bool
appctl_parse_number(struct appctl_asker asker, const char *name,
                    const char *value, unsigned int max, unsigned int *n)
{
    return appctl_parse_range(asker, name, value, 0, max, n);
}

void
json_put_integer(struct json *object, const char *name, long long int n)
{
    json_object_put(object, name, json_integer_create(n));
}

void
json_put_bool(struct json *object, const char *name, bool b)
{
    json_object_put(object, name, json_boolean_create(b));
}

void
json_put_text(struct json *object, const char *name, const char *text)
{
    json_object_put(object, name, (text ? json_string_create(text)
                                   : json_null_create()));
}

char *
appctl_format_time(long long int ms)
{
    return xastrftime_msec("%Y-%m-%dT%H:%M:%S.###Z", ms, true);
}

void
json_put_time(struct json *object, const char *name, long long int ms)
{
    char *name_ms = xasprintf("%s_ms", name);

    json_object_put(object, name,
                    json_string_create_nocopy(appctl_format_time(ms)));
    json_put_integer(object, name_ms, ms);
    free(name_ms);
}
