/* SPDX-License-Identifier: Apache-2.0 */

/* prefix-trie.h: what a table finds is what its entries say. */

#include <config.h>
#include "prefix-trie.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "prefix-random.h"
#include "util.h"
#include "unit.h"

/* Tables by hand. */

#define NO_VLAN (-1)

/* An entry: 'prefix' as "10.0.0.0/8", or "src 10.0.0.0/8"; 'vlan' or NO_VLAN;
 * the last byte of a MAC, or 0 for none. */
struct row {
    const char *prefix;
    int vlan, mac;
};

static void
make_entry(const struct row *row, struct prefix_entry *e)
{
    const char *s = row->prefix;
    char *copy, *slash;

    memset(e, 0, sizeof *e);
    e->key.src = !strncmp(s, "src ", 4);
    copy = xstrdup(s + (e->key.src ? 4 : 0));
    slash = strchr(copy, '/');
    *slash = '\0';
    e->key.ipv6 = strchr(copy, ':') != NULL;
    e->key.len = atoi(slash + 1);
    if (inet_pton(e->key.ipv6 ? AF_INET6 : AF_INET, copy, e->key.addr) != 1) {
        ovs_abort(0, "%s is no prefix", s);
    }
    e->key.has_vlan = row->vlan >= 0;
    e->key.vlan = MAX(row->vlan, 0);
    e->key.has_mac = row->mac > 0;
    e->key.mac[5] = row->mac;
    e->action = PREFIX_DROP;
    free(copy);
}

static struct prefix_set *
make_set(const struct row *rows, size_t n)
{
    struct prefix_entry *entries = xcalloc(n + 1, sizeof *entries);

    for (size_t i = 0; i < n; i++) {
        make_entry(&rows[i], &entries[i]);
    }
    return prefix_random_from(entries, n);
}

static char *
build(const struct prefix_set *set, struct prefix_blob *blob)
{
    size_t n_resolved = 0, n_redirect = 0;
    char *error = prefix_blob_build(set, prefix_random_resolve, &n_resolved,
                                    blob);

    for (size_t i = 0; i < set->n; i++) {
        n_redirect += set->entries[i].action == PREFIX_REDIRECT;
    }
    CHECK_INT(n_resolved, n_redirect);
    return error;
}

static bool
build_ok(const struct prefix_set *set, struct prefix_blob *blob)
{
    char *error = build(set, blob);

    if (error) {
        unit_fail(OVS_SOURCE_LOCATOR, "%s", error);
        free(error);
        return false;
    }
    return true;
}

/* A frame, and the prefix of the entry that it is to meet; NULL: none.  The
 * entry's limits are those of 'vlan' and 'mac' as in 'limits': "v", "m", "vm"
 * or "". */
struct frame {
    const char *src, *dst;
    int vlan, mac;
    const char *entry, *limits;
};

static void
make_query(const struct frame *f, struct prefix_query *query)
{
    memset(query, 0, sizeof *query);
    query->ipv6 = strchr(f->dst, ':') != NULL;
    inet_pton(query->ipv6 ? AF_INET6 : AF_INET, f->dst, query->dst);
    if (f->src) {
        query->has_src = true;
        inet_pton(query->ipv6 ? AF_INET6 : AF_INET, f->src, query->src);
    }
    query->vlan = f->vlan;
    query->mac[5] = f->mac;
}

/* Does entry 'i' of 'set' have the key that 'f' is to meet? */
static bool
is_expected(const struct prefix_set *set, uint32_t i, const struct frame *f)
{
    struct row row = { f->entry, NO_VLAN, 0 };
    struct prefix_entry e;

    if (i == TABLE_NO_ENTRY || !f->entry) {
        return i == TABLE_NO_ENTRY && !f->entry;
    }
    if (strchr(f->limits, 'v')) {
        row.vlan = f->vlan;
    }
    if (strchr(f->limits, 'm')) {
        row.mac = f->mac;
    }
    make_entry(&row, &e);
    return i < set->n && !memcmp(&set->entries[i].key, &e.key, sizeof e.key);
}

static void
check_frames(const char *where, const struct row *rows, size_t n_rows,
             const struct frame *frames, size_t n_frames)
{
    struct prefix_set *set = make_set(rows, n_rows);
    struct prefix_blob blob;

    if (build_ok(set, &blob)) {
        for (size_t i = 0; i < n_frames; i++) {
            struct prefix_query query;
            uint32_t got;

            make_query(&frames[i], &query);
            got = prefix_blob_lookup(blob.lines, &query);
            if (!is_expected(set, got, &frames[i])) {
                unit_fail(where, "frame %"PRIuSIZE" to %s: entry %d", i,
                          frames[i].dst, (int) got);
            }
        }
        prefix_blob_uninit(&blob);
    }
    prefix_random_free(set);
}

#define CHECK_FRAMES(ROWS, FRAMES) \
    check_frames(OVS_SOURCE_LOCATOR, ROWS, ARRAY_SIZE(ROWS), FRAMES, \
                 ARRAY_SIZE(FRAMES))

static void
empty(void)
{
    struct prefix_set *set = make_set(NULL, 0);
    const struct prefix_query queries[] = { { .ipv6 = false },
                                            { .ipv6 = true } };
    struct prefix_blob blob;

    if (build_ok(set, &blob)) {
        CHECK_INT(blob.n_lines, 1);
        CHECK_INT(blob.active_flags, 0);
        CHECK_INT(prefix_blob_lookup(blob.lines, &queries[0]), UINT32_MAX);
        CHECK_INT(prefix_blob_lookup(blob.lines, &queries[1]), UINT32_MAX);
        prefix_blob_uninit(&blob);
        CHECK(!blob.lines);
        prefix_blob_uninit(&blob);
    }
    prefix_random_free(set);
}

static void
single(void)
{
    static const char *const prefixes[] = {
        "0.0.0.0/0", "10.0.0.0/8", "203.0.113.0/24", "198.51.100.7/32",
        "src 198.51.100.7/32", "::/0", "2001:db8::/32", "2001:db8::1/128",
    };

    for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
        const struct row row = { prefixes[i], NO_VLAN, 0 };
        struct prefix_set *set = make_set(&row, 1);
        struct prefix_blob blob;

        if (build_ok(set, &blob)) {
            const struct table_header *header = (void *) blob.lines;

            CHECK(blob.n_lines * TABLE_LINE < 5000);
            CHECK((uintptr_t) blob.lines % 4096 == 0);
            CHECK_INT(header->n_entries, 1);
            CHECK_INT(header->entries, blob.n_lines - 1);
            prefix_blob_uninit(&blob);
        }
        prefix_random_free(set);
    }
}

static void
whole_world(void)
{
    static const struct row rows[] = {
        { "0.0.0.0/0", NO_VLAN, 0 },
        { "::/0", NO_VLAN, 0 },
    };
    static const struct frame frames[] = {
        { NULL, "0.0.0.0", 0, 0, "0.0.0.0/0", "" },
        { NULL, "127.255.255.255", 0, 0, "0.0.0.0/0", "" },
        { "1.2.3.4", "128.0.0.0", 5, 6, "0.0.0.0/0", "" },
        { NULL, "255.255.255.255", 0, 0, "0.0.0.0/0", "" },
        { NULL, "::", 0, 0, "::/0", "" },
        { "::1", "::ffff:1.2.3.4", 0, 0, "::/0", "" },
        { NULL, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 0, 0, "::/0", "" },
    };

    CHECK_FRAMES(rows, frames);
}

static void
hosts(void)
{
    static const struct row rows[] = {
        { "198.51.100.7/32", NO_VLAN, 0 },
        { "0.0.0.0/32", NO_VLAN, 0 },
        { "255.255.255.255/32", NO_VLAN, 0 },
        { "2001:db8::1/128", NO_VLAN, 0 },
        { "::/128", NO_VLAN, 0 },
    };
    static const struct frame frames[] = {
        { NULL, "198.51.100.7", 0, 0, "198.51.100.7/32", "" },
        { NULL, "198.51.100.6", 0, 0, NULL, "" },
        { NULL, "198.51.100.8", 0, 0, NULL, "" },
        { NULL, "0.0.0.0", 0, 0, "0.0.0.0/32", "" },
        { NULL, "0.0.0.1", 0, 0, NULL, "" },
        { NULL, "255.255.255.255", 0, 0, "255.255.255.255/32", "" },
        { NULL, "255.255.255.254", 0, 0, NULL, "" },
        { NULL, "2001:db8::1", 0, 0, "2001:db8::1/128", "" },
        { NULL, "2001:db8::", 0, 0, NULL, "" },
        { NULL, "2001:db8::2", 0, 0, NULL, "" },
        { NULL, "2001:db8:0:0:8000::1", 0, 0, NULL, "" },
        { NULL, "::", 0, 0, "::/128", "" },
        { NULL, "::1", 0, 0, NULL, "" },
    };

    CHECK_FRAMES(rows, frames);
}

static void
longest(void)
{
    static const struct row rows[] = {
        { "10.0.0.0/7", NO_VLAN, 0 },   { "10.0.0.0/8", NO_VLAN, 0 },
        { "10.0.0.0/9", NO_VLAN, 0 },   { "10.0.0.0/15", NO_VLAN, 0 },
        { "10.1.0.0/16", NO_VLAN, 0 },  { "10.1.0.0/17", NO_VLAN, 0 },
        { "10.1.0.0/24", NO_VLAN, 0 },  { "10.1.0.0/32", NO_VLAN, 0 },
        { "2001:db8::/32", NO_VLAN, 0 }, { "2001:db8::/33", NO_VLAN, 0 },
        { "2001:db8::/64", NO_VLAN, 0 }, { "2001:db8::8/125", NO_VLAN, 0 },
    };
    static const struct frame frames[] = {
        { NULL, "9.255.255.255", 0, 0, NULL, "" },
        { NULL, "10.0.0.0", 0, 0, "10.0.0.0/15", "" },
        { NULL, "10.1.0.0", 0, 0, "10.1.0.0/32", "" },
        { NULL, "10.1.0.1", 0, 0, "10.1.0.0/24", "" },
        { NULL, "10.1.1.0", 0, 0, "10.1.0.0/17", "" },
        { NULL, "10.1.127.255", 0, 0, "10.1.0.0/17", "" },
        { NULL, "10.1.128.0", 0, 0, "10.1.0.0/16", "" },
        { NULL, "10.2.0.0", 0, 0, "10.0.0.0/9", "" },
        { NULL, "10.128.0.0", 0, 0, "10.0.0.0/8", "" },
        { NULL, "11.0.0.0", 0, 0, "10.0.0.0/7", "" },
        { NULL, "12.0.0.0", 0, 0, NULL, "" },
        { NULL, "2001:db8::7", 0, 0, "2001:db8::/64", "" },
        { NULL, "2001:db8::8", 0, 0, "2001:db8::8/125", "" },
        { NULL, "2001:db8::f", 0, 0, "2001:db8::8/125", "" },
        { NULL, "2001:db8::10", 0, 0, "2001:db8::/64", "" },
        { NULL, "2001:db8:0:1::", 0, 0, "2001:db8::/33", "" },
        { NULL, "2001:db8:8000::", 0, 0, "2001:db8::/32", "" },
        { NULL, "2001:db9::", 0, 0, NULL, "" },
    };

    CHECK_FRAMES(rows, frames);
}

static void
source_first(void)
{
    static const struct row rows[] = {
        { "src 10.0.0.0/8", NO_VLAN, 0 },
        { "src 10.1.0.0/16", 5, 0 },
        { "src 172.16.0.0/12", 5, 0 },
        { "192.0.2.1/32", NO_VLAN, 0 },
        { "src ::/0", 5, 0 },
        { "2001:db8::1/128", NO_VLAN, 0 },
    };
    static const struct frame frames[] = {
        { "10.2.0.1", "192.0.2.1", 0, 0, "src 10.0.0.0/8", "" },
        { "10.1.0.1", "192.0.2.1", 0, 0, "src 10.0.0.0/8", "" },
        { "10.1.0.1", "192.0.2.1", 5, 0, "src 10.1.0.0/16", "v" },
        { "172.16.0.1", "192.0.2.1", 5, 0, "src 172.16.0.0/12", "v" },
        /* No source entry is for it: the destination is asked. */
        { "172.16.0.1", "192.0.2.1", 6, 0, "192.0.2.1/32", "" },
        { "172.16.0.1", "192.0.2.2", 6, 0, NULL, "" },
        { "11.0.0.1", "192.0.2.1", 5, 0, "192.0.2.1/32", "" },
        { NULL, "192.0.2.1", 5, 0, "192.0.2.1/32", "" },
        /* An address is not looked for in the other direction. */
        { "192.0.2.1", "10.0.0.1", 0, 0, NULL, "" },
        { "2001:db8::2", "2001:db8::1", 5, 0, "src ::/0", "v" },
        { "2001:db8::2", "2001:db8::1", 0, 0, "2001:db8::1/128", "" },
    };

    CHECK_FRAMES(rows, frames);
}

static void
ranks(void)
{
    static const struct row rows[] = {
        { "10.0.0.0/8", NO_VLAN, 0 }, { "10.0.0.0/8", NO_VLAN, 1 },
        { "10.0.0.0/8", 5, 0 },       { "10.0.0.0/8", 5, 1 },
        { "10.0.0.0/8", 0, 0 },       { "10.0.0.0/8", 6, 2 },
    };
    static const struct frame frames[] = {
        { NULL, "10.0.0.1", 5, 1, "10.0.0.0/8", "vm" },
        { NULL, "10.0.0.1", 5, 2, "10.0.0.0/8", "v" },
        { NULL, "10.0.0.1", 6, 2, "10.0.0.0/8", "vm" },
        { NULL, "10.0.0.1", 6, 1, "10.0.0.0/8", "m" },
        { NULL, "10.0.0.1", 6, 3, "10.0.0.0/8", "" },
        { NULL, "10.0.0.1", 0, 1, "10.0.0.0/8", "v" },
        { NULL, "10.0.0.1", 0, 3, "10.0.0.0/8", "v" },
        { NULL, "10.0.0.1", 7, 3, "10.0.0.0/8", "" },
    };

    CHECK_FRAMES(rows, frames);
}

static void
fall_back(void)
{
    static const struct row rows[] = {
        { "10.0.0.0/8", NO_VLAN, 0 }, { "10.0.0.0/8", 5, 0 },
        { "10.1.0.0/16", 5, 1 },      { "10.1.0.0/16", 6, 0 },
        { "10.1.1.0/24", NO_VLAN, 2 }, { "10.1.1.1/32", 6, 0 },
        { "0.0.0.0/0", 8, 0 },        { "20.0.0.0/8", 9, 0 },
    };
    static const struct frame frames[] = {
        { NULL, "10.1.1.1", 6, 2, "10.1.1.1/32", "v" },
        { NULL, "10.1.1.1", 7, 2, "10.1.1.0/24", "m" },
        { NULL, "10.1.1.1", 5, 1, "10.1.0.0/16", "vm" },
        { NULL, "10.1.1.2", 6, 1, "10.1.0.0/16", "v" },
        { NULL, "10.1.1.2", 5, 3, "10.0.0.0/8", "v" },
        { NULL, "10.1.1.2", 7, 3, "10.0.0.0/8", "" },
        /* Nothing is tried behind an entry without limits. */
        { NULL, "10.1.1.2", 8, 3, "10.0.0.0/8", "" },
        { NULL, "20.0.0.1", 9, 0, "20.0.0.0/8", "v" },
        { NULL, "20.0.0.1", 8, 0, "0.0.0.0/0", "v" },
        { NULL, "20.0.0.1", 7, 0, NULL, "" },
    };

    CHECK_FRAMES(rows, frames);
}

/* Builds a table in which an address has 'n' entries with limits to try in
 * three prefixes, and, if 'last', one without.  Returns the error, which the
 * caller frees. */
static char *
build_chain(int n, bool last)
{
    struct row rows[TABLE_MAX_CHAIN + 3];
    struct prefix_set *set;
    struct prefix_blob blob;
    char *error;

    for (int i = 0; i < n; i++) {
        rows[i].prefix = (i < 20 ? "10.0.0.0/8"
                          : i < 40 ? "10.1.0.0/16" : "10.1.1.0/24");
        rows[i].vlan = i + 1;
        rows[i].mac = 0;
    }
    rows[n] = (struct row) { "10.0.0.0/7", NO_VLAN, 0 };
    set = make_set(rows, n + last);
    error = build(set, &blob);
    if (!error) {
        struct prefix_query query = { .dst = { 10, 1, 1, 1 }, .vlan = 1 };
        uint32_t i = prefix_blob_lookup(blob.lines, &query);

        CHECK(i < set->n && set->entries[i].key.vlan == 1);
        query.vlan = 4000;
        i = prefix_blob_lookup(blob.lines, &query);
        CHECK_INT(i, last ? 0 : TABLE_NO_ENTRY);
    }
    prefix_blob_uninit(&blob);
    prefix_random_free(set);
    return error;
}

static void
long_chains(void)
{
    char *error;

    CHECK(!build_chain(TABLE_MAX_CHAIN, false));
    CHECK(!build_chain(TABLE_MAX_CHAIN - 1, true));

    error = build_chain(TABLE_MAX_CHAIN + 1, false);
    CHECK(error && strstr(error, "10.1.1.0/24") && strstr(error, "entry 41:")
          && strstr(error, "64"));
    free(error);
    error = build_chain(TABLE_MAX_CHAIN, true);
    CHECK(error && strstr(error, "10.1.1.0/24") && strstr(error, "entry 42:"));
    free(error);
}

/* An entry without limits ends a chain: those of shorter prefixes do not
 * count. */
static void
ended_chain(void)
{
    struct row rows[2 * TABLE_MAX_CHAIN];
    struct prefix_set *set;
    struct prefix_blob blob;

    for (int i = 0; i < ARRAY_SIZE(rows); i++) {
        rows[i].prefix = i < TABLE_MAX_CHAIN ? "10.0.0.0/8" : "10.1.1.0/24";
        rows[i].vlan = i + 1;
        rows[i].mac = 0;
    }
    rows[TABLE_MAX_CHAIN] = (struct row) { "10.1.0.0/16", NO_VLAN, 0 };
    set = make_set(rows, ARRAY_SIZE(rows));
    if (build_ok(set, &blob)) {
        struct prefix_query query = { .dst = { 10, 1, 1, 1 }, .vlan = 1 };

        CHECK_INT(prefix_blob_lookup(blob.lines, &query), TABLE_MAX_CHAIN);
        prefix_blob_uninit(&blob);
    }
    prefix_random_free(set);
}

static void
flags(void)
{
    static const struct {
        struct row row;
        uint32_t flags;
    } cases[] = {
        { { "10.0.0.0/8", NO_VLAN, 0 }, 0 },
        { { "10.0.0.0/8", 0, 0 }, TABLE_ACTIVE_VLAN },
        { { "10.0.0.0/8", NO_VLAN, 1 }, TABLE_ACTIVE_MAC },
        { { "src ::/0", NO_VLAN, 0 }, TABLE_ACTIVE_SRC },
        { { "src ::/0", 4, 1 },
          TABLE_ACTIVE_SRC | TABLE_ACTIVE_VLAN | TABLE_ACTIVE_MAC },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct row rows[] = { { "11.0.0.0/8", NO_VLAN, 0 },
                                    cases[i].row };
        struct prefix_set *set = make_set(rows, 2);
        struct prefix_blob blob;

        if (build_ok(set, &blob)) {
            CHECK_INT(blob.active_flags, cases[i].flags);
            prefix_blob_uninit(&blob);
        }
        prefix_random_free(set);
    }
}

/* Builds a table of one entry that redirects to 'target', and stores it. */
static void
redirect(const char *target, enum prefix_action action,
         struct table_entry *te)
{
    const struct row row = { "10.0.0.0/8", 4094, 0xaa };
    struct prefix_set *set = make_set(&row, 1);
    struct prefix_entry *e = set->entries;
    struct prefix_blob blob;

    e->action = action;
    if (action == PREFIX_REDIRECT) {
        e->target = xstrdup(target);
        e->rewrite = TABLE_SET_DST_MAC | TABLE_PUSH_VLAN;
        e->set_src[0] = 0x11;
        e->set_dst[5] = 0x22;
        e->set_vlan = 100;
        e->set_tpid = 0x88a8;
    }
    memset(te, 0xff, sizeof *te);
    if (build_ok(set, &blob)) {
        const struct table_header *header = (void *) blob.lines;

        memcpy(te, &blob.lines[header->entries], sizeof *te);
        prefix_blob_uninit(&blob);
    }
    prefix_random_free(set);
}

static void
verdicts(void)
{
    struct table_entry te;

    redirect("t2", PREFIX_REDIRECT, &te);
    CHECK_INT(te.verdict, TABLE_REDIRECT | TABLE_VERDICT_REWRITE
                          | 2 << TABLE_VERDICT_TARGET_SHIFT);
    CHECK_INT(te.match, 4094ULL << 48 | 0xaa);
    CHECK_INT(te.mask, UINT64_MAX);
    CHECK_INT(te.rewrite, TABLE_SET_DST_MAC | TABLE_PUSH_VLAN);
    CHECK_INT(te.set_src[0], 0x11);
    CHECK_INT(te.set_dst[5], 0x22);
    CHECK_INT(te.set_vlan, 100);
    CHECK_INT(te.set_tpid, 0x88a8);
    CHECK_INT(te.next, TABLE_NO_ENTRY);

    redirect("t3", PREFIX_REDIRECT, &te);
    CHECK_INT(te.verdict, TABLE_NOT_OFFLOADED);
    redirect(NULL, PREFIX_DROP, &te);
    CHECK_INT(te.verdict, TABLE_DROP);
    redirect(NULL, PREFIX_HOST, &te);
    CHECK_INT(te.verdict, TABLE_HOST);
    redirect(NULL, PREFIX_USERSPACE, &te);
    CHECK_INT(te.verdict, TABLE_USERSPACE);
}

static void
too_many(void)
{
    struct prefix_set set = { .n = PREFIX_SET_MAX + 1 };
    struct prefix_blob blob;
    char *error = build(&(struct prefix_set) { .n = 0 }, &blob);

    CHECK(!error);
    prefix_blob_uninit(&blob);
    error = prefix_blob_build(&set, prefix_random_resolve, NULL, &blob);
    CHECK(error && strstr(error, "2097153") && strstr(error, "2097152"));
    CHECK(!blob.lines);
    free(error);
}

int
main(void)
{
    unit_run("a table without entries is one line and matches nothing",
             empty);
    unit_run("a table with one entry takes less than 5 kB, page-aligned",
             single);
    unit_run("0.0.0.0/0 and ::/0 match all of their family", whole_world);
    unit_run("/32 and /128 match one address", hosts);
    unit_run("the longest prefix wins at each edge of a node", longest);
    unit_run("a source entry of any length wins; if none is for the frame, "
             "the destination is asked", source_first);
    unit_run("at equal length VLAN and MAC win over VLAN, MAC and neither",
             ranks);
    unit_run("a frame outside an entry's limits meets the next shorter prefix",
             fall_back);
    unit_run("64 entries to try for an address are allowed, one more is an "
             "error that names the entry", long_chains);
    unit_run("entries behind one without limits do not count for that",
             ended_chain);
    unit_run("what verdicts depend on is said", flags);
    unit_run("entries have the verdict, limits and rewrites of the set",
             verdicts);
    unit_run("a table that is too large is refused", too_many);
    return unit_exit_status();
}
