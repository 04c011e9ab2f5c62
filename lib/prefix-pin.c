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

/* Returns what is in 'path', which may be anything: a JSON string, or what
 * OVS's parser makes of it. */
static struct json *
read_json(const char *path)
{
    struct json *json;
    size_t len;
    char *text;
    char *error = text_file_read(path, MAX_PIN, &text, &len);

    if (error) {
        return json_string_create_nocopy(error);
    }
    text = xrealloc(text, len + 1);
    text[len] = '\0';
    json = json_from_string(text);
    free(text);
    return json;
}

/* Returns the version rolled back from, or NULL if there is no pin. */
static char *
load_from(const char *port)
{
    char *path = state_path(port, ".pin");
    struct json *json = NULL;
    char *from = NULL;

    if (!access(path, F_OK)) {
        json = read_json(path);
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
 * caller frees; or NULL and NULL if there is none.  If 'version', which the
 * file has, is another one, returns NULL and the version string: the pin is to
 * be removed.  NULL means that the file is broken.  Any thread, like
 * prefix_pin_write(). */
struct prefix_set *
prefix_pin_load(const char *port, const char *version, char **fromp)
{
    struct prefix_set *set = NULL;
    char *path, *error;

    *fromp = load_from(port);
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

void
prefix_pin_remove(const char *port)
{
    unlink_all(port, false);
}
