/* SPDX-License-Identifier: Apache-2.0 */

#include "frame.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* IP headers in one another. */
#define MAX_LAYERS 3

/* A frame in the making. */
struct maker {
    struct frame *f;
    size_t next;                /* Where the type of the next header goes. */
    size_t next_len;            /* In bytes: 2 for Ethernet, 1 for IP. */
    size_t end;                 /* Of the IP packet, 0 until known. */
    size_t tag;                 /* Last tag, */
    size_t tunnel;              /* header of a tunnel, */
    size_t arp;                 /* and ARP. */
    struct frame_layer layers[MAX_LAYERS], *layer;      /* NULL before IP. */
    bool finished;              /* Lengths and checksums stay as they are. */
};

enum kind { OTHER, TAG, IP, FRAG, L4, TUNNEL };

/* A header that needs nothing but its bytes and its number. */
static const struct header {
    const char *word;
    uint16_t number;            /* Ethertype, IP protocol or UDP port. */
    enum kind kind;
    uint8_t len;
    uint8_t next;               /* Offset of the next header's type... */
    uint8_t next_len;           /* ...and its size, 0 if nothing follows. */
    uint8_t bytes[8];           /* The first of them; the rest are 0. */
} headers[] = {
    { "tag", ETH_P_8021Q, TAG, 4, 2, 2, { 0x00, 0x64 } },
    { "stag", ETH_P_8021AD, TAG, 4, 2, 2, { 0x00, 0xc8 } },
    { "arp", ETH_P_ARP, OTHER, 28, 0, 0, { 0, 1, 8, 0, 6, 4, 0, 1 } },
    { "ip4", ETH_P_IP, IP, 20, 9, 1, { 0x45, 0, 0, 0, 0x12, 0x34, 0, 0 } },
    { "ip4opt", ETH_P_IP, IP, 32, 9, 1, { 0x48, 0, 0, 0, 0x12, 0x34, 0, 0 } },
    { "ip6", ETH_P_IPV6, IP, 40, 6, 1, { 0x60, 0, 0, 0, 0, 0, 0, 64 } },
    { "hbh", IPPROTO_HOPOPTS, OTHER, 8, 0, 1, { 0, 0, 1, 4 } },
    { "rt", IPPROTO_ROUTING, OTHER, 8, 0, 1, { 0, 0, 4, 0 } },
    { "dst", IPPROTO_DSTOPTS, OTHER, 24, 0, 1, { 0, 2, 1, 20 } },
    { "frag", IPPROTO_FRAGMENT, FRAG, 8, 0, 1, { 0, 0, 0, 0, 0, 0, 0, 7 } },
    { "tcp", IPPROTO_TCP, L4, 20, 0, 0, { 0x12, 0x34, 0x00, 0x50 } },
    { "udp", IPPROTO_UDP, L4, 8, 2, 2, { 0x12, 0x34, 0x00, 0x50 } },
    { "sctp", IPPROTO_SCTP, L4, 12, 0, 0, { 0x12, 0x34, 0x00, 0x50 } },
    { "icmp", IPPROTO_ICMP, L4, 8, 0, 0, { 8, 0 } },
    { "icmp6", IPPROTO_ICMPV6, L4, 8, 0, 0, { 128, 0 } },
    { "esp", IPPROTO_ESP, L4, 16, 0, 0, { 0x12, 0x34, 0x00, 0x50 } },
    { "gre", IPPROTO_GRE, TUNNEL, 4, 2, 2, { 0, 0, 0x65, 0x58 } },
    { "vxlan", 4789, TUNNEL, 8, 0, 0, { 0x08, 0, 0, 0, 0, 0, 7, 0 } },
    { "vxlan8472", 8472, TUNNEL, 8, 0, 0, { 0x08, 0, 0, 0, 0, 0, 7, 0 } },
    { "geneve", 6081, TUNNEL, 8, 2, 2, { 0, 0, 0x65, 0x58, 0, 0, 7, 0 } },
};

static void
die(const char *what, const char *word)
{
    fprintf(stderr, "%s: %s\n", what, word);
    exit(1);
}

static void
put_be16(uint8_t *p, uint16_t value)
{
    p[0] = value >> 8;
    p[1] = value;
}

/* Appends 'n' bytes, which are 'byte'. */
static uint8_t *
append(struct maker *m, size_t n, uint8_t byte)
{
    uint8_t *p = m->f->data + m->f->len;

    if (m->f->len + n > FRAME_MAX) {
        die("frame too long", "");
    }
    memset(p, byte, n);
    m->f->len += n;
    return p;
}

static void
begin_layer(struct maker *m, int version)
{
    m->layer = m->layer ? m->layer + 1 : m->layers;
    if (m->layer == m->layers + MAX_LAYERS) {
        die("too many IP headers", "");
    }
    m->layer->version = version;
    m->layer->l3 = m->f->l3 = m->f->len;
}

/* Makes the header before point to one of the type 'h', which comes now. */
static void
point_to(struct maker *m, const struct header *h)
{
    if (m->next_len == 2) {
        put_be16(m->f->data + m->next, h->number);
    } else if (m->next_len == 1) {
        m->f->data[m->next] = (h->number == ETH_P_IP ? IPPROTO_IPIP
                               : h->number == ETH_P_IPV6 ? IPPROTO_IPV6
                               : h->number);
    }
    m->next = m->f->len + h->next;
    m->next_len = h->next_len;
}

static void
append_header(struct maker *m, const struct header *h)
{
    struct frame *f = m->f;
    size_t ofs = f->len;
    uint8_t *p;

    point_to(m, h);
    if (h->kind == IP) {
        begin_layer(m, h->number == ETH_P_IP ? 4 : 6);
    } else if (h->kind == FRAG) {
        f->frag = ofs;
    } else if (h->kind == TAG) {
        m->tag = ofs;
    } else if (h->kind == TUNNEL) {
        m->tunnel = ofs;
    } else if (h->number == ETH_P_ARP) {
        m->arp = ofs;
    } else if (h->kind == L4 && m->layer) {
        m->layer->l4 = f->l4 = ofs;
        m->layer->proto = h->number;
    }
    p = append(m, h->len, 0);
    memcpy(p, h->bytes, h->len < sizeof h->bytes ? h->len : sizeof h->bytes);
    if (h->number == ETH_P_IP) {
        p[8] = 64;
        memcpy(p + 12, "\x0a\0\0\x01" "\x0a\0\0\x02", 8);
    } else if (h->number == ETH_P_IPV6) {
        memcpy(p + 8, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01"
               "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x02", 32);
    } else if (h->kind == L4 && h->number == IPPROTO_TCP) {
        p[12] = 5 << 4;
    }
}

static void
append_eth(struct maker *m)
{
    m->next = m->f->len + 12;
    m->next_len = 2;
    memcpy(append(m, 14, 0),
           "\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x88\xb5",  /* For experiments. */
           14);
}

/* Sets the fragment field: "more fragments" and the offset in 8 bytes. */
static void
set_fragment(struct maker *m, int more, uint16_t ofs)
{
    struct frame *f = m->f;

    if (m->layer->version == 4) {
        put_be16(f->data + f->l3 + 6, more << 13 | ofs);
    } else {
        put_be16(f->data + f->frag + 2, ofs << 3 | more);
    }
}

/* Fills in lengths and checksums, once. */
static void
finish(struct maker *m)
{
    uint8_t *data = m->f->data;
    struct frame_layer *l;
    size_t end = m->end ? m->end : m->f->len;

    if (m->finished || !m->layer) {
        return;
    }
    m->finished = true;
    for (l = m->layers; l <= m->layer; l++) {
        if (l->version == 4) {
            put_be16(data + l->l3 + 2, end - l->l3);
        } else {
            put_be16(data + l->l3 + 4, end - l->l3 - 40);
        }
        if (l->l4 && l->proto == IPPROTO_UDP) {
            put_be16(data + l->l4 + 4, end - l->l4);
        }
    }
    for (l = m->layer; l >= m->layers; l--) {
        frame_finish_checksums(data, l, end);
    }
}

static void
set_mac(uint8_t *p, const char *value)
{
    if (sscanf(value, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &p[0], &p[1], &p[2],
               &p[3], &p[4], &p[5]) != 6) {
        die("no MAC", value);
    }
}

static void
set_address(struct maker *m, bool to, const char *value)
{
    uint8_t *ip = m->f->data + m->f->l3;
    bool ok = m->layer->version == 4
              ? inet_pton(AF_INET, value, ip + (to ? 16 : 12))
              : inet_pton(AF_INET6, value, ip + (to ? 24 : 8));

    if (!ok) {
        die("no address", value);
    }
}

/* Sets the address that an ARP request asks for, or, in ICMPv6, appends the
 * one that neighbor discovery is about. */
static void
set_subject(struct maker *m, const char *value)
{
    bool ok = (m->arp ? inet_pton(AF_INET, value, m->f->data + m->arp + 24)
               : inet_pton(AF_INET6, value, append(m, 16, 0)));

    if (ok != 1) {
        die("no address", value);
    }
}

/* Sets a field of a header, as a word of the form NAME=VALUE says.  Returns
 * false if it is none of them. */
static bool
set_field(struct maker *m, const char *word)
{
    uint8_t *data = m->f->data;
    int n;

    if (!strncmp(word, "dmac=", 5)) {
        set_mac(data, word + 5);
    } else if (!strncmp(word, "smac=", 5)) {
        set_mac(data + 6, word + 5);
    } else if (!strncmp(word, "from=", 5)) {
        set_address(m, false, word + 5);
    } else if (!strncmp(word, "to=", 3)) {
        set_address(m, true, word + 3);
    } else if (!strncmp(word, "about=", 6)) {
        set_subject(m, word + 6);
    } else if (sscanf(word, "tci=%i", &n) == 1) {
        put_be16(data + m->tag, n);
    } else if (sscanf(word, "ttl=%i", &n) == 1) {
        data[m->f->l3 + (m->layer->version == 4 ? 8 : 7)] = n;
    } else if (sscanf(word, "id=%i", &n) == 1) {
        put_be16(data + m->f->l3 + 4, n);
    } else if (sscanf(word, "type=%i", &n) == 1) {
        data[m->f->l4] = n;
    } else {
        return false;
    }
    return true;
}

/* Makes the last header of a tunnel longer.  Returns false if 'word' does not
 * do that. */
static bool
extend_tunnel(struct maker *m, const char *word)
{
    uint8_t *tunnel = m->f->data + m->tunnel;
    int n;

    if (!strcmp(word, "csum")) {
        *tunnel |= 0x80;
        append(m, 4, 0);
    } else if (!strcmp(word, "key")) {
        *tunnel |= 0x20;
        append(m, 4, 0x11);
    } else if (!strcmp(word, "seq")) {
        *tunnel |= 0x10;
        append(m, 4, 0x22);
    } else if (sscanf(word, "opts=%i", &n) == 1) {
        *tunnel |= n;
        append(m, 4 * n, 0);
    } else {
        return false;
    }
    return true;
}

/* Words that change what is there, or append no header.  Returns false if
 * 'word' is none of them. */
static bool
apply_word(struct maker *m, const char *word)
{
    unsigned int ofs, n;

    if (!strcmp(word, "eth") || !strcmp(word, "ieth")) {
        append_eth(m);
    } else if (sscanf(word, "pay=%u", &n) == 1) {
        append(m, n, 0xaa);
    } else if (!strcmp(word, "end")) {
        m->end = m->f->len;
    } else if (!strcmp(word, "first")) {
        set_fragment(m, 1, 0);
    } else if (!strcmp(word, "more")) {
        set_fragment(m, 1, 185);
    } else if (!strcmp(word, "last")) {
        set_fragment(m, 0, 370);
    } else if (!strcmp(word, "partial")) {
        m->layer->partial = true;
    } else if (!strcmp(word, "nosum")) {
        m->layer->nosum = true;
    } else if (sscanf(word, "cut=%u", &n) == 1) {
        finish(m);
        m->finished = true;
        m->f->len = n;
    } else if (sscanf(word, "set=%u:%i", &ofs, (int *) &n) == 2) {
        finish(m);
        m->f->data[m->f->l3 + ofs] = n;
    } else {
        return set_field(m, word) || extend_tunnel(m, word);
    }
    return true;
}

/* Makes '*f' the frame that 'spec' describes, see above. */
void
frame_make(struct frame *f, const char *spec)
{
    struct maker m = { .f = f };
    char *words = strdup(spec);
    char *save = NULL;

    memset(f, 0, sizeof *f);
    for (char *word = strtok_r(words, " ", &save); word;
         word = strtok_r(NULL, " ", &save)) {
        size_t i;

        if (apply_word(&m, word)) {
            continue;
        }
        for (i = 0; i < sizeof headers / sizeof headers[0]; i++) {
            if (!strcmp(headers[i].word, word)) {
                append_header(&m, &headers[i]);
                break;
            }
        }
        if (i == sizeof headers / sizeof headers[0]) {
            die("no such word in a frame", word);
        }
    }
    finish(&m);
    free(words);
}

/* Returns the addresses in the IP header, the source's first, and stores how
 * many bytes both have in '*len'. */
uint8_t *
frame_addrs(struct frame *f, size_t *len)
{
    uint8_t *ip = f->data + f->l3;

    *len = *ip >> 4 == 4 ? 8 : 32;
    return ip + (*ip >> 4 == 4 ? 12 : 8);
}

void
frame_set_ports(struct frame *f, uint16_t src, uint16_t dst)
{
    put_be16(f->data + f->l4, src);
    put_be16(f->data + f->l4 + 2, dst);
}
