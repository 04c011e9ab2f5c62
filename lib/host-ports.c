/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "host-ports.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "openvswitch/dynamic-string.h"
#include "util.h"
#include "xdp-layout.h"

BUILD_ASSERT_DECL(PORT_MAX_HOST_PORTS == XDP_HOST_MAX_PORTS);

/* Protocols, and the numbers that their packets are told apart by. */
static const struct {
    const char *name;
    uint8_t number;
    unsigned int min, max;
} protocols[] = {
    { "tcp", IPPROTO_TCP, 1, UINT16_MAX },
    { "udp", IPPROTO_UDP, 1, UINT16_MAX },
    { "sctp", IPPROTO_SCTP, 1, UINT16_MAX },
    { "icmpv6", IPPROTO_ICMPV6, 0, UINT8_MAX },
};

/* Returns false if 's' is no entry of the option. */
static bool
parse_entry(const char *s, uint32_t *port)
{
    const char *colon = strchr(s, ':');
    unsigned int number;

    if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")]
        || !str_to_uint(colon + 1, 10, &number)) {
        return false;
    }
    for (size_t i = 0; i < ARRAY_SIZE(protocols); i++) {
        size_t len = strlen(protocols[i].name);

        if (colon - s == len && !strncmp(s, protocols[i].name, len)
            && number >= protocols[i].min && number <= protocols[i].max) {
            *port = XDP_HOST_PORT(protocols[i].number, number);
            return true;
        }
    }
    return false;
}

static int
compare(const void *a_, const void *b_)
{
    const uint32_t *a = a_, *b = b_;

    return *a < *b ? -1 : *a > *b;
}

/* Adds 'port' to the 'n' sorted ones unless it is there. */
static void
add(uint32_t *ports, uint32_t *n, uint32_t port)
{
    if (!bsearch(&port, ports, *n, sizeof *ports, compare)) {
        ports[(*n)++] = port;
        qsort(ports, *n, sizeof *ports, compare);
    }
}

/* Stores the entries of the option 'value', separated by commas or spaces, in
 * 'ports' as XDP_HOST_PORT(), sorted and each once, and their number in '*n'.
 * Returns NULL, or what is wrong, which the caller frees. */
char *
host_ports_parse(const char *value, uint32_t ports[PORT_MAX_HOST_PORTS],
                 uint32_t *n)
{
    char *copy = xstrdup(value), *save = NULL, *error = NULL;

    *n = 0;
    for (const char *s = strtok_r(copy, ", ", &save); s && !error;
         s = strtok_r(NULL, ", ", &save)) {
        uint32_t port;

        if (!parse_entry(s, &port)) {
            error = xasprintf("host-ports=%s: \"%s\" must be tcp:PORT, "
                              "udp:PORT or sctp:PORT, from 1 to 65535, or "
                              "icmpv6:TYPE, from 0 to 255", value, s);
        } else if (*n == PORT_MAX_HOST_PORTS) {
            error = xasprintf("host-ports=%s: at most %d entries", value,
                              PORT_MAX_HOST_PORTS);
        } else {
            add(ports, n, port);
        }
    }
    free(copy);
    return error;
}

/* Appends the 'n' entries of 'ports' to 'ds' as the option has them. */
void
host_ports_format(const uint32_t ports[], uint32_t n, struct ds *ds)
{
    for (uint32_t i = 0; i < n; i++) {
        for (size_t k = 0; k < ARRAY_SIZE(protocols); k++) {
            if (ports[i] >> 16 == protocols[k].number) {
                ds_put_format(ds, "%s%s:%u", i ? "," : "", protocols[k].name,
                              ports[i] & 0xffff);
            }
        }
    }
}
