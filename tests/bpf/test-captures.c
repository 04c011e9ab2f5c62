/* SPDX-License-Identifier: Apache-2.0 */

/* Frames of the world: every capture file in a folder. */

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* A test run takes no frame shorter than an Ethernet header. */
#define MIN_FRAME 14

/* The classic pcap file: a header, then a header for each frame.  All in the
 * byte order of the machine that wrote it, which the first word tells. */
struct pcap_file {
    uint32_t magic;
    uint16_t major, minor;
    uint32_t zone, sigfigs, snaplen;
    uint32_t linktype;
};

struct pcap_frame {
    uint32_t sec, frac;
    uint32_t len;               /* As captured. */
    uint32_t wire_len;
};

#define PCAP_MAGIC_US 0xa1b2c3d4
#define PCAP_MAGIC_NS 0xa1b23c4d
#define PCAP_ETHERNET 1

struct tally {
    unsigned int files, frames, too_long, too_short, hashed;
};

static uint32_t
to_host(uint32_t x, bool swap)
{
    return swap ? __builtin_bswap32(x) : x;
}

/* Reads the file's header.  Returns false if it is no Ethernet capture. */
static bool
read_header(FILE *stream, bool *swap)
{
    struct pcap_file file;

    if (fread(&file, sizeof file, 1, stream) != 1) {
        return false;
    }
    *swap = file.magic != PCAP_MAGIC_US && file.magic != PCAP_MAGIC_NS;
    file.magic = to_host(file.magic, *swap);
    return (file.magic == PCAP_MAGIC_US || file.magic == PCAP_MAGIC_NS)
           && (to_host(file.linktype, *swap) & 0xffff) == PCAP_ETHERNET;
}

static void
run_frame(const struct program *program, const uint8_t *frame, size_t len,
          struct tally *tally)
{
    struct outcome o;

    if (len < MIN_FRAME) {
        tally->too_short++;
        return;
    }
    if (len > MAX_FRAME) {
        tally->too_long++;
        return;
    }
    run(program, NULL, frame, len, &o);
    check_invariants(&o, len);
    tally->frames++;
    tally->hashed += o.hints.flags & XDP_HINT_HASH;
}

static void
run_file(const struct program *program, const char *path, struct tally *tally)
{
    FILE *stream = fopen(path, "rb");
    struct pcap_frame header;
    bool swap;

    if (!stream) {
        test_fail("%s: %s", path, strerror(errno));
        return;
    }
    if (read_header(stream, &swap)) {
        tally->files++;
        while (fread(&header, sizeof header, 1, stream) == 1) {
            size_t len = to_host(header.len, swap);
            uint8_t *frame = malloc(len + 1);
            bool whole = frame && fread(frame, 1, len, stream) == len;

            if (whole) {
                run_frame(program, frame, len, tally);
            }
            free(frame);
            if (!whole) {
                break;
            }
        }
    }
    fclose(stream);
}

static int
is_pcap(const struct dirent *de)
{
    size_t len = strlen(de->d_name);

    return len > 5 && !strcmp(de->d_name + len - 5, ".pcap");
}

/* Runs the program on every frame of every capture in 'folder', if any. */
void
test_captures(const struct program *program, const char *folder)
{
    const char *name = "every frame of the captures goes up, counted once";
    struct tally tally = { .files = 0 };
    struct dirent **entries;
    int n;

    if (!folder) {
        return;
    }
    test_begin("%s", name);
    n = scandir(folder, &entries, is_pcap, alphasort);
    CHECK(n > 0, "no captures in %s", folder);
    for (int i = 0; i < n; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        run_file(program, path, &tally);
        free(entries[i]);
    }
    if (n >= 0) {
        free(entries);
    }
    CHECK(tally.hashed, "not one of %u frames has a hash", tally.frames);
    test_end();
    fprintf(stderr, "captures: %u files, %u frames, %u of them with a hash; "
            "left out: %u shorter than %d bytes, %u longer than %d\n",
            tally.files, tally.frames, tally.hashed, tally.too_short,
            MIN_FRAME, tally.too_long, MAX_FRAME);
}
