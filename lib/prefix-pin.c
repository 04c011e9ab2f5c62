/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "prefix-history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dirs.h"
#include "openvswitch/json.h"
#include "openvswitch/shash.h"
#include "openvswitch/vlog.h"
#include "util.h"

VLOG_DEFINE_THIS_MODULE(prefix_pin);

/* Two files: PORT.pin, a JSON object with the version rolled back from, which
 * is what makes the pin, and PORT.pinned.json, the table. */

static char *
state_path(const char *port, const char *suffix)
{
    return xasprintf("%s/afxdp-fast/%s%s", ovs_dbdir(), port, suffix);
}

/* Writes 'text' to 'path', all of it or not at all.  Returns 0 or a positive
 * errno. */
static int
write_file(const char *path, const char *text)
{
    char *tmp = xasprintf("%s.new", path);
    FILE *stream = fopen(tmp, "w");
    int error = 0;

    if (!stream) {
        error = errno;
    } else {
        if (fputs(text, stream) == EOF || fflush(stream)
            || fsync(fileno(stream))) {
            error = errno;
        }
        if (fclose(stream) && !error) {
            error = errno;
        }
        if (!error && rename(tmp, path)) {
            error = errno;
        }
        if (error) {
            unlink(tmp);
        }
    }
    free(tmp);
    return error;
}

static int
write_state(const char *port, const char *suffix, const char *text)
{
    char *path = state_path(port, suffix);
    int error = write_file(path, text);

    free(path);
    return error;
}

static int
write_pin(const char *port, const char *from, const struct prefix_set *set)
{
    struct json *pin = json_object_create();
    char *text = prefix_set_to_text(set);
    int error = write_state(port, ".pinned.json", text);

    free(text);
    json_object_put_string(pin, "rolled-back-from", from);
    text = json_to_string(pin, JSSF_SORT);
    json_destroy(pin);
    if (!error) {
        error = write_state(port, ".pin", text);
    }
    free(text);
    return error;
}

/* Writes down that 'set' is in force on 'port' instead of the version 'from'.
 * Returns NULL, or why that failed, which the caller frees: the roll-back then
 * lasts until the daemon ends. */
char *
prefix_pin_save(const char *port, const char *from,
                const struct prefix_set *set)
{
    char *folder = xasprintf("%s/afxdp-fast", ovs_dbdir());
    char *text = NULL;
    int error;

    error = mkdir(folder, 0755) && errno != EEXIST ? errno : 0;
    if (!error) {
        error = write_pin(port, from, set);
    }
    if (error) {
        text = xasprintf("cannot write to %s (%s): the roll-back will be lost "
                         "when the daemon ends", folder, ovs_strerror(error));
    }
    free(folder);
    return text;
}

/* Returns the version rolled back from, or NULL if there is no pin. */
static char *
load_from(const char *port)
{
    char *path = state_path(port, ".pin");
    struct json *json = NULL;
    char *from = NULL;

    if (!access(path, F_OK)) {
        json = json_from_file(path);
    }
    if (json && json->type == JSON_OBJECT) {
        const struct json *member = shash_find_data(json_object(json),
                                                    "rolled-back-from");

        if (member && member->type == JSON_STRING) {
            from = xstrdup(json_string(member));
        }
    }
    if (json && !from) {
        VLOG_WARN("%s: not the file of a roll-back: passed over", path);
    }
    json_destroy(json);
    free(path);
    return from;
}

/* Returns the table that an earlier daemon has pinned on 'port', and stores
 * the version string of the file that it stands in for in '*fromp', which the
 * caller frees; or NULL if there is none. */
struct prefix_set *
prefix_pin_load(const char *port, char **fromp)
{
    struct prefix_set *set = NULL;
    char *path, *error;

    *fromp = load_from(port);
    if (!*fromp) {
        return NULL;
    }
    path = state_path(port, ".pinned.json");
    error = prefix_set_from_file(path, &set);
    if (error) {
        VLOG_WARN("%s: the pinned version cannot be used: %s", port, error);
        free(error);
        free(*fromp);
        *fromp = NULL;
        set = NULL;
    }
    free(path);
    return set;
}

void
prefix_pin_remove(const char *port)
{
    static const char *const suffixes[] = { ".pin", ".pinned.json" };

    for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
        char *path = state_path(port, suffixes[i]);

        unlink(path);
        free(path);
    }
}
