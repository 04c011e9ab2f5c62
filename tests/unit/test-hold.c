/* SPDX-License-Identifier: Apache-2.0 */

/* The state file of what busy polling changes, on devices that are played by
 * us: one with a NAPI. */

#include <config.h>
#include "napi-hold.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "openvswitch/vlog.h"
#include "util.h"

#include "unit.h"

#define IFINDEX 5
#define NAPI 8195

static const struct napi_owner owner = { IFINDEX, NAPI };
static const struct napi_values before = { 0, 7 };
static const struct napi_values older = { 4, 100000 };
static const struct napi_values ours = { 2, 200000 };

/* The device. */
static struct napi_values values;
static int get_error, set_error;
static bool is_down;

int
napi_get_values(const struct napi_owner *o, struct napi_values *v)
{
    CHECK_INT(o->ifindex, IFINDEX);
    CHECK_INT(o->napi_id, NAPI);
    *v = values;
    return get_error;
}

int
napi_set_values(const struct napi_owner *o, const struct napi_values *v)
{
    CHECK_INT(o->ifindex, IFINDEX);
    CHECK_INT(o->napi_id, NAPI);
    if (!set_error) {
        values = *v;
    }
    return set_error;
}

bool
napi_device_is_down(int ifindex)
{
    CHECK_INT(ifindex, IFINDEX);
    return is_down;
}

static void
check_values(const char *where, const struct napi_values *expected)
{
    unit_check_int(values.defer_hard_irqs, expected->defer_hard_irqs, where,
                   "defer-hard-irqs");
    unit_check_int(values.gro_flush_timeout, expected->gro_flush_timeout,
                   where, "gro-flush-timeout");
}

#define CHECK_VALUES(EXPECTED) check_values(OVS_SOURCE_LOCATOR, EXPECTED)

/* Files. */

static char dir[] = "/tmp/test-hold.XXXXXX";
static char *state, *kept, *log_file;
static char boot_id[64];

static void
read_file(const char *path, char text[4096])
{
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, 4095, file) : 0;

    text[n] = '\0';
    if (file) {
        fclose(file);
    }
}

static bool
file_has(const char *path, const char *words)
{
    char text[4096];

    read_file(path, text);
    return strstr(text, words) != NULL;
}

/* Counts 'words' in the log since the test has begun. */
static int
n_logged(const char *words)
{
    char text[4096];
    int n = 0;

    read_file(log_file, text);
    for (const char *p = text; (p = strstr(p, words)) != NULL; p++) {
        n++;
    }
    return n;
}

/* Writes a file with the right first line and 'lines'. */
static void
write_file(const char *path, const char *boot, const char *lines)
{
    FILE *file = fopen(path, "w");
    struct stat s;

    ovs_assert(file && !stat("/proc/self/ns/net", &s));
    fprintf(file, "%s 1 %s %llu\n%s", NAPI_HOLDS_FILE, boot,
            (unsigned long long) s.st_ino, lines);
    fclose(file);
}

/* The line of the device's NAPI, changed from 'before' to 'older'. */
#define LINE "veth1 5 8195 0 4 7 100000\n"

static void
start(void)
{
    get_error = set_error = 0;
    is_down = false;
    values = before;
    ignore(truncate(log_file, 0));
}

/* Loads the state file, which must work. */
static void
load(void)
{
    char *error = napi_holds_load(state);

    if (error) {
        unit_fail(OVS_SOURCE_LOCATOR, "%s", error);
        free(error);
    }
}

/* The test ends with nothing held and no files. */
static void
finish(void)
{
    CHECK(!napi_holds_are_waiting());
    CHECK(access(state, F_OK));
    unlink(state);
    unlink(kept);
}

/* Tests. */

static void
nothing_of_a_bad_file_is_taken(void)
{
    static const struct {
        const char *lines, *words;
    } bad[] = {
        { LINE "veth1 5 x\n",
          "line 3: number of words is 3, must be 7: a device and 6 numbers" },
        { LINE LINE "veth1 5 8195 0 4 7 8 9\n",
          "line 4: number of words is 8" },
        { LINE "\n", "line 3: number of words is 0" },
        { LINE "a-device-of-16-c 5 8195 0 4 7 8\n", "at most 15 characters" },
        { LINE "veth1 0 8195 0 4 7 8\n",
          "line 3: ifindex is \"0\", must be a number from 1 to 2147483647" },
        { LINE "veth1 5 4294967296 0 4 7 8\n",
          "NAPI is \"4294967296\", must be a number from 0 to 4294967295" },
        { LINE "veth1 5 8195 -1 4 7 8\n", "defer-hard-irqs before is \"-1\"" },
        { LINE "veth1 5 8195 0 4x 7 8\n", "our defer-hard-irqs is \"4x\"" },
        { LINE "veth1 5 8195 0 4 99999999999999999999 8\n",
          "gro-flush-timeout before is" },
        { LINE "veth1 5 8195 0 4 7 10000", "line 3: must end with a newline" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        char *error, *where = xasprintf("%s: line ", state);

        start();
        values = older;
        write_file(state, boot_id, bad[i].lines);
        error = napi_holds_load(state);
        if (!error || strncmp(error, where, strlen(where))
            || !strstr(error, bad[i].words)) {
            unit_fail(OVS_SOURCE_LOCATOR, "\"%s\" does not say \"%s\"",
                      error ? error : "", bad[i].words);
        }
        CHECK(!napi_holds_are_waiting());
        napi_holds_settle();
        CHECK_VALUES(&older);
        CHECK(file_has(state, LINE));
        free(error);
        free(where);
    }
    unlink(state);
    finish();
}

/* It is refused, and nobody waits for who writes to it. */
static void
no_regular_file(void)
{
    char *error;

    start();
    CHECK(!mkfifo(state, 0600));
    error = napi_holds_load(state);
    CHECK(error && strstr(error, "must be a regular file"));
    free(error);
    unlink(state);
    finish();
}

/* Loads a file that is of no use and has 'mark' in it. */
static void
load_bad(const char *mark)
{
    write_file(state, boot_id, mark);
    free(napi_holds_load(state));
}

static void
what_cannot_be_read_is_kept(void)
{
    struct napi_hold *hold;
    char *name, *error = NULL;

    start();
    load_bad("first\n");
    CHECK_INT(napi_holds_set_aside(&name), 0);
    CHECK(!strcmp(name, kept));
    CHECK(file_has(kept, "first"));
    free(name);

    hold = napi_hold_take(&owner, &ours, &error);
    CHECK(hold != NULL);
    CHECK(file_has(state, "8195"));
    napi_hold_release(hold);
    CHECK(file_has(kept, "first"));

    load_bad("second\n");
    CHECK_INT(napi_holds_set_aside(&name), EEXIST);
    CHECK(file_has(kept, "first"));
    free(name);
    CHECK(napi_hold_take(&owner, &ours, &error) == NULL);
    CHECK(error && strstr(error, "could not be read"));
    free(error);
    CHECK_VALUES(&before);
    CHECK(file_has(state, "second"));

    write_file(kept, "another-boot", LINE);
    CHECK_INT(napi_holds_set_aside(&name), 0);
    CHECK(file_has(kept, "second"));
    free(name);
    finish();
}

static void
each_error_is_logged_once(void)
{
    start();
    values = older;
    write_file(state, boot_id, LINE);
    load();
    get_error = ENOENT;
    is_down = true;
    for (int i = 0; i < 3; i++) {
        napi_holds_settle();
    }
    CHECK_INT(n_logged("veth1: NAPI 8195: "), 1);
    CHECK_INT(n_logged("while the device is down"), 1);
    CHECK_INT(n_logged("|WARN|"), 0);

    get_error = 0;
    for (int i = 0; i < 3; i++) {
        set_error = EPERM;
        napi_holds_settle();
        set_error = EACCES;
        napi_holds_settle();
    }
    CHECK_INT(n_logged("be put back (Operation not permitted)"), 1);
    CHECK_INT(n_logged("be put back (Permission denied)"), 1);

    set_error = 0;
    napi_holds_settle();
    CHECK_VALUES(&before);
    finish();
}

static void
a_waiting_hold_is_put_back_before_it_is_taken(void)
{
    struct napi_hold *hold;
    char *error;

    start();
    values = older;
    write_file(state, boot_id, LINE);
    load();
    set_error = EPERM;
    CHECK(napi_hold_take(&owner, &ours, &error) == NULL);
    CHECK(strstr(error, "cannot be put back yet") != NULL);
    free(error);
    CHECK(file_has(state, LINE));
    CHECK_VALUES(&older);

    set_error = 0;
    hold = napi_hold_take(&owner, &ours, &error);
    CHECK(hold != NULL);
    CHECK_VALUES(&ours);
    CHECK(file_has(state, " 5 8195 0 2 7 200000\n"));
    napi_hold_release(hold);
    CHECK_VALUES(&before);
    finish();
}

static void
a_file_that_cannot_be_removed(void)
{
    char *inside = xasprintf("%s/file", state);

    start();
    values = older;
    write_file(state, boot_id, LINE);
    load();
    unlink(state);
    ovs_assert(!mkdir(state, 0700) && !mkdir(inside, 0700));
    napi_holds_settle();
    CHECK_VALUES(&before);
    CHECK_INT(n_logged("cannot be brought up to date"), 1);
    CHECK(napi_holds_are_waiting());

    rmdir(inside);
    rmdir(state);
    napi_holds_settle();
    finish();
    free(inside);
}

int
main(void)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");

    ovs_assert(file && fscanf(file, "%63s", boot_id) == 1 && mkdtemp(dir));
    fclose(file);
    state = xasprintf("%s/%s", dir, NAPI_HOLDS_FILE);
    kept = xasprintf("%s.kept", state);
    log_file = xasprintf("%s/log", dir);
    vlog_set_levels(NULL, VLF_CONSOLE, VLL_OFF);
    vlog_set_log_file(log_file);

    unit_run("of a state file with a bad line nothing is taken, and the line "
             "is named", nothing_of_a_bad_file_is_taken);
    unit_run("a state file that is a FIFO is refused", no_regular_file);
    unit_run("a state file that cannot be read is kept, one at most",
             what_cannot_be_read_is_kept);
    unit_run("each error of putting back is logged once",
             each_error_is_logged_once);
    unit_run("what waits to be put back is, before other values are taken",
             a_waiting_hold_is_put_back_before_it_is_taken);
    unit_run("a state file that cannot be brought up to date is not passed "
             "over", a_file_that_cannot_be_removed);

    unlink(log_file);
    rmdir(dir);
    return unit_exit_status();
}
