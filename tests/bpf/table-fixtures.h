/* SPDX-License-Identifier: Apache-2.0 */

/* Fixtures of the prefix table: a table and a frame in; what becomes of the
 * frame, and the frame as it is then. */

#ifndef TABLE_FIXTURES_H
#define TABLE_FIXTURES_H 1

#include "lab.h"

struct table_fixture {
    const char *sentence;
    const char *table;          /* As options:prefixes has it; NULL: none. */
    const char *in;             /* A frame in words, see frame.h. */
    enum xdp_counter what;      /* The verdict, or the reason to go up. */
    const char *out;            /* Frame in words; NULL: unchanged. */

    unsigned int settings;      /* LAB_*. */
    struct table_source source;
    enum xdp_counter also;      /* Counted as well, 0: nothing. */
    bool tag_put_back;          /* By the front program. */
    bool no_socket;             /* For the queue. */
    bool new_mac;               /* Its source MAC has not been seen. */
    bool no_share;              /* None of the flows takes the fast path. */
};

struct table_fixtures {
    const char *about;
    const struct table_fixture *fixtures;
    size_t n;
};

#define TABLE_FIXTURES(NAME, ABOUT)                             \
    const struct table_fixtures NAME = {                        \
        ABOUT, fixtures, sizeof fixtures / sizeof fixtures[0]   \
    };

/* By concern, each in a file of its own: fixtures-*.c. */
extern const struct table_fixtures fixtures_verdict, fixtures_lookup,
    fixtures_checksum, fixtures_rewrite, fixtures_size, fixtures_tag,
    fixtures_host;

/* All of them, to a NULL. */
extern const struct table_fixtures *const all_table_fixtures[];

/* Tests that are more than a frame in, a frame out. */
void test_table_lookup(void);
void test_table_learn(void);
void test_table_share(void);
void test_table_hits(void);
void test_table_ttl(void);

#endif /* table-fixtures.h */
