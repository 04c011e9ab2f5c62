/* SPDX-License-Identifier: Apache-2.0 */

/* The shape of the traffic, and the schedule that is made of it. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

/* The longest schedule: twice the flows there can be, so that most of a
 * million occur.  It is read from the first to the last, which the hardware
 * fetches ahead. */
#define MAX_SLOTS (1u << 21)
#define MAX_FLOWS (1u << 20)

/* With it all frames but one in a thousand are of the first flow. */
#define MAX_EXPONENT 10

/* The sum of the shares of sizes. */
#define MAX_SHARES 1024

struct shape shape;

static uint64_t
draw(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static char *
format_error(const char *key, const char *value, const char *allowed)
{
    char *text;

    if (asprintf(&text, "%s=%s: must be %s", key, value, allowed) < 0) {
        abort();
    }
    return text;
}

/* Reads a list "LEN[:SHARE],..." into 'lens', each length as often as its
 * share.  Returns how many, at most 'max', or 0 if it is wrong. */
static uint32_t
parse_sizes(const char *text, uint32_t *lens, uint32_t max)
{
    uint32_t n = 0;
    char *end;

    for (;;) {
        unsigned long len = strtoul(text, &end, 10), share = 1;

        if (*end == ':') {
            share = strtoul(end + 1, &end, 10);
        }
        if (len < TRAFFIC_MIN_LEN || len > TRAFFIC_MAX_LEN || !share
            || share > max - n || (*end && *end != ',')) {
            return 0;
        }
        while (share--) {
            lens[n++] = len;
        }
        if (!*end) {
            return n;
        }
        text = end + 1;
    }
}

static char *
set_number(uint64_t *target, const char *key, const char *value,
           uint64_t min, uint64_t max)
{
    char allowed[64], *end;
    uint64_t number = strtoull(value, &end, 10);

    if (!*value || *end || number < min || number > max) {
        snprintf(allowed, sizeof allowed, "%lu to %lu", min, max);
        return format_error(key, value, allowed);
    }
    *target = number;
    return NULL;
}

static char *
set_sizes(const char *value)
{
    uint32_t lens[MAX_SHARES];

    if (strlen(value) >= sizeof shape.sizes
        || !parse_sizes(value, lens, MAX_SHARES)) {
        return format_error("size", value,
                            "LEN[:SHARE],... with lengths of 60 to 3500");
    }
    strcpy(shape.sizes, value);
    return NULL;
}

static char *
set_dist(const char *value)
{
    double zipf = 0;
    char *end;

    if (strcmp(value, "uniform")) {
        zipf = !strncmp(value, "zipf:", 5) ? strtod(value + 5, &end) : 0;
        if (!(zipf > 0 && zipf <= MAX_EXPONENT) || *end) {
            return format_error("dist", value, "uniform or zipf:EXPONENT, "
                                "above 0 and at most 10");
        }
    }
    shape.zipf = zipf;
    return NULL;
}

/* Changes one property of the shape. */
static char *
set_one(const char *key, const char *value)
{
    uint64_t number = 0;
    char *error;

    if (!strcmp(key, "size")) {
        return set_sizes(value);
    } else if (!strcmp(key, "dist")) {
        return set_dist(value);
    } else if (!strcmp(key, "rate")) {
        return set_number(&shape.rate, key, value, 0, 1000000000);
    } else if (!strcmp(key, "seed")) {
        return set_number(&shape.seed, key, value, 0, UINT64_MAX);
    } else if (!strcmp(key, "burst")) {
        error = set_number(&number, key, value, 1, 256);
        shape.burst = error ? shape.burst : number;
    } else if (!strcmp(key, "flows")) {
        error = set_number(&number, key, value, 1, MAX_FLOWS);
        shape.n_flows = error ? shape.n_flows : number;
    } else if (!strcmp(key, "verify")) {
        error = set_number(&number, key, value, 0, 1);
        shape.verify = error ? shape.verify : number;
    } else if (!strcmp(key, "hints")) {
        error = set_number(&number, key, value, 0, 1);
        shape.hints = error ? shape.hints : number;
    } else {
        error = format_error(key, value, "rate, burst, flows, dist, size, "
                             "verify, hints or seed");
    }
    return error;
}

/* Returns the sums of the flows' shares, Zipf's law. */
static double *
zipf_sums(uint32_t n_flows, double exponent)
{
    double *sums = malloc(n_flows * sizeof *sums), sum = 0;

    for (uint32_t i = 0; i < n_flows; i++) {
        sum += 1 / pow(i + 1, exponent);
        sums[i] = sum;
    }
    return sums;
}

/* Returns the flow that the 'point'th part of all frames falls on. */
static uint32_t
find_flow(const double *sums, uint32_t n_flows, double point)
{
    uint32_t low = 0, high = n_flows - 1;

    point *= sums[high];
    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (sums[middle] < point) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Makes the schedule anew.  The flows are drawn, not in turn: a cache is to
 * meet them as they would come.  While the NIC is paused. */
static void
make_slots(void)
{
    uint32_t lens[MAX_SHARES];
    uint32_t n_lens = parse_sizes(shape.sizes, lens, MAX_SHARES);
    uint64_t state = shape.seed;
    double *sums = shape.zipf ? zipf_sums(shape.n_flows, shape.zipf) : NULL;
    uint32_t n = 1;

    if (shape.n_flows > 1 || n_lens > 1) {
        while (n < MAX_SLOTS && n < 16ull * shape.n_flows * n_lens) {
            n *= 2;
        }
    }
    free(shape.slots);
    shape.slots = malloc(n * sizeof *shape.slots);
    shape.n_slots = n;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t random = draw(&state);

        shape.slots[i].flow = (sums
                               ? find_flow(sums, shape.n_flows,
                                           (random >> 11) * 0x1p-53)
                               : (random >> 32) % shape.n_flows);
        shape.slots[i].len = lens[(uint32_t) random % n_lens];
    }
    free(sums);
}

void
shape_init(void)
{
    shape = (struct shape) {
        .burst = 32,
        .n_flows = 1,
        .sizes = "64",
        .seed = 1,
    };
    make_slots();
}

/* Changes the properties that 'words', "KEY=VALUE" and NULL at the end, name:
 * all of them or, if one is wrong, none.  Returns NULL or what is wrong, which
 * the caller frees.  While the NIC is paused. */
char *
shape_set(char **words)
{
    const struct shape before = shape;
    char *error = NULL;

    for (; *words && !error; words++) {
        char *value = strchr(*words, '=');

        if (value) {
            *value++ = '\0';
        }
        error = set_one(*words, value ? value : "");
    }
    if (!error && shape.verify && shape.hints) {
        error = format_error("hints", "1", "0 with verify=1: frames that are "
                             "verified have no hints");
    }
    if (error) {
        shape = before;
    } else {
        make_slots();
    }
    return error;
}
