/* SPDX-License-Identifier: Apache-2.0 */

/* Checksums of frames: plain sums over all bytes. */

#include "frame.h"

#include <linux/in.h>
#include <linux/in6.h>
#include <string.h>

/* Adds 'n' bytes to a sum of 16-bit words. */
static uint32_t
add(uint32_t sum, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sum += i % 2 ? p[i] : p[i] << 8;
    }
    return sum;
}

static uint16_t
fold(uint32_t sum)
{
    while (sum >> 16) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return sum;
}

static void
put_be16(uint8_t *p, uint16_t value)
{
    p[0] = value >> 8;
    p[1] = value;
}

/* Returns CRC32c (RFC 9260, appendix A), the way SCTP sends it when its bytes
 * are written from the lowest on. */
static uint32_t
crc32c(const uint8_t *p, size_t n)
{
    uint32_t crc = ~0U;

    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
        }
    }
    return ~crc;
}

static uint32_t
pseudo_sum(const uint8_t *ip, const struct frame_layer *layer, size_t len)
{
    uint32_t sum = layer->proto + len;

    return layer->version == 4 ? add(sum, ip + 12, 8) : add(sum, ip + 8, 32);
}

static void
finish_sctp(uint8_t *sctp, const struct frame_layer *layer, size_t len)
{
    uint32_t crc;

    memset(sctp + 8, 0, 4);
    if (!layer->partial) {
        crc = crc32c(sctp, len);
        for (int i = 0; i < 4; i++) {
            sctp[8 + i] = crc >> 8 * i;
        }
    }
}

static void
finish_l4(uint8_t *data, const struct frame_layer *layer, size_t end)
{
    uint8_t *l4 = data + layer->l4, *check;
    size_t len = end - layer->l4;
    uint32_t sum = pseudo_sum(data + layer->l3, layer, len);
    uint16_t finished;

    switch (layer->proto) {
    case IPPROTO_TCP:
        check = l4 + 16;
        break;
    case IPPROTO_UDP:
        check = l4 + 6;
        break;
    case IPPROTO_ICMP:
        sum = 0;
        check = l4 + 2;
        break;
    case IPPROTO_ICMPV6:
        check = l4 + 2;
        break;
    case IPPROTO_SCTP:
        finish_sctp(l4, layer, len);
        return;
    default:
        return;
    }
    put_be16(check, 0);
    if (layer->partial) {
        put_be16(check, fold(sum));
    } else if (!layer->nosum) {
        finished = ~fold(add(sum, l4, len));
        /* 0 would be none (RFC 768). */
        put_be16(check, !finished && layer->proto == IPPROTO_UDP
                        ? 0xffff : finished);
    }
}

void
frame_finish_checksums(uint8_t *data, const struct frame_layer *layer,
                       size_t end)
{
    uint8_t *ip = data + layer->l3;

    if (layer->l4) {
        finish_l4(data, layer, end);
    }
    if (layer->version == 4) {
        put_be16(ip + 10, 0);
        put_be16(ip + 10, ~fold(add(0, ip, (ip[0] & 0xf) * 4)));
    }
}
