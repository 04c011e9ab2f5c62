/* SPDX-License-Identifier: Apache-2.0 */

/* Lets the kernel redirect between devices: see usage(). */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "args.h"
#include "xdp-redirect.skel.h"

static void
usage(void)
{
    puts("xdp-redirect: redirect all frames between two devices, by XDP\n"
         "usage: xdp-redirect DEV DEV [DEV DEV]...\n"
         "The first and the second exchange their frames, the third and the\n"
         "fourth, and so on, until SIGTERM or SIGINT.");
    exit(0);
}

/* Makes all that comes to 'from' go to 'to'.  The link that keeps it so ends
 * with the process. */
static void
redirect(const char *from, const char *to)
{
    struct xdp_redirect *skel = xdp_redirect__open_and_load();
    uint32_t key = 0;

    if (!skel) {
        die("loading the redirecting program: %s", strerror(errno));
    }

    int ifindex = parse_device("DEV", to);
    if (bpf_map_update_elem(bpf_map__fd(skel->maps.target), &key, &ifindex,
                            0)) {
        die("%s: as the target of a redirect: %s", to, strerror(errno));
    }
    if (!bpf_program__attach_xdp(skel->progs.redirect,
                                 parse_device("DEV", from))) {
        die("%s: attaching the program: %s", from, strerror(errno));
    }
}

int
main(int argc, char *argv[])
{
    sigset_t ending;
    int signal;

    if (argc == 2 && !strcmp(argv[1], "--help")) {
        usage();
    } else if (argc < 3) {
        die("DEV DEV: a pair of devices is needed (see --help)");
    } else if (argc % 2 == 0) {
        die("%s: it has no second device (see --help)", argv[argc - 1]);
    }
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigprocmask(SIG_BLOCK, &ending, NULL);
    for (int i = 1; i < argc; i += 2) {
        redirect(argv[i], argv[i + 1]);
        redirect(argv[i + 1], argv[i]);
    }
    sigwait(&ending, &signal);
    return 0;
}
