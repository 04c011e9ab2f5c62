/* SPDX-License-Identifier: Apache-2.0 */

#include "capture.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Returns whether 'path' is an Ethernet capture. */
static bool
read_file(const char *path, capture_cb *cb, void *aux)
{
    FILE *stream = fopen(path, "rb");
    struct pcap_frame header;
    bool swap, good;

    if (!stream) {
        perror(path);
        return false;
    }
    good = read_header(stream, &swap);
    while (good && fread(&header, sizeof header, 1, stream) == 1) {
        size_t len = to_host(header.len, swap);
        uint8_t *frame = malloc(len + 1);
        bool whole = frame && fread(frame, 1, len, stream) == len;

        if (whole) {
            cb(frame, len, aux);
        }
        free(frame);
        if (!whole) {
            break;
        }
    }
    fclose(stream);
    return good;
}

static int
is_pcap(const struct dirent *de)
{
    size_t len = strlen(de->d_name);

    return len > 5 && !strcmp(de->d_name + len - 5, ".pcap");
}

unsigned int
capture_read(const char *folder, capture_cb *cb, void *aux)
{
    struct dirent **entries;
    unsigned int n_read = 0;
    int n = scandir(folder, &entries, is_pcap, alphasort);

    for (int i = 0; i < n; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        n_read += read_file(path, cb, aux);
        free(entries[i]);
    }
    if (n >= 0) {
        free(entries);
    }
    return n_read;
}
