/* SPDX-License-Identifier: Apache-2.0 */

#include "frame.h"

#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <string.h>

#include "probe.h"

static uint16_t
ip_checksum(const void *data, size_t size)
{
    const uint8_t *p = data;
    uint32_t sum = 0;

    for (size_t i = 0; i + 1 < size; i += 2) {
        sum += p[i] << 8 | p[i + 1];
    }
    while (sum >> 16) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return htons(~sum);
}

/* Makes 'frame' a UDP datagram of 'size' bytes in all, 10.0.0.1:1024 to
 * 192.0.2.1:9 (discard), with a zero payload.  The UDP checksum is 0, "none",
 * so that whoever varies ports or payload has none to mend. */
void
frame_init(uint8_t *frame, size_t size,
           const uint8_t dst[6], const uint8_t src[6])
{
    struct iphdr ip = {
        .version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
        .tot_len = htons(size - 14),
        .saddr = htonl(0x0a000001), .daddr = htonl(0xc0000201),
    };
    struct udphdr udp = {
        .source = htons(1024), .dest = htons(9), .len = htons(size - 34),
    };

    ip.check = ip_checksum(&ip, sizeof ip);
    memset(frame, 0, size);
    memcpy(frame, dst, 6);
    memcpy(frame + 6, src, 6);
    frame[12] = 0x08;           /* IPv4. */
    memcpy(frame + 14, &ip, sizeof ip);
    memcpy(frame + 34, &udp, sizeof udp);
}

/* Makes 'frame' one of flow number 'flow', by its UDP source port. */
void
frame_set_flow(uint8_t *frame, uint16_t flow)
{
    uint16_t port = htons(1024 + flow);

    memcpy(frame + 34, &port, sizeof port);
}

/* Writes probe 'seq' of 'stream', with its filler, into 'frame'. */
void
frame_fill(uint8_t *frame, size_t size, uint8_t stream,
           uint64_t seq, uint64_t time)
{
    struct probe probe = {
        .magic = PROBE_MAGIC | stream, .seq = seq, .time = time,
        .check = probe_check(seq, time, size),
    };
    uint8_t *p = frame + PROBE_MIN_SIZE;

    memcpy(frame + PROBE_OFFSET, &probe, sizeof probe);
    for (uint32_t i = 0; p + 8 <= frame + size; i++, p += 8) {
        uint64_t word = probe_filler(seq, i);

        memcpy(p, &word, sizeof word);
    }
}
