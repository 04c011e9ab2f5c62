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
#include "text-file.h"
#include "util.h"

/* More than the longest version string takes in a PORT.pin. */
#define MAX_PIN 65536

VLOG_DEFINE_THIS_MODULE(prefix_pin);

/* Two files: PORT.pin, a JSON object with the version rolled back from, which
 * is what makes the pin, and PORT.pinned.json, the table. */

static char *
state_path(const char *port, const char *suffix)
{
    return xasprintf("%s/afxdp-fast/%s%s", ovs_dbdir(), port, suffix);
}

/* What is written gets its name only when the table is in force. */
static const char *const suffixes[][2] = {
    /* The pin last: it is what counts. */
    { ".pinned.json.new", ".pinned.json" },
    { ".pin.new", ".pin" },
};

/* Writes 'text' to 'path', and to the disk.  Returns 0 or a positive errno. */
static int
write_file(const char *path, const char *text)
{
    FILE *stream = fopen(path, "w");
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
    }
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
    int error = write_state(port, ".pinned.json.new", text);

    free(text);
    json_object_put_string(pin, "rolled-back-from", from);
    text = json_to_string(pin, JSSF_SORT);
    json_destroy(pin);
    if (!error) {
        error = write_state(port, ".pin.new", text);
    }
    free(text);
    return error;
}

static void
unlink_all(const char *port, bool new)
{
    for (size_t i = ARRAY_SIZE(suffixes); i-- > 0; ) {
        char *path = state_path(port, suffixes[i][!new]);

        unlink(path);
        free(path);
    }
}

static char *
explain_lost(const char *what, int error)
{
    return xasprintf("cannot write to %s (%s): the roll-back will be lost "
                     "when the daemon ends", what, ovs_strerror(error));
}

/* Writes, for prefix_pin_commit(), that 'set' is in force on 'port' instead of
 * the version 'from'.  Returns NULL, or why that failed, which the caller
 * frees: the roll-back then lasts until the daemon ends.  Waits for the disk.
 * Any thread, once the main thread has called prefix_pin_table_path(). */
char *
prefix_pin_write(const char *port, const char *from,
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
        prefix_pin_discard(port);
        text = explain_lost(folder, error);
    }
    free(folder);
    return text;
}

/* Makes what prefix_pin_write() has written what counts.  Returns likewise. */
char *
prefix_pin_commit(const char *port)
{
    char *text = NULL;

    for (size_t i = 0; i < ARRAY_SIZE(suffixes) && !text; i++) {
        char *from = state_path(port, suffixes[i][0]);
        char *to = state_path(port, suffixes[i][1]);

        if (rename(from, to)) {
            text = explain_lost(to, errno);
        }
        free(from);
        free(to);
    }
    return text;
}

/* Removes what prefix_pin_write() has written and nobody wants any more. */
void
prefix_pin_discard(const char *port)
{
    unlink_all(port, true);
}

/* Returns where the table of a pin of 'port' is, if there is one.  The caller
 * frees it. */
char *
prefix_pin_table_path(const char *port)
{
    return state_path(port, ".pinned.json");
}

/* Reads the version rolled back from out of 'path', which may be anything.
 * Returns NULL and stores it in '*fromp', for the caller to free, or returns
 * what is wrong, likewise. */
static char *
read_from(const char *path, char **fromp)
{
    const struct json *member = NULL;
    struct json *json;
    size_t len;
    char *text;
    char *error = text_file_read(path, MAX_PIN, &text, &len);

    if (error) {
        return error;
    }
    text = xrealloc(text, len + 1);
    text[len] = '\0';
    json = json_from_string(text);
    free(text);
    if (json->type == JSON_OBJECT) {
        member = shash_find_data(json_object(json), "rolled-back-from");
    }
    if (member && member->type == JSON_STRING) {
        *fromp = xstrdup(json_string(member));
    } else {
        error = xasprintf("%s: not the file of a roll-back", path);
    }
    json_destroy(json);
    return error;
}

/* Likewise for the pin of 'port'.  If there is none, '*fromp' and what is
 * returned are both NULL. */
static char *
load_from(const char *port, char **fromp)
{
    char *path = state_path(port, ".pin");
    char *error = NULL;

    *fromp = NULL;
    /* That it may not be looked at does not mean that it is not there. */
    if (!access(path, F_OK) || errno != ENOENT) {
        error = read_from(path, fromp);
    }
    free(path);
    return error;
}

/* Returns the table that an earlier daemon has pinned on 'port', and stores
 * the version string of the file that it stands in for in '*fromp', which the
 * caller frees; or NULL and NULL if there is none.  If 'version', which the
 * file has, is another one, returns NULL and the version string: the pin is to
 * be removed.  NULL means that the file is broken.  Any thread, like
 * prefix_pin_write(). */
struct prefix_set *
prefix_pin_load(const char *port, const char *version, char **fromp)
{
    struct prefix_set *set = NULL;
    char *path, *error;

    /* What a daemon had begun to write when it was killed. */
    prefix_pin_discard(port);
    error = load_from(port, fromp);
    if (error) {
        VLOG_WARN("%s: the pin of a roll-back cannot be used: %s", port,
                  error);
        free(error);
    }
    if (!*fromp || (version && strcmp(version, *fromp))) {
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

/* Returns why there is a pin of 'port' that prefix_pin_load() has found none
 * in, which the caller frees; NULL if there is none. */
char *
prefix_pin_explain_lost(const char *port)
{
    char *from, *text;
    char *error = load_from(port, &from);

    if (error) {
        text = xasprintf("%s: the roll-back of an earlier daemon is lost",
                         error);
    } else if (from) {
        char *path = prefix_pin_table_path(port);

        text = xasprintf("%s: cannot be used, the log says why: the roll-back "
                         "from version \"%s\" is lost", path, from);
        free(path);
    } else {
        text = NULL;
    }
    free(error);
    free(from);
    return text;
}

void
prefix_pin_remove(const char *port)
{
    unlink_all(port, false);
}
