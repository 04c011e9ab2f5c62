/* SPDX-License-Identifier: Apache-2.0 */

/* checksum_finish() and frames that nobody sends: the suite "checksums" has
 * those that somebody does. */

#include <config.h>
#include "checksum-finish.h"

#include <string.h>

#include "csum.h"
#include "packets.h"
#include "util.h"

#include "unit.h"

#define N_RANDOM 300000

/* An Ethernet, an IPv4 and a TCP header, 10.0.0.1 to 10.0.0.2, whose checksum
 * is unfinished: 10 << 8, 1, 10 << 8, 2, protocol 6, length 20 + PAYLOAD. */
#define PAYLOAD 100
static const uint8_t tcp_frame[54 + PAYLOAD] = {
    2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00,
    0x45, 0, 0, 40 + PAYLOAD, 0, 1, 0, 0, 64, 6, 0, 0,
    10, 0, 0, 1, 10, 0, 0, 2,
    0, 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0x50, 0x10, 1, 0,
    0x14, 3 + 6 + 20 + PAYLOAD, 0, 0,
};

/* The same in VXLAN, without outer checksum, over IPv6. */
#define OUTER (14 + 40 + 8 + 8)
static uint8_t vxlan_frame[OUTER + sizeof tcp_frame];

static void
make_vxlan_frame(void)
{
    static const uint8_t outer[OUTER] = {
        2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd,
        0x60, 0, 0, 0, 0, 16 + sizeof tcp_frame, 17, 64,
        0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
        0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
        0, 1, 4789 >> 8, 4789 & 0xff, 0, 16 + sizeof tcp_frame, 0, 0,
        8, 0, 0, 0, 0, 0, 7, 0,
    };

    memcpy(vxlan_frame, outer, sizeof outer);
    memcpy(vxlan_frame + OUTER, tcp_frame, sizeof tcp_frame);
}

/* Finishes a copy of the 'len' bytes at 'frame', at an address that is 'shift'
 * off, in memory that ends where the frame does. */
static bool
finish(const uint8_t *frame, size_t len, size_t shift, uint8_t *result)
{
    uint8_t *memory = xmalloc(shift + len);
    bool finished;

    memcpy(memory + shift, frame, len);
    finished = checksum_finish(memory + shift, len);
    memcpy(result, memory + shift, len);
    free(memory);
    return finished;
}

/* Is the TCP checksum behind 'ofs' bytes what OVS would compute? */
static bool
tcp_is_right(const uint8_t *frame, size_t ofs)
{
    const uint8_t *ip = frame + ofs + 14;
    uint32_t sum = packet_csum_pseudoheader(
        ALIGNED_CAST(const struct ip_header *, ip));

    return !csum_finish(csum_continue(sum, ip + 20, 20 + PAYLOAD));
}

static void
any_address(void)
{
    OVS_ALIGNED_VAR(8) uint8_t result[sizeof vxlan_frame + 2];

    for (size_t shift = 0; shift < 16; shift++) {
        CHECK(finish(tcp_frame, sizeof tcp_frame, shift, result + 2));
        CHECK(tcp_is_right(result + 2, 0));
        CHECK(finish(vxlan_frame, sizeof vxlan_frame, shift, result));
        CHECK(tcp_is_right(result, OUTER));
    }
}

static void
once(void)
{
    uint8_t result[sizeof tcp_frame], again[sizeof tcp_frame];

    CHECK(finish(tcp_frame, sizeof tcp_frame, 0, result));
    CHECK(!finish(result, sizeof result, 0, again));
    CHECK(!memcmp(result, again, sizeof result));
}

/* All that there can be in the field: one value is changed, no other. */
static void
all_values(void)
{
    uint8_t frame[sizeof tcp_frame], result[sizeof tcp_frame];
    int n_finished = 0;

    memcpy(frame, tcp_frame, sizeof frame);
    for (int value = 0; value <= UINT16_MAX; value++) {
        frame[50] = value >> 8;
        frame[51] = value;
        if (finish(frame, sizeof frame, 0, result)) {
            n_finished++;
        } else if (memcmp(frame, result, sizeof frame)) {
            unit_fail(OVS_SOURCE_LOCATOR, "0x%04x was changed", value);
        }
    }
    CHECK_INT(n_finished, 1);
}

/* A frame cut short is as it was. */
static void
cut_short(void)
{
    uint8_t result[sizeof vxlan_frame];

    for (size_t len = 0; len < sizeof tcp_frame; len++) {
        CHECK(!finish(tcp_frame, len, 0, result));
        CHECK(!memcmp(tcp_frame, result, len));
    }
    for (size_t len = 0; len < sizeof vxlan_frame; len++) {
        CHECK(!finish(vxlan_frame, len, 0, result));
        CHECK(!memcmp(vxlan_frame, result, len));
    }
}

/* Some bytes are others: nothing is read or written behind the frame, which
 * the sanitizer sees, and at most the two checksums are changed. */
static void
wrong_bytes(void)
{
    uint8_t frame[sizeof vxlan_frame], result[sizeof vxlan_frame];
    struct unit_random random = { 1 };

    for (int i = 0; i < N_RANDOM; i++) {
        size_t len = sizeof frame, n_changed = 0;

        memcpy(frame, vxlan_frame, sizeof frame);
        for (uint32_t n = unit_random(&random, 4) + 1; n; n--) {
            frame[unit_random(&random, sizeof frame)]
                = unit_random(&random, 256);
        }
        if (unit_random(&random, 2)) {
            len = unit_random(&random, len);
        }
        finish(frame, len, 0, result);
        for (size_t j = 0; j < len; j++) {
            n_changed += frame[j] != result[j];
        }
        CHECK(n_changed <= 8);
    }
}

int
main(void)
{
    make_vxlan_frame();
    unit_run("a checksum is finished, at any address", any_address);
    unit_run("and is right then, so it is left alone", once);
    unit_run("of all values of the field one is unfinished", all_values);
    unit_run("a frame that is cut short is as it was", cut_short);
    unit_run("random bytes do no harm", wrong_bytes);
    return unit_exit_status();
}
