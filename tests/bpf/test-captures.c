/* SPDX-License-Identifier: Apache-2.0 */

/* Frames of the world, without a table. */

#include <stdio.h>

#include "capture.h"
#include "harness.h"

/* A test run takes no frame shorter than an Ethernet header. */
#define MIN_FRAME 14

struct tally {
    const struct program *program;
    unsigned int frames, too_long, too_short, hashed;
};

static void
run_frame(const uint8_t *frame, size_t len, void *tally_)
{
    struct tally *tally = tally_;
    struct outcome o;

    if (len < MIN_FRAME) {
        tally->too_short++;
        return;
    }
    if (len > MAX_FRAME) {
        tally->too_long++;
        return;
    }
    run(tally->program, NULL, frame, len, &o);
    check_invariants(&o, len);
    tally->frames++;
    tally->hashed += o.hints.flags & XDP_HINT_HASH;
}

/* Runs the program on every frame of every capture in 'folder', if any. */
void
test_captures(const struct program *program, const char *folder)
{
    struct tally tally = { .program = program };
    unsigned int n;

    if (!folder) {
        return;
    }
    test_begin("every frame of the captures goes up, counted once");
    n = capture_read(folder, run_frame, &tally);
    CHECK(n > 0, "no captures in %s", folder);
    CHECK(tally.hashed, "not one of %u frames has a hash", tally.frames);
    test_end();
    fprintf(stderr, "captures: %u files, %u frames, %u of them with a hash; "
            "left out: %u shorter than %d bytes, %u longer than %d\n",
            n, tally.frames, tally.hashed, tally.too_short,
            MIN_FRAME, tally.too_long, MAX_FRAME);
}
