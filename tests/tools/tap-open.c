/* SPDX-License-Identifier: Apache-2.0 */

/* Opens a tap and never reads it: a guest that hangs. */

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "args.h"

int
main(int argc, char *argv[])
{
    struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI };
    int fd;

    if (argc != 2 || argv[1][0] == '-'
        || strlen(argv[1]) >= sizeof ifr.ifr_name) {
        die("usage: tap-open DEV (creates it, keeps it until it is killed)");
    }
    strcpy(ifr.ifr_name, argv[1]);
    fd = open("/dev/net/tun", O_RDWR);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &ifr)) {
        die("%s: %s", argv[1], strerror(errno));
    }
    pause();
    return 0;
}
