/* SPDX-License-Identifier: Apache-2.0 */

/* Makes a prefix file to measure with: see usage(). */

#include <arpa/inet.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "args.h"
#include "prefix-mix.h"

struct options {
    const char *port, *version;
    size_t n;
    bool ipv6;
};

static void
usage(void)
{
    puts("make-prefixes: print a prefix file that redirects random prefixes\n"
         "usage: make-prefixes --port=PORT [OPTIONS]\n"
         "  --prefixes=N      how many, of /24 to /32; the same in each run\n"
         "                    (1)\n"
         "  --ipv6            of /40 to /64\n"
         "  --version=TEXT    version string of the file (1)\n"
         "In each of them is one destination of \"xdp-gen --prefixes=N\"; in\n"
         "one more, 192.0.2.0/24, that of paced-send.");
    exit(0);
}

static void
parse_options(int argc, char *argv[], struct options *o)
{
    static const struct option long_options[] = {
        {"port", required_argument, NULL, 'p'},
        {"prefixes", required_argument, NULL, 'n'},
        {"ipv6", no_argument, NULL, '6'},
        {"version", required_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (option) {
        case 'p': o->port = optarg; break;
        case 'n': o->n = parse_number("prefixes", optarg, 1, MIX_MAX - 1);
            break;
        case '6': o->ipv6 = true; break;
        case 'v': o->version = optarg; break;
        case 'h': usage(); break;
        default: exit(1);
        }
    }
    if (optind < argc) {
        die("%s: not an option (see --help)", argv[optind]);
    }
    if (!o->port) {
        die("--port: a port is needed");
    }
}

static void
print_entry(const char *prefix, unsigned int len, const char *port)
{
    printf(",\n  { \"prefix\": \"%s/%u\", \"action\": \"redirect\", "
           "\"port\": \"%s\" }", prefix, len, port);
}

int
main(int argc, char *argv[])
{
    struct options o = { .version = "1", .n = 1 };
    char text[INET6_ADDRSTRLEN];
    struct mix mix;

    parse_options(argc, argv, &o);
    mix_make(&mix, o.ipv6, o.n);
    printf("{ \"version\": \"%s\", \"entries\": [\n"
           "  { \"prefix\": \"192.0.2.0/24\", \"action\": \"redirect\", "
           "\"port\": \"%s\" }", o.version, o.port);
    for (size_t i = 0; i < mix.n; i++) {
        inet_ntop(o.ipv6 ? AF_INET6 : AF_INET, mix.prefixes[i].addr, text,
                  sizeof text);
        print_entry(text, mix.prefixes[i].len, o.port);
    }
    puts("\n] }");
    mix_free(&mix);
    return 0;
}
