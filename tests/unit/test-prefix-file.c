/* SPDX-License-Identifier: Apache-2.0 */

/* prefix-set.h: what a file may be, and what is said of all else. */

#include <config.h>
#include "prefix-set.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "openvswitch/dynamic-string.h"
#include "openvswitch/json.h"
#include "openvswitch/shash.h"
#include "prefix-builder.h"
#include "prefix-cases.h"
#include "prefix-sets.h"
#include "text-file.h"
#include "unit.h"
#include "util.h"

static const char *cases, *example;     /* Files. */
static char folder[] = "/tmp/test-prefix-file.XXXXXX";

static void
check_file(const char *name, const struct shash *test)
{
    const char *text = prefix_case_string(test, "file");
    const char *wrong = prefix_case_string(test, "error");
    const struct json *n = shash_find_data(test, "n");
    char *copy = xmemdup(text, strlen(text));   /* Without a 0. */
    struct prefix_set *set;
    char *error = prefix_set_from_text("f", copy, strlen(text), &set);

    free(copy);
    if (!error) {
        check_round_trip(name, set);
        CHECK_INT(set->n, n ? json_integer(n) : -1);
        prefix_set_unref(set);
    }
    prefix_case_check(name, "error", error, wrong);
}

static void
files(void)
{
    prefix_cases_run(cases, "files", check_file);
}

/* A file of a 'version' around 'entries'. */
#define FILE_OF(ENTRIES) "{\"version\": \"1\", \"entries\": [" ENTRIES "]}"
#define DROP "\"prefix\": \"::/0\", \"action\": \"drop\""

/* What cannot stand in JSON. */
static const struct {
    const char *text;
    size_t len;                 /* 0: up to the 0. */
    const char *error;
} bytes[] = {
    { "", 0, "f:1: syntax error: '{' must be here, not the end" },
    { "\n\n ", 0, "f:3: syntax error: '{' must be here, not the end" },
    { "{", 0, "f:1: syntax error: the name of a member in quotes must be "
              "here, not the end" },
    { "{\"version", 0, "f:1: unexpected end of input in quoted string" },
    { "{\"version\"", 0, "f:1: syntax error: ':' must be here, not the "
                         "end" },
    { "{\"version\":", 0, "f:1: syntax error expecting value" },
    { "{\"version\": \"1\"", 0, "f:1: syntax error: ',' or '}' must be "
                                "here, not the end" },
    { "{\"version\": \"1\",}", 0, "f:1: syntax error: the name of a member "
                                  "in quotes must be here, not '}'" },
    { "{\"version\": \"1\" \"entries\": []}", 0,
      "f:1: syntax error expecting '}' or ','" },
    { "{\"version\": \"1\\q\"}", 0, "f:1: bad escape \\q" },
    { "{\"version\": \"1\\\xff\"}", 0, "f:1: bad escape \\\\xff" },
    { "{\"version\": \"\\ud800\"}", 0,
      "f:1: malformed escaped surrogate pair" },
    { "{\"version\": \"\\u0000\"}", 0,
      "f:1: null bytes not supported in quoted strings" },
    { "{\"version\": \"1\n\"}", 0,
      "f:1: U+000A must be escaped in quoted string" },
    { "{\"version\": '1'}", 0, "f:1: invalid character '''" },
    { "{\"version\": \"1\", \"entries\": [}", 0,
      "f:1: entry 1: syntax error: an entry, which is an object, must be "
      "here, not '}'" },
    { "{\"version\": \"1\", \"entries\": [", 0,
      "f:1: entry 1: syntax error: an entry, which is an object, must be "
      "here, not the end" },
    { "{\"version\": \"1\", \"entries\": [{" DROP "}", 0,
      "f:1: syntax error: ',' or ']' must be here, not the end" },
    { FILE_OF("{" DROP "},"), 0,
      "f:1: entry 2: syntax error: an entry, which is an object, must be "
      "here, not ']'" },
    { FILE_OF("\n{" DROP "}\n{" DROP "}"), 0,
      "f:3: syntax error: ',' or ']' must be here, not '{'" },
    { FILE_OF("{" DROP "\n,}"), 0,
      "f:2: entry 1: syntax error parsing object expecting string" },
    { FILE_OF("{" DROP ",\n\"vlan\": 01}"), 0,
      "f:2: entry 1: leading zeros not allowed" },
    { FILE_OF("{" DROP ",\n\"vlan\": nil}"), 0,
      "f:2: entry 1: invalid keyword 'nil'" },
    { FILE_OF("{" DROP ", \"vlan\": [}]"), 0,
      "f:1: entry 1: syntax error expecting value" },
    { FILE_OF("{" DROP), 0, "f:1: entry 1: syntax error expecting '}' or "
                            "','" },
    { FILE_OF("{" DROP ", \"comment\": \"\xc3(\"}"), 0,
      "f:1: entry 1: comment=\\xc3(: must be at most 1024 characters of "
      "UTF-8, none of them a control character" },
    { FILE_OF("{" DROP ", \"comment\": \"\\udc00\"}"), 0,
      "f:1: entry 1: comment=\\xed\\xb0\\x80: must be at most 1024 "
      "characters of UTF-8, none of them a control character" },
    { FILE_OF("") "x", 0, "f:1: syntax error: nothing more must be here, not "
                          "'x'" },
    { FILE_OF("") "\n" FILE_OF(""), 0,
      "f:2: syntax error: nothing more must be here, not '{'" },
    { "\xef\xbb\xbf{}", 0, "f:1: a byte order mark; must be UTF-8 without "
                           "one" },
    { "\xff\xfe{", 0, "f:1: syntax error: '{' must be here, not '\\xff'" },
    { "{\n\"version\": 1\0, ", 17, "f:2: a byte of 0; must be text" },
    { FILE_OF("") "\0", sizeof FILE_OF(""), "f:1: a byte of 0; must be "
                                            "text" },
};

static void
wrong_bytes(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(bytes); i++) {
        size_t len = bytes[i].len ? bytes[i].len : strlen(bytes[i].text);
        char *copy = xmemdup(bytes[i].text, MAX(len, 1));
        struct prefix_set *set;
        char *error = prefix_set_from_text("f", copy, len, &set);

        if (!error) {
            prefix_set_unref(set);
        }
        prefix_case_check(bytes[i].text, "error", error, bytes[i].error);
        free(copy);
    }
}

/* Checks that a file of 'head', n times 's' and 'tail' is refused with
 * 'expected'. */
static void
check_repeated(const char *head, const char *s, size_t n, const char *tail,
               const char *expected)
{
    struct ds ds = DS_EMPTY_INITIALIZER;
    struct prefix_set *set;
    char *error;

    ds_put_cstr(&ds, head);
    for (size_t i = 0; i < n; i++) {
        ds_put_cstr(&ds, s);
    }
    ds_put_cstr(&ds, tail);
    error = prefix_set_from_text("f", ds_cstr(&ds), ds.length, &set);
    if (!error) {
        prefix_set_unref(set);
    }
    prefix_case_check(s, "error", error, expected);
    ds_destroy(&ds);
}

static void
large_values(void)
{
    const char *entry = "{\"version\": \"1\", \"entries\": [\n{";
    const char *too_long = "f:2: entry 1: too long; must be at most 16384 "
                           "bytes";

    check_repeated(entry, "\"a\":{", 10000000, "", too_long);
    check_repeated("{\"version\": \"1\", \"entries\": [\n{\"a\":", "[", 2000,
                   "",
                   "f:2: entry 1: input exceeds maximum nesting depth 1000");
    check_repeated(entry, "x", 10000000, "", too_long);
    check_repeated("{\"version\": \"1\", \"entries\": [\n{\"comment\": \"",
                   "\n", 10000000, "", too_long);
    check_repeated("{\"version\": \"", "v", 129, "\"}",
                   "f:1: version=vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv"
                   "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv"
                   "...: must be 1 to 128 characters of printable ASCII");
    check_repeated("{\"version\": \"", "v", 128, "\"}",
                   "f:1: entries: missing; must be an array, of no entries "
                   "perhaps");
    check_repeated("{\"version\": \"", "v", 10000000, "\"}",
                   "f:1: too long; must be at most 16384 bytes");
    check_repeated("{", "\"", 3, "",
                   "f:1: unexpected end of input in quoted string");
    check_repeated("", "{", 10000000, "",
                   "f:1: syntax error: the name of a member in quotes must "
                   "be here, not '{'");
    /* The longest comment, escaped, in an entry that is just short enough. */
    check_repeated("{\"version\": \"1\", \"comment\": \"",
                   "\\ud83d\\ude00", 1024, "\"}",
                   "f:1: entries: missing; must be an array, of no entries "
                   "perhaps");
}

static void
too_many(void)
{
    struct prefix_entry e;
    struct prefix_builder b;
    char *error = NULL;

    memset(&e, 0, sizeof e);
    prefix_builder_init(&b, "f");
    while (!error && b.n <= PREFIX_SET_MAX) {
        error = prefix_builder_add(&b, &e, false);
    }
    CHECK_INT(b.n, PREFIX_SET_MAX);
    prefix_case_check("too many", "error", error,
                      "too many entries; must be at most 2097152");
    prefix_builder_destroy(&b);
}

/* What is no file, or none that can be read. */

/* Checks that 'path' is refused, with 'expected' behind its name. */
static void
check_unreadable(const char *path, const char *expected)
{
    char *message = xasprintf("%s: %s", path, expected);
    struct prefix_set *set;
    char *error = prefix_set_from_file(path, &set);

    if (!error) {
        prefix_set_unref(set);
    }
    prefix_case_check(path, "error", error, message);
    free(message);
}

static void
unreadable_files(void)
{
    char *fifo = xasprintf("%s/fifo", folder);

    CHECK(!mkfifo(fifo, 0600));
    check_unreadable(fifo, "must be a regular file, not a pipe");
    unlink(fifo);
    free(fifo);
    check_unreadable(folder, "must be a regular file, not a directory");
    check_unreadable("/dev/zero", "must be a regular file, not a device");
    check_unreadable("/does/not/exist", "cannot be opened: No such file or "
                                        "directory");
    check_unreadable("", "cannot be opened: No such file or directory");
}

/* Files in /proc say that they are empty, and are not. */
static void
sizeless_file(void)
{
    struct prefix_set *set;
    char *text, *error;
    size_t len;

    error = text_file_read("/proc/self/smaps", 1 << 30, &text, &len);
    if (CHECK(!error)) {
        CHECK(len > 8192 && text[len - 1] == '\n');
        free(text);
    }
    free(error);
    prefix_case_check("/proc", "error",
                      prefix_set_from_file("/proc/self/status", &set),
                      "/proc/self/status:1: syntax error: '{' must be here, "
                      "not 'N'");
}

static void
write_file(const char *path, const char *s, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    CHECK(fd >= 0 && write(fd, s, len) == len);
    close(fd);
}

/* Called in place of read(): where 'appended' names a file, that grows. */

static const char *appended;

ssize_t __real_read(int, void *, size_t);
ssize_t __wrap_read(int, void *, size_t);

ssize_t
__wrap_read(int fd, void *buffer, size_t size)
{
    ssize_t n = __real_read(fd, buffer, size);

    if (appended) {
        int other = open(appended, O_WRONLY | O_APPEND);

        CHECK(other >= 0 && write(other, "x", 1) == 1);
        close(other);
        appended = NULL;
    }
    return n;
}

static void
changed_file(void)
{
    char *path = xasprintf("%s/file", folder);

    write_file(path, "{}", 2);
    appended = path;
    check_unreadable(path, "has been changed while it was read; must be "
                           "replaced as a whole, by a rename");
    CHECK(!appended);
    unlink(path);
    free(path);
}

static void
sizes_of_files(void)
{
    static char content[10000];
    char *path = xasprintf("%s/file", folder);
    static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 9999, 10000 };

    memset(content, 'x', sizeof content);
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        for (size_t max = sizes[i] ? sizes[i] - 1 : 0; max < sizes[i] + 2;
             max++) {
            size_t len;
            char *text, *error;

            write_file(path, content, sizes[i]);
            error = text_file_read(path, max, &text, &len);
            CHECK_INT(error != NULL, max < sizes[i]);
            if (error) {
                CHECK(!text && strstr(error, "too large; must be at most"));
            } else {
                CHECK_INT(len, sizes[i]);
                CHECK(!memcmp(text, content, len));
            }
            free(error);
            free(text);
        }
    }
    unlink(path);
    free(path);
}

static void
example_file(void)
{
    struct prefix_set *set;
    char *error = prefix_set_from_file(example, &set);

    if (!error) {
        CHECK(set->n > 5 && !set->notices);
        check_round_trip("example", set);
        prefix_set_unref(set);
    }
    prefix_case_check(example, "error", error, NULL);
}

int
main(int argc, char *argv[])
{
    set_program_name(argv[0]);
    if (argc != 3) {
        ovs_fatal(0, "usage: %s CASES EXAMPLE", argv[0]);
    }
    cases = argv[1];
    example = argv[2];
    if (!mkdtemp(folder)) {
        ovs_fatal(errno, "%s", folder);
    }

    unit_run("files are what they say, or wrong for one reason", files);
    unit_run("bytes that are no JSON are refused", wrong_bytes);
    unit_run("large values are refused early", large_values);
    unit_run("there are two million entries at most", too_many);
    unit_run("files that cannot be read are named", unreadable_files);
    unit_run("files that do not tell their size are read", sizeless_file);
    unit_run("files are read whole, up to the limit", sizes_of_files);
    unit_run("a file that is written meanwhile is refused", changed_file);
    unit_run("the example is right", example_file);
    rmdir(folder);
    return unit_exit_status();
}
