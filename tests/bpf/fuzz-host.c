/* SPDX-License-Identifier: Apache-2.0 */

/* The reference for the host's own traffic: the same question as bpf/host.h
 * asks, put to the bytes of the frame in another way. */

#include <config.h>
#include "fuzz.h"

#include <string.h>

/* The addresses of the host: see set_host() of table.c. */
static const uint8_t host4[] = { 10, 0, 0, 2 };
static const uint8_t host6[] = {
    0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2
};

static uint16_t
be16(const uint8_t *p)
{
    return p[0] << 8 | p[1];
}

/* Reads up to two tags of 'f' into 'vlans', and returns where the type behind
 * them is, or 0 if the frame ends before. */
static size_t
skip_tags(const struct fuzz_frame *f, unsigned int vlans[2])
{
    size_t ofs = 12;

    vlans[0] = vlans[1] = 0;
    for (int i = 0; i < 2 && f->len >= ofs + 2; i++) {
        if (be16(&f->data[ofs]) != 0x8100 && be16(&f->data[ofs]) != 0x88a8) {
            break;
        }
        if (f->len < ofs + 6) {
            return 0;
        }
        vlans[i] = be16(&f->data[ofs + 2]) & 0xfff;
        ofs += 4;
    }
    return f->len >= ofs + 2 ? ofs : 0;
}

static bool
is_place(const uint8_t mac[6], const unsigned int vlans[2])
{
    static const uint8_t main_mac[] = { 2, 0, 0, 0, 0, 2 };
    static const uint8_t vlan_mac[] = { 2, 0, 0, 0, 0, 0x50 };
    unsigned int both = vlans[0] << 12 | vlans[1];

    if (mac[0] & 1) {
        return !both || both == 50 << 12;
    }
    return (!memcmp(mac, main_mac, 6) ? !both || both == (7 << 12 | 8)
            : !memcmp(mac, vlan_mac, 6) && both == 50 << 12);
}

/* Is what 'proto' says at 'ofs', where the packet has 'left' bytes, one that
 * host-ports names? */
static bool
is_port(uint8_t proto, const uint8_t *p, size_t left)
{
    return ((proto == 132 && left >= 4 && be16(p + 2) == 80)
            || (proto == 17 && left >= 4 && be16(p + 2) == 4789)
            || (proto == 58 && left >= 1 && *p == 134));
}

static bool
is_host4(const uint8_t *ip, size_t len)
{
    size_t ihl = (ip[0] & 15) * 4, total = be16(ip + 2);

    if (ip[0] >> 4 != 4 || ihl < 20 || total < ihl || total > len) {
        return false;
    }
    return (!memcmp(ip + 16, host4, 4)
            || (!(be16(ip + 6) & 0x3fff) && ip[9] != 58
                && is_port(ip[9], ip + ihl, total - ihl)));
}

static bool
is_host6(const uint8_t *ip, size_t len)
{
    size_t end = 40 + be16(ip + 4), ofs = 40;
    uint8_t proto = ip[6];

    if (ip[0] >> 4 != 6 || end > len) {
        return false;
    }
    for (int i = 0; i < 4 && (proto == 0 || proto == 43 || proto == 60);
         i++) {
        if (ofs + 8 > end) {
            return false;
        }
        proto = ip[ofs];
        ofs += (ip[ofs + 1] + 1) * 8;
    }
    if (ofs > end) {
        return false;
    }
    return (!memcmp(ip + 24, host6, 16)
            || (proto == 58 && end - ofs >= 24
                && (ip[ofs] == 135 || ip[ofs] == 136)
                && !memcmp(ip + ofs + 8, host6, 16))
            || is_port(proto, ip + ofs, end - ofs));
}

static bool
is_arp(const uint8_t *arp, size_t len)
{
    return (len >= 28 && !memcmp(arp, "\0\1\x8\0\6\4", 6)
            && !memcmp(arp + 24, host4, 4));
}

/* By the whole frame, be it in pieces or not: what the program cannot read
 * of it is said by its counters. */
bool
fuzz_is_host(const struct fuzz_frame *f)
{
    unsigned int vlans[2];
    size_t type = skip_tags(f, vlans);
    const uint8_t *p = &f->data[type + 2];
    size_t len = f->len - type - 2;

    if (!type || !is_place(f->data, vlans)) {
        return false;
    }
    switch (be16(&f->data[type])) {
    case 0x0800:
        return len >= 20 && is_host4(p, len);
    case 0x86dd:
        return len >= 40 && is_host6(p, len);
    case 0x0806:
        return is_arp(p, len);
    default:
        return false;
    }
}
