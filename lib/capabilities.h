/* SPDX-License-Identifier: Apache-2.0 */

#ifndef CAPABILITIES_H
#define CAPABILITIES_H 1

/* What this process is allowed to do, of what ports need. */

#include <stdbool.h>

/* X(NAME, CONSEQUENCE): what is so without CAP_NAME. */
#define CAPABILITIES(X)                                                     \
    X(NET_ADMIN, "no bridge of the userspace datapath is created, and no "  \
                 "program attached")                                        \
    X(NET_RAW, "no AF_XDP socket is made")                                  \
    X(BPF, "no XDP program is loaded")                                      \
    X(PERFMON, "no XDP program is loaded")                                  \
    X(IPC_LOCK, "frame memory counts against the memory lock limit")

enum capability {
#define CAPABILITY(NAME, CONSEQUENCE) CAPABILITY_##NAME,
    CAPABILITIES(CAPABILITY)
#undef CAPABILITY
    N_CAPABILITIES
};

/* Those that loading and attaching an XDP program takes. */
#define CAPABILITIES_OF_PROGRAM \
    (1u << CAPABILITY_NET_ADMIN | 1u << CAPABILITY_BPF \
     | 1u << CAPABILITY_PERFMON)
#define CAPABILITIES_ALL ((1u << N_CAPABILITIES) - 1)

struct ds;

bool capabilities_format_missing(unsigned int which, bool consequences,
                                 struct ds *);

#endif /* capabilities.h */
