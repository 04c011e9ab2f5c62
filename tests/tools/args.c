/* SPDX-License-Identifier: Apache-2.0 */

/* What the command lines of the traffic tools have in common. */

#include "args.h"

#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Prints the message on stderr and exits with status 1. */
void
die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    putc('\n', stderr);
    exit(1);
}

/* Returns the whole number in 'text', the value of 'option'; exits with a
 * message that names both when it is not between 'min' and 'max'. */
uint64_t
parse_number(const char *option, const char *text, uint64_t min, uint64_t max)
{
    char *end;
    uint64_t value;

    errno = 0;
    value = strtoull(text, &end, 0);
    if (errno || end == text || *end || *text == '-'
        || value < min || value > max) {
        die("--%s=%s: expected a whole number between %"PRIu64" and %"PRIu64,
            option, text, min, max);
    }
    return value;
}

/* Parses 'text', the value of 'option', as an Ethernet address. */
void
parse_mac(const char *option, const char *text, uint8_t mac[6])
{
    int n = 0;

    if (sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1],
               &mac[2], &mac[3], &mac[4], &mac[5], &n) != 6 || text[n]) {
        die("--%s=%s: expected an Ethernet address, XX:XX:XX:XX:XX:XX",
            option, text);
    }
}

/* Returns the index of device 'name' in this network namespace. */
int
parse_device(const char *option, const char *name)
{
    int ifindex = name ? if_nametoindex(name) : 0;

    if (!ifindex) {
        die("%s: %s: %s", option, name ? name : "(none)",
            name ? strerror(errno) : "a device is needed");
    }
    return ifindex;
}

/* Binds the calling thread to 'cpu'. */
void
pin_to_cpu(unsigned int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set)) {
        die("--cpu=%u: %s", cpu, strerror(errno));
    }
}

/* Returns CLOCK_MONOTONIC, the clock of bpf_ktime_get_ns(), in ns. */
uint64_t
now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}
