/* SPDX-License-Identifier: Apache-2.0 */

/* The file of a prefix table, which may have a million entries.  As one JSON
 * value it would take some GB of memory, so only what is in an entry is given
 * to OVS's parser; the object and the array around them are gone over here. */

#include <config.h>
#include "prefix-set.h"

#include <stdlib.h>
#include <string.h>

#include "openvswitch/dynamic-string.h"
#include "openvswitch/json.h"
#include "openvswitch/shash.h"
#include "prefix-builder.h"
#include "prefix-member.h"
#include "sset.h"
#include "text-file.h"
#include "util.h"

/* Longest text of an entry or another value: more than the longest comment
 * takes with all of its characters escaped as surrogate pairs, 12 bytes
 * each. */
#define MAX_VALUE 16384

/* Largest file: ten times what a million entries take. */
#define MAX_FILE (1 << 30)

/* Longest version string. */
#define MAX_VERSION 128

/* Members of the file. */
enum file_member {
    FILE_SCHEMA,
    FILE_VERSION,
    FILE_COMMENT,
    FILE_ENTRIES,
    N_FILE_MEMBERS
};

static const char *const file_members[N_FILE_MEMBERS] = {
    [FILE_SCHEMA] = "$schema",
    [FILE_VERSION] = "version",
    [FILE_COMMENT] = "comment",
    [FILE_ENTRIES] = "entries",
};

struct reader {
    struct prefix_builder builder;
    const char *p, *end;            /* What is left. */
    unsigned int line;              /* Of 'p'. */
    unsigned int entry;             /* Being read, or 0. */
    unsigned int given;             /* 1 << FILE_*. */
    char *version;
};

/* The text of a JSON value. */
struct extent {
    const char *start, *end;
    unsigned int line;              /* Of its start. */
    size_t n_colons;                /* Outside strings. */
};

/* Returns the message with the place in front, and frees 'error'. */
static char *
at_line(const struct reader *r, unsigned int line, char *error)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    prefix_builder_put_place(&r->builder, line, r->entry, &ds);
    ds_put_cstr(&ds, error);
    free(error);
    return ds_steal_cstr(&ds);
}

static char *
wrong(const struct reader *r, const char *message)
{
    return at_line(r, r->line, xstrdup(message));
}

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void
skip_blanks(struct reader *r)
{
    for (; r->p < r->end && is_blank(*r->p); r->p++) {
        r->line += *r->p == '\n';
    }
}

/* Takes 'c' if it comes next, after blanks. */
static bool
take(struct reader *r, char c)
{
    skip_blanks(r);
    if (r->p < r->end && *r->p == c) {
        r->p++;
        return true;
    }
    return false;
}

static char *
expected(struct reader *r, const char *what)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    skip_blanks(r);
    ds_put_format(&ds, "syntax error: %s must be here, not ", what);
    if (r->p == r->end) {
        ds_put_cstr(&ds, "the end");
    } else {
        char s[2] = { *r->p, '\0' };

        ds_put_char(&ds, '\'');
        prefix_put_printable(&ds, s);
        ds_put_char(&ds, '\'');
    }
    return at_line(r, r->line, ds_steal_cstr(&ds));
}

/* Takes the text of the value that comes next: up to what follows it in an
 * object or an array, and not looking at more of it than has to do with where
 * it ends. */
static char *
take_value(struct reader *r, struct extent *value)
{
    bool in_string = false;
    unsigned int depth = 0;

    skip_blanks(r);
    *value = (struct extent) { .start = r->p, .line = r->line };
    for (; r->p < r->end; r->p++) {
        char c = *r->p;

        if (r->p - value->start >= MAX_VALUE) {
            return at_line(r, value->line,
                           xasprintf("too long; must be at most %d bytes",
                                     MAX_VALUE));
        } else if (c == '\n') {
            r->line++;
        }
        if (in_string) {
            if (c == '\\' && r->p + 1 < r->end && r->p[1] != '\n') {
                r->p++;
            } else if (c == '"') {
                in_string = false;
            }
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']' || c == ',') {
            if (!depth) {
                break;
            }
            depth -= c != ',';
            if (!depth) {
                r->p++;
                break;
            }
        } else if (c == ':') {
            if (!depth) {
                break;
            }
            value->n_colons++;
        }
    }
    value->end = r->p;
    while (value->end > value->start && is_blank(value->end[-1])) {
        value->end--;
    }
    return NULL;
}

/* Takes from 'error', a message of OVS's parser about text that begins in
 * 'line', the place, which is of no use to anybody else.  Returns the rest,
 * with the right place. */
static char *
translate(const struct reader *r, unsigned int line, const char *error)
{
    struct ds ds = DS_EMPTY_INITIALIZER;
    int lines, column, byte;
    int n = 0;

    if (ovs_scan(error, "line %d, column %d, byte %d: %n",
                 &lines, &column, &byte, &n)) {
        line += lines;
    } else {
        n = 0;
    }
    prefix_put_printable(&ds, &error[n]);
    return at_line(r, line, ds_steal_cstr(&ds));
}

/* Parses 'value', which may be any, with 'before' and 'after' around it that
 * make it an object. */
static char *
parse_json(const struct reader *r, const struct extent *value,
           const char *before, const char *after, struct json **jsonp)
{
    struct json_parser *parser = json_parser_create(0);
    struct json *json;
    size_t n = value->end - value->start;
    bool whole = true;

    json_parser_feed(parser, before, strlen(before));
    whole = json_parser_feed(parser, value->start, n) == n;
    json_parser_feed(parser, after, strlen(after));
    json = json_parser_finish(parser);
    if (json->type == JSON_STRING) {
        char *error = translate(r, value->line, json_string(json));

        json_destroy(json);
        return error;
    } else if (!whole) {
        json_destroy(json);
        return at_line(r, value->line,
                       xstrdup("syntax error: something is behind the "
                               "object"));
    }
    *jsonp = json;
    return NULL;
}

/* Parses 'value', which has to be a string, for the caller to free. */
static char *
parse_string(const struct reader *r, const struct extent *value,
             const char *name, char **s)
{
    struct json *json, *member;
    char *error = parse_json(r, value, "{\"\":", "}", &json);

    if (error) {
        return error;
    }
    member = shash_find_data(json_object(json), "");
    if (member->type == JSON_STRING) {
        *s = xstrdup(json_string(member));
    } else {
        char *text = json_to_string(member, JSSF_SORT);

        error = at_line(r, value->line,
                        prefix_must_be(name, text, "a string"));
        free(text);
    }
    json_destroy(json);
    return error;
}

/* Entries. */

/* Returns how many members there are in 'object' and in those it has as
 * members. */
static size_t
count_members(const struct json *object)
{
    size_t n = shash_count(json_object(object));
    const struct shash_node *node;

    SHASH_FOR_EACH (node, json_object(object)) {
        const struct json *member = node->data;

        if (member->type == JSON_OBJECT) {
            n += shash_count(json_object(member));
        }
    }
    return n;
}

/* Returns the name of a member that is twice in 'value', the text of a valid
 * object, or in an object in it, or NULL.  OVS's parser keeps the last of them
 * and says nothing. */
static char *
find_twice(const struct extent *value)
{
    struct sset names[2] = {
        SSET_INITIALIZER(&names[0]), SSET_INITIALIZER(&names[1])
    };
    const char *start = NULL;
    const char *end = NULL;         /* Of the latest string. */
    unsigned int depth = 0;
    char *twice = NULL;

    for (const char *p = value->start; p < value->end && !twice; p++) {
        if (*p == '"') {
            start = p + 1;
            for (end = start; *end != '"'; end++) {
                end += *end == '\\';
            }
            p = end;
        } else if (*p == '{' || *p == '[') {
            depth++;
            if (depth == 2) {
                sset_clear(&names[1]);
            }
        } else if (*p == '}' || *p == ']') {
            depth--;
        } else if (*p == ':' && depth <= 2) {
            char *name;

            json_string_unescape(start, end - start, &name);
            if (sset_add(&names[depth - 1], name)) {
                free(name);
            } else {
                twice = name;
            }
        }
    }
    sset_destroy(&names[0]);
    sset_destroy(&names[1]);
    return twice;
}

static char *
check_twice(const struct extent *value, const struct json *json)
{
    struct ds ds = DS_EMPTY_INITIALIZER;
    char *name;

    if (count_members(json) == value->n_colons) {
        return NULL;
    }
    name = find_twice(value);
    if (!name) {
        return NULL;
    }
    prefix_put_printable(&ds, name);
    ds_put_cstr(&ds, ": there twice; must be there once");
    free(name);
    return ds_steal_cstr(&ds);
}

static char *
read_entry(struct reader *r)
{
    struct prefix_entry e;
    struct extent value;
    struct json *json;
    char *error;
    bool masked;

    skip_blanks(r);
    if (r->p == r->end || *r->p != '{') {
        return expected(r, "an entry, which is an object,");
    }
    error = take_value(r, &value);
    if (!error) {
        error = parse_json(r, &value, "", "", &json);
    }
    if (error) {
        return error;
    }
    error = check_twice(&value, json);
    if (!error) {
        error = prefix_entry_from_json(json, &e, &masked);
        if (!error) {
            e.number = r->entry;
            e.line = value.line;
            error = prefix_builder_add(&r->builder, &e, masked);
            if (error) {
                prefix_entry_uninit(&e);
            }
        }
    }
    json_destroy(json);
    return error ? at_line(r, value.line, error) : NULL;
}

static char *
read_entries(struct reader *r)
{
    char *error;

    if (!take(r, '[')) {
        return expected(r, "'[' and entries");
    } else if (take(r, ']')) {
        return NULL;
    }
    do {
        r->entry++;
        error = read_entry(r);
        if (error) {
            return error;
        }
    } while (take(r, ','));
    r->entry = 0;
    return take(r, ']') ? NULL : expected(r, "',' or ']'");
}

/* The object around. */

static char *
check_version(const char *s)
{
    size_t n = strlen(s);
    bool ok = n >= 1 && n <= MAX_VERSION;

    for (size_t i = 0; i < n; i++) {
        ok = ok && s[i] >= ' ' && s[i] <= '~';
    }
    return ok ? NULL : prefix_must_be("version", s, "1 to 128 characters of "
                                      "printable ASCII");
}

/* $schema, version and comment. */
static char *
read_text_member(struct reader *r, enum file_member member)
{
    const char *name = file_members[member];
    struct extent value;
    char *s = NULL;
    char *error = take_value(r, &value);

    if (!error) {
        error = parse_string(r, &value, name, &s);
    }
    if (error) {
        return error;
    }
    error = member == FILE_VERSION ? check_version(s)
                                   : prefix_check_comment(name, s);
    if (!error && member == FILE_VERSION) {
        r->version = s;
    } else {
        free(s);
    }
    return error ? at_line(r, value.line, error) : NULL;
}

static char *
read_member(struct reader *r)
{
    enum file_member m = 0;
    struct extent name;
    char *s = NULL;
    char *error;

    skip_blanks(r);
    if (r->p == r->end || *r->p != '"') {
        return expected(r, "the name of a member in quotes");
    }
    error = take_value(r, &name);
    if (!error) {
        error = parse_string(r, &name, "name", &s);
    }
    if (error) {
        return error;
    }
    while (m < N_FILE_MEMBERS && strcmp(s, file_members[m])) {
        m++;
    }
    if (m == N_FILE_MEMBERS || r->given & 1u << m) {
        struct ds ds = DS_EMPTY_INITIALIZER;

        prefix_put_printable(&ds, s);
        ds_put_cstr(&ds, m == N_FILE_MEMBERS
                         ? ": no such member; a file has version, entries, "
                           "comment, $schema"
                         : ": there twice; must be there once");
        error = at_line(r, name.line, ds_steal_cstr(&ds));
    }
    free(s);
    if (error) {
        return error;
    }
    r->given |= 1u << m;
    if (!take(r, ':')) {
        return expected(r, "':'");
    }
    return m == FILE_ENTRIES ? read_entries(r) : read_text_member(r, m);
}

static char *
read_object(struct reader *r)
{
    char *error;

    if (!take(r, '{')) {
        return expected(r, "'{'");
    } else if (!take(r, '}')) {
        do {
            error = read_member(r);
            if (error) {
                return error;
            }
        } while (take(r, ','));
        if (!take(r, '}')) {
            return expected(r, "',' or '}'");
        }
    }
    skip_blanks(r);
    if (r->p != r->end) {
        return expected(r, "nothing more");
    } else if (!r->version) {
        return wrong(r, "version: missing; every file needs one");
    } else if (!(r->given & 1u << FILE_ENTRIES)) {
        return wrong(r, "entries: missing; must be an array, of no entries "
                        "perhaps");
    }
    return NULL;
}

/* What OVS's parser would not see, or would take for the end of the text. */
static char *
check_bytes(struct reader *r, const char *text, size_t len)
{
    const char *nul = memchr(text, '\0', len);

    if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
        return wrong(r, "a byte order mark; must be UTF-8 without one");
    } else if (nul) {
        for (const char *p = text; p < nul; p++) {
            r->line += *p == '\n';
        }
        return wrong(r, "a byte of 0; must be text");
    }
    return NULL;
}

char *
prefix_set_from_text(const char *name, const char *text, size_t len,
                     struct prefix_set **setp)
{
    struct reader r = { .p = text, .end = text + len, .line = 1 };
    char *error;

    prefix_builder_init(&r.builder, name);
    error = check_bytes(&r, text, len);
    if (!error) {
        error = read_object(&r);
    }
    if (error) {
        prefix_builder_destroy(&r.builder);
    } else {
        error = prefix_builder_finish(&r.builder, r.version, setp);
    }
    free(r.version);
    return error;
}

char *
prefix_set_from_file(const char *path, struct prefix_set **setp)
{
    char *text;
    size_t len;
    char *error = text_file_read(path, MAX_FILE, &text, &len);

    if (!error) {
        error = prefix_set_from_text(path, text, len, setp);
        free(text);
    }
    return error;
}
