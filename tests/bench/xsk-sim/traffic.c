/* SPDX-License-Identifier: Apache-2.0 */

#include "traffic.h"

#include <arpa/inet.h>
#include <string.h>

#include "socket.h"

/* A frame: Ethernet, IPv4 without options, UDP, payload.  The flow is in the
 * source address, 10.0.0.0 and up. */
#define OFS_IP_LEN 16
#define OFS_IP_CSUM 24
#define OFS_IP_SRC 26
#define OFS_UDP_LEN 38
#define OFS_PAYLOAD 42
#define FIRST_SRC 0x0a000000u

/* What stands first in the payload of a frame that is to be verified. */
struct probe {
    uint32_t magic;
    uint16_t stream;
    uint64_t seq;
    uint32_t sum;               /* Of addresses, ports and payload. */
} __attribute__((packed));

#define MAGIC 0x58534b53u

/* What an XDP program of the port type writes in front of a frame: see
 * lib/xdp-layout.h. */
struct hints {
    uint64_t cookie;
    uint32_t hash, mark;
    uint16_t flags, l3_ofs, l4_ofs, reserved;
};

#define HINT_HASH 1u

/* Frames of each stream that have come back, by id; NIC thread. */
static uint64_t last_seq[SIM_MAX_SOCKETS];

static inline void
put16(uint8_t *p, uint16_t value)
{
    value = htons(value);
    memcpy(p, &value, sizeof value);
}

static inline void
put32(uint8_t *p, uint32_t value)
{
    value = htonl(value);
    memcpy(p, &value, sizeof value);
}

static inline uint64_t
mix(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15ull;
    return x ^ x >> 29;
}

/* Starts the stream of the socket with 'id', of which no frame has been
 * sent. */
void
stream_init(struct stream *stream, uint32_t id)
{
    uint8_t *h = stream->header;

    memset(stream, 0, sizeof *stream);
    memcpy(h, "\x02\0\0\0\xff", 5);
    memcpy(h + 6, "\x02\0\0\0\0", 5);
    h[5] = h[11] = id;
    put16(h + 12, 0x0800);
    memcpy(h + 14, "\x45\0\0\0\0\0\x40\0\x40\x11", 10);
    put32(h + 30, 0xc0a80001u);
    put16(h + 34, 1024 + id);
    put16(h + 36, 5000);
    stream->header_sum = 0;
    for (int i = 14; i < 34; i += 2) {
        stream->header_sum += h[i] << 8 | h[i + 1];
    }
    stream_forget(id);
}

/* Forgets what has come back of stream 'id'. */
void
stream_forget(uint32_t id)
{
    last_seq[id] = 0;
}

/* Writes the first 64 bytes of the frame in 'slot'.  Lengths and IP's checksum
 * are right, UDP has none. */
static inline void
write_header(const struct stream *stream, const struct slot *slot,
             uint8_t *frame)
{
    uint32_t src = FIRST_SRC + slot->flow, ip_len = slot->len - 14, sum;

    memcpy(frame, stream->header, sizeof stream->header);
    put16(frame + OFS_IP_LEN, ip_len);
    put32(frame + OFS_IP_SRC, src);
    put16(frame + OFS_UDP_LEN, ip_len - 20);
    sum = stream->header_sum + ip_len + (src >> 16) + (src & 0xffff);
    sum = (sum >> 16) + (sum & 0xffff);
    sum = (sum >> 16) + (sum & 0xffff);
    put16(frame + OFS_IP_CSUM, ~sum);
}

static inline const struct slot *
next_slot(struct stream *stream)
{
    return &shape.slots[stream->slot++ & (shape.n_slots - 1)];
}

/* Writes the next frame of 'stream' to 'frame', which has room, and returns
 * its length.  Behind the first 64 bytes its payload stays what it was: a real
 * NIC would not have the payload pass through a CPU's cache, and what stays in
 * the cache of a program that copies can only do it good.  With a 'cookie'
 * there are hints in front. */
uint32_t
stream_write(struct stream *stream, uint8_t *frame, uint64_t cookie)
{
    const struct slot *slot = next_slot(stream);

    write_header(stream, slot, frame);
    if (cookie) {
        const struct hints hints = {
            .cookie = cookie,
            .hash = mix(slot->flow + 1),
            .flags = HINT_HASH,
        };

        memcpy(frame - sizeof hints, &hints, sizeof hints);
    }
    return slot->len;
}

/* Returns the sum over addresses, ports and payload, the probe's sum left
 * out. */
static uint32_t
sum_frame(const uint8_t *frame, uint32_t len)
{
    uint64_t sum = len;

    for (uint32_t i = OFS_IP_SRC; i < len; i++) {
        uint32_t ofs = i - OFS_PAYLOAD;

        if (i >= OFS_UDP_LEN
            && (i < OFS_PAYLOAD
                || (ofs >= offsetof(struct probe, sum)
                    && ofs < sizeof(struct probe)))) {
            continue;           /* UDP's length and checksum, our sum. */
        }
        sum = (sum << 7 | sum >> 57) ^ frame[i];
    }
    return mix(sum) >> 32;
}

/* Likewise, and all of the payload, with a sequence number and a checksum. */
uint32_t
stream_write_probe(struct stream *stream, uint8_t *frame)
{
    const struct slot *slot = next_slot(stream);
    struct probe probe = {
        .magic = MAGIC,
        .stream = stream->header[5],
        .seq = ++stream->next_seq,
    };

    write_header(stream, slot, frame);
    for (uint32_t i = OFS_PAYLOAD; i < slot->len; i++) {
        frame[i] = probe.seq * 7 + i;
    }
    memcpy(frame + OFS_PAYLOAD, &probe, sizeof probe);
    probe.sum = sum_frame(frame, slot->len);
    memcpy(frame + OFS_PAYLOAD, &probe, sizeof probe);
    return slot->len;
}

/* Returns what tells a frame that is to be verified from all others, 0 for any
 * other frame. */
uint64_t
probe_id(const uint8_t *frame, uint32_t len)
{
    struct probe probe;

    if (len < OFS_PAYLOAD + sizeof probe) {
        return 0;
    }
    memcpy(&probe, frame + OFS_PAYLOAD, sizeof probe);
    return (probe.magic == MAGIC
            ? (uint64_t) probe.stream << 48 | probe.seq : 0);
}

/* Judges a frame that was sent: is it one of ours, unchanged, and the next of
 * its stream?  Addresses of Ethernet, TTL and IP's checksum may have been
 * rewritten. */
void
stream_check(const uint8_t *frame, uint32_t len, struct verdict *verdict)
{
    struct probe probe;
    uint64_t *last;

    if (len < OFS_PAYLOAD + sizeof probe) {
        verdict->other++;
        return;
    }
    memcpy(&probe, frame + OFS_PAYLOAD, sizeof probe);
    if (probe.magic != MAGIC || probe.stream >= SIM_MAX_SOCKETS) {
        verdict->other++;
        return;
    }
    if (probe.sum != sum_frame(frame, len)) {
        verdict->corrupt++;
        return;
    }
    last = &last_seq[probe.stream];
    if (probe.seq > *last) {
        verdict->good++;
        *last = probe.seq;
    } else if (probe.seq == *last) {
        verdict->duplicate++;
    } else {
        verdict->reordered++;
    }
}
