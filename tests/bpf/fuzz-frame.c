/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "frame.h"
#include "table-fixtures.h"
#include "util.h"

/* As all_table_fixtures of the other program. */
static const struct table_fixtures *const groups[] = {
    &fixtures_verdict, &fixtures_lookup, &fixtures_checksum,
    &fixtures_rewrite, &fixtures_size, &fixtures_tag, &fixtures_host,
};

static struct captured {
    size_t len;
    uint8_t data[];
} **captured;
static size_t n_captured, allocated_captured;

static void
take_capture(const uint8_t *frame, size_t len, void *aux OVS_UNUSED)
{
    struct captured *c;

    if (len >= 14 && len <= TABLE_MAX_FRAME) {
        c = xmalloc(sizeof *c + len);
        memcpy(c->data, frame, len);
        c->len = len;
        if (n_captured == allocated_captured) {
            captured = x2nrealloc(captured, &allocated_captured,
                                  sizeof *captured);
        }
        captured[n_captured++] = c;
    }
}

size_t
fuzz_read_captures(const char *folder)
{
    capture_read(folder, take_capture, NULL);
    return n_captured;
}

static uint8_t
random_byte(struct unit_random *r)
{
    return unit_random(r, 256);
}

/* Random bytes, with a type in front that leads somewhere. */
static void
make_random(struct unit_random *r, struct fuzz_frame *f)
{
    static const uint8_t types[][2] = {
        { 0x08, 0x00 }, { 0x86, 0xdd }, { 0x81, 0x00 }, { 0x88, 0xa8 },
        { 0x08, 0x06 },
    };

    f->len = 14 + unit_random(r, 200);
    for (size_t i = 0; i < f->len; i++) {
        f->data[i] = random_byte(r);
    }
    f->data[0] &= ~1;
    if (unit_random(r, 8)) {
        memcpy(&f->data[12], types[unit_random(r, ARRAY_SIZE(types))], 2);
    }
    if (f->len > 14 && unit_random(r, 4)) {
        f->data[14] = f->data[12] == 0x08 ? 0x45 : 0x60;
    }
}

static void
make_fixture(struct unit_random *r, struct fuzz_frame *f)
{
    const struct table_fixtures *g = groups[unit_random(r,
                                                        ARRAY_SIZE(groups))];
    static struct frame frame;

    frame_make(&frame, g->fixtures[unit_random(r, g->n)].in);
    memcpy(f->data, frame.data, frame.len);
    f->len = frame.len;
}

/* Most headers are within the first so many bytes. */
#define HEADERS 80

static void
mutate(struct unit_random *r, struct fuzz_frame *f)
{
    size_t range = unit_random(r, 4) ? MIN(f->len, HEADERS) : f->len;
    size_t ofs = unit_random(r, range);

    switch (unit_random(r, 8)) {
    case 0: case 1: case 2:
        f->data[ofs] = random_byte(r);
        break;
    case 3: case 4:
        f->data[ofs] ^= 1 << unit_random(r, 8);
        break;
    case 5:
        f->data[ofs] = unit_random(r, 2) ? 0xff : 0;
        break;
    case 6:
        f->len = MAX(14, ofs);
        break;
    case 7:
        /* Some bytes twice: another tag, another header. */
        ofs &= ~3;
        if (f->len + 4 <= sizeof f->data && ofs <= f->len) {
            memmove(&f->data[ofs + 4], &f->data[ofs], f->len - ofs);
            f->len += 4;
        }
        break;
    }
}

void
fuzz_make_frame(struct unit_random *r, size_t max, struct fuzz_frame *f)
{
    static const int changes[] = { 0, 0, 1, 1, 1, 2, 3, 6 };
    unsigned int kind = unit_random(r, 10);

    if (kind < 1) {
        make_random(r, f);
    } else if (kind < 4 && n_captured) {
        const struct captured *c = captured[unit_random(r, n_captured)];

        memcpy(f->data, c->data, c->len);
        f->len = c->len;
    } else {
        make_fixture(r, f);
    }
    for (int n = changes[unit_random(r, ARRAY_SIZE(changes))]; n > 0; n--) {
        mutate(r, f);
    }
    f->len = MIN(f->len, max);
}

void
fuzz_put_tag(struct unit_random *r, struct fuzz_frame *f)
{
    f->len = MIN(f->len, sizeof f->data - 4);
    memmove(&f->data[16], &f->data[12], f->len - 12);
    f->data[12] = unit_random(r, 2) ? 0x81 : 0x88;
    f->data[13] = f->data[12] == 0x81 ? 0x00 : 0xa8;
    f->data[14] = random_byte(r);
    f->data[15] = random_byte(r);
    f->len += 4;
}
