/* SPDX-License-Identifier: Apache-2.0 */

/* Frame in; verdict, hints and counters out. */

#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "harness.h"

#define NOTHING 0
#define L3 (XDP_HINT_HASH | XDP_HINT_L3)
#define L4 (L3 | XDP_HINT_L4)

/* Besides those that every frame is counted in. */
#define NO_COUNTER XDP_N_COUNTERS

static const struct fixture {
    const char *sentence;
    const char *spec;
    uint16_t flags;
    uint16_t l3_ofs, l4_ofs;
    enum xdp_counter counter;
} fixtures[] = {
    { "IPv4 TCP has all hints", "eth ip4 tcp pay=6",
      L4, 14, 34, NO_COUNTER },
    { "IPv4 UDP has all hints", "eth ip4 udp pay=18",
      L4, 14, 34, NO_COUNTER },
    { "IPv4 SCTP has all hints", "eth ip4 sctp pay=18",
      L4, 14, 34, NO_COUNTER },
    { "IPv4 ICMP is hashed without ports", "eth ip4 icmp pay=18",
      L3, 14, 0, NO_COUNTER },
    { "ESP has no ports where UDP has them", "eth ip4 esp",
      L3, 14, 0, NO_COUNTER },
    { "IPv6 TCP has all hints", "eth ip6 tcp",
      L4, 14, 54, NO_COUNTER },
    { "IPv6 UDP has all hints", "eth ip6 udp pay=4",
      L4, 14, 54, NO_COUNTER },
    { "IPv6 with nothing behind is hashed by address", "eth ip6 set=6:59",
      L3, 14, 0, NO_COUNTER },

    { "one VLAN tag is stepped over", "eth tag ip4 tcp",
      L4, 18, 38, NO_COUNTER },
    { "QinQ is stepped over", "eth stag tag ip4 udp pay=4",
      L4, 22, 42, NO_COUNTER },
    { "two 802.1Q tags around IPv6 are stepped over", "eth tag tag ip6 tcp",
      L4, 22, 62, NO_COUNTER },
    { "three tags are one too many", "eth stag tag tag ip4 udp",
      NOTHING, 0, 0, XDP_C_VLAN_DEPTH },
    { "a tag that is cut off is malformed", "eth tag cut=16",
      NOTHING, 0, 0, XDP_C_MALFORMED_L2 },
    { "a second tag that is cut off is malformed", "eth stag tag cut=20",
      NOTHING, 0, 0, XDP_C_MALFORMED_L2 },

    { "IPv4 options are stepped over", "eth ip4opt tcp",
      L4, 14, 46, NO_COUNTER },
    { "IPv4 options behind a tag are stepped over", "eth tag ip4opt udp",
      L4, 18, 50, NO_COUNTER },
    { "IPv6 extension headers are stepped over",
      "eth ip6 hbh rt dst udp pay=4", L4, 14, 94, NO_COUNTER },
    { "four extension headers are stepped over", "eth ip6 hbh dst rt dst udp",
      L4, 14, 118, NO_COUNTER },
    { "behind five extension headers no port is looked for",
      "eth ip6 hbh dst rt dst rt udp", L3, 14, 0, NO_COUNTER },

    { "a first IPv4 fragment is hashed without ports",
      "eth ip4 udp pay=64 first", L3, 14, 0, XDP_C_PARSE_FRAGMENT },
    { "a middle IPv4 fragment is hashed without ports",
      "eth ip4 udp pay=64 more", L3, 14, 0, XDP_C_PARSE_FRAGMENT },
    { "a last IPv4 fragment is hashed without ports",
      "eth ip4 udp pay=64 last", L3, 14, 0, XDP_C_PARSE_FRAGMENT },
    { "an IPv4 packet that must not be fragmented is no fragment",
      "eth ip4 udp set=6:0x40", L4, 14, 34, NO_COUNTER },
    { "a first IPv6 fragment is hashed without ports",
      "eth ip6 frag udp pay=64 first", L3, 14, 0, XDP_C_PARSE_FRAGMENT },
    { "a last IPv6 fragment behind options is hashed without ports",
      "eth ip6 hbh dst frag udp pay=64 last",
      L3, 14, 0, XDP_C_PARSE_FRAGMENT },

    { "ARP has no hash", "eth arp pay=18",
      NOTHING, 0, 0, XDP_C_NOT_IP },
    { "ARP behind a tag has no hash", "eth tag arp",
      NOTHING, 0, 0, XDP_C_NOT_IP },
    { "an unknown Ethertype has no hash", "eth pay=46",
      NOTHING, 0, 0, XDP_C_NOT_IP },
    { "a bare Ethernet header has no hash", "eth",
      NOTHING, 0, 0, XDP_C_NOT_IP },

    { "IPv4 with an IHL of 4 is malformed", "eth ip4 tcp set=0:0x44",
      NOTHING, 0, 0, XDP_C_MALFORMED_IPV4 },
    { "IPv4 with version 5 is malformed", "eth ip4 tcp set=0:0x55",
      NOTHING, 0, 0, XDP_C_MALFORMED_IPV4 },
    { "IPv4 with version 6 is malformed", "eth ip4 tcp set=0:0x65",
      NOTHING, 0, 0, XDP_C_MALFORMED_IPV4 },
    { "IPv4 that says it is longer than the frame is malformed",
      "eth ip4 tcp set=3:41", NOTHING, 0, 0, XDP_C_MALFORMED_IPV4 },
    { "IPv4 that says it is shorter than its header is malformed",
      "eth ip4 tcp set=3:19", NOTHING, 0, 0, XDP_C_MALFORMED_IPV4 },
    { "IPv4 whose options reach beyond its end is malformed",
      "eth ip4 udp set=0:0x48", NOTHING, 0, 0, XDP_C_MALFORMED_IPV4 },
    { "IPv6 with version 4 is malformed", "eth ip6 tcp set=0:0x40",
      NOTHING, 0, 0, XDP_C_MALFORMED_IPV6 },
    { "IPv6 that says it is longer than the frame is malformed",
      "eth ip6 tcp set=5:21", NOTHING, 0, 0, XDP_C_MALFORMED_IPV6 },
    { "IPv6 whose extension header reaches beyond its end is malformed",
      "eth ip6 hbh tcp set=41:3", NOTHING, 0, 0, XDP_C_MALFORMED_IPV6 },
    { "IPv6 whose last extension header reaches beyond its end is malformed",
      "eth ip6 hbh set=40:59 set=41:1",
      NOTHING, 0, 0, XDP_C_MALFORMED_IPV6 },

    { "padding is not taken for an IPv4 packet's ports",
      "eth ip4 end pay=26 set=9:17", L3, 14, 0, XDP_C_MALFORMED_L4 },
    { "padding is not taken for the second half of the ports",
      "eth ip4 pay=3 end pay=23 set=9:6", L3, 14, 0, XDP_C_MALFORMED_L4 },
    { "padding is not taken for an IPv6 extension header",
      "eth ip6 end pay=26 set=6:0", NOTHING, 0, 0, XDP_C_MALFORMED_IPV6 },
    { "padding behind a whole packet does no harm",
      "eth ip4 udp end pay=18", L4, 14, 34, NO_COUNTER },
    { "the ports alone are enough of an L4 header",
      "eth ip4 pay=4 set=9:132", L4, 14, 34, NO_COUNTER },
};

#define N_FIXTURES (sizeof fixtures / sizeof fixtures[0])

/* Each fixture: the counters are exactly those that are named. */
void
test_frames(const struct program *program)
{
    for (size_t i = 0; i < N_FIXTURES; i++) {
        const struct fixture *fx = &fixtures[i];
        struct outcome o;
        struct frame f;

        test_begin("%s", fx->sentence);
        frame_make(&f, fx->spec);
        run(program, NULL, f.data, f.len, &o);
        check_invariants(&o, f.len);
        CHECK(o.hints.flags == fx->flags, "flags %#x, expected %#x",
              o.hints.flags, fx->flags);
        CHECK(o.hints.l3_ofs == fx->l3_ofs, "l3_ofs %u", o.hints.l3_ofs);
        CHECK(o.hints.l4_ofs == fx->l4_ofs, "l4_ofs %u", o.hints.l4_ofs);
        for (int c = XDP_C_PARSE_FRAGMENT; c < XDP_N_COUNTERS; c++) {
            CHECK(o.counted[c] == (c == (int) fx->counter),
                  "counter %d counted %llu", c,
                  (unsigned long long) o.counted[c]);
        }
        test_end();
    }
}

/* Frames that end in the middle of each header, with lengths that are those
 * of the whole frame, and with lengths that fit. */
void
test_prefixes(const struct program *program)
{
    test_begin("a frame that is cut off anywhere goes up, counted once");
    for (size_t i = 0; i < N_FIXTURES; i++) {
        struct outcome o;
        struct frame f;

        frame_make(&f, fixtures[i].spec);
        for (size_t len = 14; len <= f.len; len++) {
            run(program, NULL, f.data, len, &o);
            check_invariants(&o, len);
            if (f.l3 && len > f.l3 + 4) {
                f.data[f.l3 + 3] = len - f.l3;  /* Fits if it is IPv4. */
                run(program, NULL, f.data, len, &o);
                check_invariants(&o, len);
            }
        }
    }
    test_end();
}

/* Frames with a few bytes changed at random, from a fixed seed. */
void
test_mutations(const struct program *program)
{
    unsigned int seed = 2;

    test_begin("50,000 mutated frames go up, each counted once");
    for (int i = 0; i < 50000; i++) {
        struct outcome o;
        struct frame f;

        frame_make(&f, fixtures[rand_r(&seed) % N_FIXTURES].spec);
        for (int n = rand_r(&seed) % 4; n >= 0; n--) {
            f.data[12 + rand_r(&seed) % (f.len - 12)] = rand_r(&seed) >> 8;
        }
        run(program, NULL, f.data, f.len, &o);
        check_invariants(&o, f.len);
    }
    test_end();
}

/* Memory in front of a frame is as an earlier frame left it. */
void
test_garbage(const struct program *program)
{
    struct wrapper *wrapper = wrapper_load(program);

    test_begin("hints overwrite all of what stood there");
    for (size_t i = 0; i < N_FIXTURES; i++) {
        struct xdp_hints hints;
        struct outcome o;
        struct frame f;

        frame_make(&f, fixtures[i].spec);
        run(program, NULL, f.data, f.len, &o);
        wrapper_run_dirty(wrapper, f.data, f.len, &hints);
        CHECK(!memcmp(&hints, &o.hints, sizeof hints),
              "other hints over garbage: %s", fixtures[i].sentence);
    }
    test_end();
    wrapper_unload(wrapper);
}

static void
test_no_room(const struct program *program)
{
    struct source full;
    struct outcome o;
    struct frame f;

    test_begin("a frame without room for hints goes up without them");
    frame_make(&f, "eth ip4 udp pay=18");
    /* The most that this kernel takes: 32 bytes up to 6.2, then what fits
     * into the headroom. */
    for (full = (struct source) { .meta = 252 }; full.meta; full.meta -= 4) {
        run(program, &full, f.data, f.len, &o);
        if (!o.error) {
            break;
        }
    }
    CHECK(!o.error, "%s", strerror(o.error));
    CHECK(o.verdict == XDP_REDIRECT, "verdict %u", o.verdict);
    CHECK(o.intact && !o.have_hints, "frame or metadata changed");
    CHECK(o.counted[XDP_C_TO_USERSPACE] == 1
          && o.counted[XDP_C_HINTS_NO_ROOM] == 1
          && !o.counted[XDP_C_HINTS_WRITTEN], "miscounted");
    test_end();
}

static void
check_dropped(const struct program *program, const struct source *source)
{
    struct outcome o;
    struct frame f;

    frame_make(&f, "eth ip4 udp pay=18");
    run(program, source, f.data, f.len, &o);
    CHECK(!o.error, "%s", strerror(o.error));
    CHECK(o.verdict == XDP_DROP, "verdict %u", o.verdict);
    CHECK(o.counted[XDP_C_DROP_NO_SOCKET] == 1
          && !o.counted[XDP_C_TO_USERSPACE], "miscounted");
}

/* Queues with and without sockets, on device 'ifindex', which has at least
 * two queues and the program attached.  Leaves queue 0 with a socket. */
void
test_queues(struct program *program, int ifindex)
{
    struct source second = { .ifindex = ifindex, .queue = 1 };
    struct outcome o;
    struct frame f;

    test_no_room(program);

    test_begin("a frame of a queue without a socket is dropped, counted");
    check_dropped(program, &second);
    test_end();

    test_begin("a frame goes to the socket of its own queue");
    program_close_socket(program);
    program_open_socket(program, 1);
    frame_make(&f, "eth ip4 udp pay=18");
    run(program, &second, f.data, f.len, &o);
    check_invariants(&o, f.len);
    check_dropped(program, NULL);
    test_end();

    test_begin("after its socket is closed a queue's frames are dropped");
    program_close_socket(program);
    check_dropped(program, &second);
    test_end();
    program_open_socket(program, 0);
}

/* The program with hints off. */
void
test_plain(void)
{
    struct program *program = program_load(false);

    test_begin("without hints nothing is parsed and nothing is written");
    for (size_t i = 0; i < N_FIXTURES; i++) {
        struct outcome o;
        struct frame f;

        frame_make(&f, fixtures[i].spec);
        run(program, NULL, f.data, f.len, &o);
        CHECK(o.verdict == XDP_REDIRECT, "verdict %u", o.verdict);
        CHECK(o.intact && !o.have_hints, "frame or metadata changed");
        for (int c = 0; c < XDP_N_COUNTERS; c++) {
            CHECK(o.counted[c] == (c == XDP_C_TO_USERSPACE),
                  "counter %d counted", c);
        }
    }
    test_end();
    program_unload(program);
}
