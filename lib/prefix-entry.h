/* SPDX-License-Identifier: Apache-2.0 */

#ifndef PREFIX_ENTRY_H
#define PREFIX_ENTRY_H 1

/* One entry of a prefix table: which frames, and what becomes of them.
 *
 * Thread rule: any thread, each with its own entries. */

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "openvswitch/types.h"

struct ds;
struct json;

enum prefix_action {
    PREFIX_REDIRECT,
    PREFIX_DROP,
    PREFIX_HOST,
    PREFIX_USERSPACE,
    PREFIX_N_ACTIONS
};

struct prefix_entry {
    /* Key: what two entries of one table may not have in common.  All bytes
     * count: those not used are 0. */
    struct {
        uint8_t addr[16];           /* In network order; IPv4: the first 4.
                                     * Host bits are 0. */
        uint8_t len;                /* Of the prefix, 0 to 32 or 128. */
        bool ipv6;
        bool src;                   /* Matches the source address. */
        bool has_vlan, has_mac;     /* Limited to these? */
        uint16_t vlan;              /* 0 to 4094; 0: frames without a tag, or
                                     * with a priority tag. */
        uint8_t mac[6];             /* Destination. */
    } key;

    enum prefix_action action;
    char *target;                   /* Port of PREFIX_REDIRECT, or NULL. */

    /* Rewrites, of PREFIX_REDIRECT only. */
    uint16_t rewrite;               /* TABLE_SET_SRC_MAC, ... */
    uint16_t set_vlan;
    uint16_t set_tpid;              /* 0x8100 or 0x88a8. */
    uint8_t set_src[6], set_dst[6];

    char *comment;                  /* Or NULL. */
    uint32_t number;                /* Of the entry in its source, from 1. */
    uint32_t line;                  /* Of the file where it begins, or 0. */
};

/* Parses one entry as options:prefixes and the commands have it,
 *
 *     PREFIX=ACTION[:PORT][,WORD...]      WORD is one of
 *     src  vlan=N  dmac=MAC  set-smac=MAC  set-dmac=MAC  dec-ttl  pop-vlan
 *     push-vlan=N  push-vlan=0x88a8:N  set-vlan=N
 *
 * or, from JSON, an object with the members prefix, match ("dst" or "src"),
 * action ("redirect", "drop", "host", "userspace"), port, vlan, dmac,
 * set-smac, set-dmac, dec-ttl, pop-vlan, push-vlan (N, or {"id": N, "tpid":
 * "0x88a8"}), set-vlan, comment.
 *
 * Return NULL and a valid entry for prefix_entry_uninit(), or what is wrong:
 * the member or word, its value and what is allowed; the caller frees it.
 * '*masked' is set to whether host bits were set, which have been cleared.
 * Messages are of printable ASCII.
 *
 * prefix_entry_parse_key() takes what prefix_entry_format_key() makes, PREFIX
 * or PREFIX,WORD,... with the first three words; the action is then
 * PREFIX_USERSPACE. */
char *prefix_entry_parse(const char *, struct prefix_entry *, bool *masked);
char *prefix_entry_parse_key(const char *, struct prefix_entry *,
                             bool *masked);
char *prefix_entry_from_json(const struct json *, struct prefix_entry *,
                             bool *masked);
void prefix_entry_clone(struct prefix_entry *, const struct prefix_entry *);
void prefix_entry_uninit(struct prefix_entry *);

/* The order of tables: IPv4 before IPv6, source before destination, by
 * address, shorter prefixes first, at equal length those that win first (VLAN
 * and MAC, VLAN, MAC, neither), then by VLAN and MAC. */
int prefix_entry_compare(const struct prefix_entry *,
                         const struct prefix_entry *);

/* True if what becomes of frames is the same.  Comments do not count. */
bool prefix_entry_same_action(const struct prefix_entry *,
                              const struct prefix_entry *);

/* As prefix_entry_parse() takes it: key, or key and what becomes of it. */
void prefix_entry_format_key(const struct prefix_entry *, struct ds *);
void prefix_entry_format(const struct prefix_entry *, struct ds *);
struct json *prefix_entry_to_json(const struct prefix_entry *);

const char *prefix_action_to_string(enum prefix_action);

#endif /* prefix-entry.h */
