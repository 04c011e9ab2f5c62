/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "fuzz.h"

#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>

#include "util.h"

static uint16_t
get_be16(const uint8_t *p)
{
    return p[0] << 8 | p[1];
}

static void
put_be16(uint8_t *p, uint16_t value)
{
    p[0] = value >> 8;
    p[1] = value;
}

static bool
is_tag(const uint8_t *type)
{
    return get_be16(type) == 0x8100 || get_be16(type) == 0x88a8;
}

/* Returns where the IP header of a frame with at most two tags begins. */
static size_t
l3_of(const uint8_t *frame)
{
    size_t ofs = 12;

    while (is_tag(&frame[ofs])) {
        ofs += 4;
    }
    return ofs + 2;
}

/* What a frame that the program has looked up was looked up by. */
static void
query_of(const struct fuzz_frame *f, struct prefix_query *q)
{
    const uint8_t *ip = &f->data[l3_of(f->data)];

    memset(q, 0, sizeof *q);
    q->ipv6 = *ip >> 4 == 6;
    q->has_src = true;
    memcpy(q->src, ip + (q->ipv6 ? 8 : 12), q->ipv6 ? 16 : 4);
    memcpy(q->dst, ip + (q->ipv6 ? 24 : 16), q->ipv6 ? 16 : 4);
    if (is_tag(&f->data[12])) {
        q->vlan = get_be16(&f->data[14]) & 0xfff;
    }
    memcpy(q->mac, f->data, 6);
}

/* RFC 1624, equation 3, for a TTL that has become one less. */
static uint16_t
update_checksum(uint16_t check)
{
    uint32_t sum = (uint16_t) ~check + (0xffff - 0x100);

    sum = (sum & 0xffff) + (sum >> 16);
    return ~sum;
}

static void
pop(struct fuzz_frame *f)
{
    memmove(&f->data[12], &f->data[16], f->len - 16);
    f->len -= 4;
}

static void
push(struct fuzz_frame *f)
{
    memmove(&f->data[16], &f->data[12], f->len - 12);
    f->len += 4;
}

/* Changes a frame as 'e' says. */
static void
rewrite(const struct prefix_entry *e, struct fuzz_frame *f)
{
    uint8_t *ip = &f->data[l3_of(f->data)];

    if (e->rewrite & TABLE_DEC_TTL) {
        ip[*ip >> 4 == 6 ? 7 : 8]--;
        if (*ip >> 4 == 4) {
            put_be16(ip + 10, update_checksum(get_be16(ip + 10)));
        }
    }
    if (e->rewrite & TABLE_POP_VLAN) {
        pop(f);
    }
    if (e->rewrite & TABLE_PUSH_VLAN) {
        push(f);
        put_be16(&f->data[12], e->set_tpid);
        put_be16(&f->data[14], e->set_vlan);
    }
    if (e->rewrite & TABLE_SET_VLAN) {
        put_be16(&f->data[14], (get_be16(&f->data[14]) & 0xf000)
                               | e->set_vlan);
    }
    if (e->rewrite & TABLE_SET_SRC_MAC) {
        memcpy(&f->data[6], e->set_src, 6);
    }
    if (e->rewrite & TABLE_SET_DST_MAC) {
        memcpy(f->data, e->set_dst, 6);
    }
}

static bool
same_frame(const struct fuzz_frame *f, const struct table_outcome *o)
{
    return f->len == o->len && !memcmp(f->data, o->frame, f->len);
}

/* Returns the entry that has counted this frame, or NULL; sets '*n' to how
 * many packets have been counted in all. */
static const struct prefix_entry *
find_hit(struct fuzz_state *s, uint64_t *n)
{
    const struct prefix_entry *e = NULL;

    *n = 0;
    for (size_t i = 0; i < s->set->n; i++) {
        uint64_t packets = s->program->slots[s->slot].hits[i].packets;

        if (packets != s->hits[i]) {
            *n += packets - s->hits[i];
            e = &s->set->entries[i];
            s->hits[i] = packets;
        }
    }
    return e;
}

/* Returns what the counters say has become of the frame. */
static enum xdp_counter
verdict_of(const struct table_outcome *o)
{
    for (enum xdp_counter c = 0; c < XDP_N_COUNTERS; c++) {
        if (counter_kind(c) == COUNTER_VERDICT && o->counted[c]) {
            return c;
        }
    }
    return XDP_N_COUNTERS;
}

static uint32_t
code_of(enum xdp_counter verdict)
{
    return (verdict == XDP_C_TO_USERSPACE || verdict == XDP_C_REDIRECT
            ? XDP_REDIRECT
            : verdict == XDP_C_TO_HOST
            || verdict == XDP_C_HOST_TRAFFIC ? XDP_PASS
            : XDP_DROP);
}

static bool
is_up(enum xdp_counter verdict)
{
    return (verdict == XDP_C_TO_USERSPACE || verdict == XDP_C_DROP_NO_SOCKET
            || verdict == XDP_C_DROP_TOO_LONG);
}

static bool
check_hints(const struct fuzz_state *s, const struct table_source *source,
            const struct table_outcome *o, bool up)
{
    uint64_t n = counted_of_kind(o, COUNTER_HINTS);
    size_t grown = o->meta_len - source->meta;

    return (n == (up && s->settings & LAB_HINTS)
            && grown == (o->counted[XDP_C_HINTS_WRITTEN]
                         ? sizeof(struct xdp_hints) : 0));
}

/* Returns the action that an entry must have for what has become of the frame,
 * or PREFIX_N_ACTIONS if no entry has decided. */
static enum prefix_action
action_of(const struct table_outcome *o)
{
    return (o->counted[XDP_C_REDIRECT] ? PREFIX_REDIRECT
            : o->counted[XDP_C_DROP_PREFIX] ? PREFIX_DROP
            : o->counted[XDP_C_TO_HOST] ? PREFIX_HOST
            : o->counted[XDP_C_UP_ENTRY] ? PREFIX_USERSPACE
            : PREFIX_N_ACTIONS);
}

/* Is the entry that counted the frame, and that alone, the one that the
 * reference has? */
static bool
check_entry(struct fuzz_state *s, const struct fuzz_frame *f,
            const struct table_outcome *o, const struct prefix_entry **ep)
{
    enum prefix_action action = action_of(o);
    struct prefix_query q;
    uint64_t n;

    *ep = find_hit(s, &n);
    if (action == PREFIX_N_ACTIONS) {
        return !n;
    }
    query_of(f, &q);
    return n == 1 && (*ep)->action == action
           && prefix_model_lookup(&s->model, &q) == *ep - s->set->entries;
}

static enum fuzz_rule
check_frame(const struct fuzz_state *s, const struct fuzz_frame *f,
            const struct table_outcome *o, const struct prefix_entry *e)
{
    static struct fuzz_frame expected;

    memcpy(expected.data, f->data, f->len);
    expected.len = f->len;
    if (o->counted[XDP_C_REDIRECT]) {
        rewrite(e, &expected);
        return (f->data[0] & 1 ? RULE_GROUP
                : same_frame(&expected, o)
                  && o->counted[XDP_C_REDIRECT_BYTES] == o->len
                  ? N_FUZZ_RULES : RULE_REWRITTEN);
    }
    if (o->verdict == XDP_PASS && s->tag_put_back) {
        pop(&expected);
    }
    return same_frame(&expected, o) ? N_FUZZ_RULES : RULE_UNCHANGED;
}

/* Is the frame in the counter of the host's own if it is that?  What the
 * program cannot read, or contradicts itself, is nobody's. */
static bool
check_host(const struct fuzz_state *s, const struct fuzz_frame *f,
           const struct table_outcome *o)
{
    bool host = s->settings & LAB_HOST && fuzz_is_host(f);
    bool unread = o->counted[XDP_C_DROP_MALFORMED];

    for (enum xdp_counter c = XDP_C_NOT_LINEAR; c <= XDP_C_MALFORMED_L4;
         c++) {
        unread = unread || o->counted[c];
    }
    return (o->counted[XDP_C_HOST_TRAFFIC] == host
            || (unread && !o->counted[XDP_C_HOST_TRAFFIC]));
}

enum fuzz_rule
fuzz_check(struct fuzz_state *s, const struct table_source *source,
           const struct fuzz_frame *f, const struct table_outcome *o,
           char why[256])
{
    enum xdp_counter verdict = verdict_of(o);
    uint64_t n_reasons = counted_of_kind(o, COUNTER_UP);
    const struct prefix_entry *e;

    snprintf(why, 256, "error %d, code %"PRIu32", %s, %"PRIu64" reasons",
             o->error, o->verdict,
             verdict < XDP_N_COUNTERS ? counter_name(verdict) : "no verdict",
             n_reasons);
    if (o->error || o->verdict == XDP_ABORTED) {
        return RULE_RUNS;
    }
    if (counted_of_kind(o, COUNTER_VERDICT) != 1
        || o->verdict != code_of(verdict)) {
        return RULE_VERDICT;
    }
    if (n_reasons != is_up(verdict)) {
        return RULE_REASON;
    }
    if (!check_host(s, f, o)) {
        return RULE_HOST;
    }
    if (!check_hints(s, source, o, is_up(verdict))) {
        return RULE_HINTS;
    }
    if (!check_entry(s, f, o, &e)) {
        return RULE_ENTRY;
    }
    return check_frame(s, f, o, e);
}
