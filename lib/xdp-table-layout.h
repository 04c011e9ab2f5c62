/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */

/* What the XDP program (bpf/) and the daemon (lib/) must agree on about the
 * prefix table: its memory, the cache in front of it, its counters and the
 * targets of redirects.  Part of the layout that XDP_LAYOUT_VERSION numbers.
 *
 * A table is one array of lines of 64 bytes, which the daemon fills before the
 * program sees it and nobody writes afterwards:
 *
 *     line 0              struct table_header
 *     tries               words of 32 bits, 16 a line, see TABLE_LEAF
 *     entries             struct table_entry, one a line
 *
 * Each port has two slots for tables.  The program reads 'active' of struct
 * table_live once a frame, which says which of them is in force: writing that
 * one word puts another table in force. */

#ifndef XDP_TABLE_LAYOUT_H
#define XDP_TABLE_LAYOUT_H 1

#include "xdp-layout.h"

/* A line of the table: a cache line of all CPUs that matter, and the value of
 * the map that holds the table. */
#define TABLE_LINE 64
#define TABLE_WORDS (TABLE_LINE / 4)
struct table_line {
    __u32 word[TABLE_WORDS];
};

/* Families and directions of tries. */
enum table_trie {
    TABLE_IPV4_SRC,
    TABLE_IPV4_DST,
    TABLE_IPV6_SRC,
    TABLE_IPV6_DST,
    TABLE_N_TRIES
};

/* Tries: multibit, with leaves pushed down.
 *
 * A node of stride S is 2^S words, from the start of a line on; the next S
 * bits of the address, the most significant ones first, choose one.  The root
 * has stride 8 or 16, as the header says; the others have 8 or, where nodes
 * are sparse, 4: in IPv6, and in IPv4 behind the first 24 bits.
 *
 * A word is 0: nothing matches; or TABLE_LEAF | index of the entry to start
 * with; or the line of the next node. */
#define TABLE_LEAF (1U << 31)
#define TABLE_IPV4_STRIDE 8
#define TABLE_IPV4_DENSE_BITS 24        /* From there on, TABLE_LOW_STRIDE. */
#define TABLE_LOW_STRIDE 4
#define TABLE_MIN_ROOT_BITS 8
#define TABLE_MAX_ROOT_BITS 16

struct table_header {
    __u32 root[TABLE_N_TRIES];      /* Line of the root, 0: no trie. */
    __u32 root_bits[TABLE_N_TRIES];
    __u32 entries;                  /* Line of entry 0. */
    __u32 n_entries;
    __u32 reserved[6];
};
_Static_assert(sizeof(struct table_header) == TABLE_LINE, "line 0");

/* Entries. */

enum table_action {
    TABLE_USERSPACE,                /* Reason: UP_ENTRY. */
    TABLE_NOT_OFFLOADED,            /* Reason: UP_NOT_OFFLOADED. */
    TABLE_REDIRECT,
    TABLE_DROP,
    TABLE_HOST,
    TABLE_N_ACTIONS
};

/* 'verdict' of an entry: all that the program needs to know of most entries,
 * so that it rides in the cache. */
#define TABLE_VERDICT_ACTION 0x7        /* enum table_action. */
#define TABLE_VERDICT_REWRITE 0x8       /* Look at the entry's 'rewrite'. */
#define TABLE_VERDICT_TARGET_SHIFT 8    /* Index of the target. */

/* As many ports as can be targets: four times what one daemon has been tried
 * with. */
#define TABLE_N_TARGETS 1024

/* What an entry can be limited to, as one number: the VLAN id of the outer tag
 * (0: none) in the upper 16 bits, below it the destination MAC, its first byte
 * uppermost. */
#define TABLE_VLAN_SHIFT 48
#define TABLE_VLAN_MASK (0xffffULL << TABLE_VLAN_SHIFT)
#define TABLE_MAC_MASK (~TABLE_VLAN_MASK)

/* At most so many entries to try for one address: limited ones of the longest
 * prefix, then of shorter ones, up to the first that is not limited. */
#define TABLE_MAX_CHAIN 64

/* 'rewrite' of an entry, done in this order. */
#define TABLE_SET_SRC_MAC 0x01
#define TABLE_SET_DST_MAC 0x02
#define TABLE_DEC_TTL 0x04
#define TABLE_POP_VLAN 0x08
#define TABLE_PUSH_VLAN 0x10
#define TABLE_SET_VLAN 0x20             /* The id only, of the outer tag. */

struct table_entry {
    __u32 verdict;
    __u32 next;                     /* Index of the entry to try next where
                                     * this one is limited to others, or
                                     * TABLE_NO_ENTRY. */
    __u64 match;                    /* Takes a frame whose VLAN and MAC are */
    __u64 mask;                     /* these, in the bits of 'mask'. */
    __u16 rewrite;
    __u8 set_src[6];
    __u8 set_dst[6];
    __u16 set_vlan;                 /* Id to push or set. */
    __u16 set_tpid;                 /* Of the tag to push, in host order. */
    __u16 reserved[11];
};
_Static_assert(sizeof(struct table_entry) == TABLE_LINE, "one a line");

#define TABLE_NO_ENTRY (~0U)

/* What is in force on a port: the one value of its map 'live'. */
struct table_live {
    __u32 active;                   /* 0: no table. */
    __u32 share;                    /* A flow takes the fast path if the upper
                                     * 16 bits of its hash are below this:
                                     * 0 none, 65536 all of them. */
    __u32 now;                      /* CLOCK_MONOTONIC, in seconds, written by
                                     * the daemon each second: it costs less
                                     * than asking. */
    __u32 reserved;
    __u32 counters_stride[2];       /* Counters of a CPU in each slot's
                                     * counters: n_entries, made even, so that
                                     * no two CPUs share a cache line. */
};

/* 'active': a number that no other load of a table in this daemon has,
 * shifted, with bits that say which slot it is in and what its verdicts
 * depend on besides the destination: that, and nothing else, is in the keys
 * of the cache. */
#define TABLE_ACTIVE_SLOT 0x1
#define TABLE_ACTIVE_SRC 0x2            /* There are source entries. */
#define TABLE_ACTIVE_VLAN 0x4           /* Some are limited to a VLAN, */
#define TABLE_ACTIVE_MAC 0x8            /* or to a MAC. */
#define TABLE_ACTIVE_SHIFT 4

/* The cache: what was found for an address, or that nothing was.  Per CPU,
 * shared by all ports of the daemon; a slot is good for 'tag', the 'active' of
 * the table that it is from.  Slots come in pages, since a per-CPU array has
 * a pointer for each of its values, which would be one more miss. */
struct cache4_slot {
    __u32 tag;
    __u32 dst;                      /* As in the frame. */
    __u32 entry;                    /* TABLE_NO_ENTRY: nothing matches. */
    __u32 verdict;
    __u64 limits;                   /* VLAN and MAC, or 0. */
    __u32 src;                      /* Or 0. */
    __u32 reserved;
};

/* A cache line: an address has the choice of its two slots. */
#define CACHE4_WAYS 2
struct cache4_set {
    struct cache4_slot way[CACHE4_WAYS];
};
_Static_assert(sizeof(struct cache4_set) == TABLE_LINE, "one a line");

struct cache6_slot {
    __u32 tag;
    __u32 entry;
    __u32 verdict;
    __u32 reserved;
    __u64 dst[2], src[2];
    __u64 limits;
    __u64 reserved2;
};
_Static_assert(sizeof(struct cache6_slot) == TABLE_LINE, "one a line");

/* At 64 k IPv4 slots a mix of 10,000 destinations rarely collides (16 k cost
 * 40 ns a frame more). */
#define CACHE_PAGE 4096
#define CACHE4_PER_PAGE (CACHE_PAGE / sizeof(struct cache4_set))
#define CACHE6_PER_PAGE (CACHE_PAGE / sizeof(struct cache6_slot))
#define CACHE4_PAGES 512                /* 2 MB a CPU. */
#define CACHE6_PAGES 256                /* 1 MB a CPU. */

struct cache4_page {
    struct cache4_set set[CACHE4_PER_PAGE];
};
struct cache6_page {
    struct cache6_slot slot[CACHE6_PER_PAGE];
};

/* Source MACs of which a frame went up in the present epoch, by hash: per CPU,
 * one for all ports.  The hash depends on the epoch, so that two MACs that
 * collide in one do not in the next. */
#define LEARN_SLOTS 4096
#define LEARN_EPOCH_SHIFT 2             /* Of 'now': 4 s. */
struct learn_page {
    __u32 epoch[LEARN_SLOTS];
};

/* Counters of one entry on one CPU.  The map of a table has
 * 'counters_stride' of them for each possible CPU, those of CPU 0 first; only
 * that CPU writes them.  (A per-CPU map cannot be of another size in each of
 * the two slots.) */
struct table_counter {
    __u64 packets;
    __u64 bytes;
    __u64 last;                     /* 'now' of struct table_live; 0: never. */
    __u64 reserved;
};
_Static_assert(sizeof(struct table_counter) == TABLE_LINE / 2, "two a line");

/* A port that frames are redirected to: value of the map 'targets', by index,
 * as is the devmap beside it.  The daemon writes all of it, the guard program
 * clears 'ready' at the first redirect that fails. */
struct table_target {
    __u32 ready;
    __u32 ifindex;
    __u32 mtu;                      /* Longest L3 packet. */
    __u32 flags;
};
#define TABLE_TARGET_SG 0x1             /* Takes frames with frags. */

/* What became of redirects after the program: per CPU, by target, written by
 * the guard. */
struct table_lost {
    __u64 frames;                   /* Redirected, and lost. */
    __u64 failures;                 /* Times that 'ready' was cleared. */
};

#endif /* xdp-table-layout.h */
