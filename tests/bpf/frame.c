/* SPDX-License-Identifier: Apache-2.0 */

#include "frame.h"

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A frame in the making. */
struct maker {
    struct frame *f;
    size_t next;                /* Where the type of the next header goes. */
    size_t next_len;            /* In bytes: 2 for Ethernet, 1 for IP. */
    size_t end;                 /* Of the IP packet, 0 until known. */
    int version;                /* Of IP, 0 before it. */
};

/* A header that needs nothing but its bytes and its number. */
static const struct header {
    const char *word;
    uint16_t number;            /* Ethertype or IP protocol. */
    uint8_t len;
    uint8_t next;               /* Offset of the next header's type... */
    uint8_t next_len;           /* ...and its size, 0 if nothing follows. */
    uint8_t bytes[8];           /* The first of them; the rest are 0. */
} headers[] = {
    { "tag", ETH_P_8021Q, 4, 2, 2, { 0x00, 0x64 } },
    { "stag", ETH_P_8021AD, 4, 2, 2, { 0x00, 0xc8 } },
    { "arp", ETH_P_ARP, 28, 0, 0, { 0, 1, 8, 0, 6, 4, 0, 1 } },
    { "ip4", ETH_P_IP, 20, 9, 1, { 0x45, 0, 0, 0, 0x12, 0x34, 0, 0 } },
    { "ip4opt", ETH_P_IP, 32, 9, 1, { 0x48, 0, 0, 0, 0x12, 0x34, 0, 0 } },
    { "ip6", ETH_P_IPV6, 40, 6, 1, { 0x60, 0, 0, 0, 0, 0, 0, 64 } },
    { "hbh", IPPROTO_HOPOPTS, 8, 0, 1, { 0, 0, 1, 4 } },
    { "rt", IPPROTO_ROUTING, 8, 0, 1, { 0, 0, 4, 0 } },
    { "dst", IPPROTO_DSTOPTS, 24, 0, 1, { 0, 2, 1, 20 } },
    { "frag", IPPROTO_FRAGMENT, 8, 0, 1, { 0, 0, 0, 0, 0, 0, 0, 7 } },
    { "tcp", IPPROTO_TCP, 20, 0, 0, { 0x12, 0x34, 0x00, 0x50 } },
    { "udp", IPPROTO_UDP, 8, 0, 0, { 0x12, 0x34, 0x00, 0x50 } },
    { "sctp", IPPROTO_SCTP, 12, 0, 0, { 0x12, 0x34, 0x00, 0x50 } },
    { "icmp", IPPROTO_ICMP, 8, 0, 0, { 8, 0 } },
    { "esp", IPPROTO_ESP, 16, 0, 0, { 0x12, 0x34, 0x00, 0x50 } },
};

static void
die(const char *word)
{
    fprintf(stderr, "no such word in a frame: %s\n", word);
    exit(1);
}

static void
put_be16(uint8_t *p, uint16_t value)
{
    p[0] = value >> 8;
    p[1] = value;
}

static void
append_header(struct maker *m, const struct header *h)
{
    struct frame *f = m->f;
    uint8_t *p = f->data + f->len;

    if (m->next_len == 2) {
        put_be16(f->data + m->next, h->number);
    } else if (m->next_len == 1) {
        f->data[m->next] = h->number;
    }
    memcpy(p, h->bytes, sizeof h->bytes);
    if (h->number == ETH_P_IP || h->number == ETH_P_IPV6) {
        m->version = h->number == ETH_P_IP ? 4 : 6;
        f->l3 = f->len;
    } else if (h->number == IPPROTO_FRAGMENT) {
        f->frag = f->len;
    } else if (m->version && !h->next_len) {
        f->l4 = f->len;
    }
    m->next = f->len + h->next;
    m->next_len = h->next_len;
    f->len += h->len;
    if (h->number == ETH_P_IP) {
        memcpy(p + 12, "\x0a\0\0\x01" "\x0a\0\0\x02", 8);
    } else if (h->number == ETH_P_IPV6) {
        memcpy(p + 8, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01"
               "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x02", 32);
    }
}

static void
append_eth(struct maker *m)
{
    memcpy(m->f->data, "\x02\0\0\0\0\x02\x02\0\0\0\0\x01", 12);
    put_be16(m->f->data + 12, 0x88b5);  /* For experiments. */
    m->next = 12;
    m->next_len = 2;
    m->f->len = 14;
}

/* Sets the fragment field: "more fragments" and the offset in 8 bytes. */
static void
set_fragment(struct maker *m, int more, uint16_t ofs)
{
    struct frame *f = m->f;

    if (m->version == 4) {
        put_be16(f->data + f->l3 + 6, more << 13 | ofs);
    } else {
        put_be16(f->data + f->frag + 2, ofs << 3 | more);
    }
}

static void
finish_ip(struct maker *m)
{
    uint8_t *ip = m->f->data + m->f->l3;

    if (!m->end) {
        m->end = m->f->len;
    }
    if (m->version == 4) {
        put_be16(ip + 2, m->end - m->f->l3);
    } else if (m->version == 6) {
        put_be16(ip + 4, m->end - m->f->l3 - 40);
    }
}

/* Words that change what is there, or append no header.  Returns 0 if 'word'
 * is none of them. */
static int
apply_word(struct maker *m, const char *word)
{
    unsigned int ofs, n;

    if (!strcmp(word, "eth")) {
        append_eth(m);
    } else if (sscanf(word, "pay=%u", &n) == 1) {
        memset(m->f->data + m->f->len, 0xaa, n);
        m->f->len += n;
    } else if (!strcmp(word, "end")) {
        m->end = m->f->len;
    } else if (!strcmp(word, "first")) {
        set_fragment(m, 1, 0);
    } else if (!strcmp(word, "more")) {
        set_fragment(m, 1, 185);
    } else if (!strcmp(word, "last")) {
        set_fragment(m, 0, 370);
    } else if (sscanf(word, "cut=%u", &n) == 1) {
        finish_ip(m);
        m->f->len = n;
    } else if (sscanf(word, "set=%u:%i", &ofs, (int *) &n) == 2) {
        finish_ip(m);
        m->f->data[m->f->l3 + ofs] = n;
        m->version = 0;         /* The lengths stay as they are now. */
    } else {
        return 0;
    }
    return 1;
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
            die(word);
        }
    }
    if (!strstr(spec, "cut=")) {
        finish_ip(&m);
    }
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
