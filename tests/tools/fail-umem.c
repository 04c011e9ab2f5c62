/* SPDX-License-Identifier: Apache-2.0 */

/* A library to preload: a kernel without memory for AF_XDP sockets.
 *
 *   FAIL_UMEM   a file.  While it is there, no UMEM can be registered
 *               (ENOMEM), and each attempt adds a line to it. */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_xdp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SOL_XDP
#define SOL_XDP 283
#endif

int
setsockopt(int fd, int level, int option, const void *value, socklen_t len)
{
    static int (*real)(int, int, int, const void *, socklen_t);
    const char *path = getenv("FAIL_UMEM");

    if (level == SOL_XDP && option == XDP_UMEM_REG && path) {
        int file = open(path, O_WRONLY | O_APPEND);

        if (file >= 0) {
            (void) !write(file, "refused\n", 8);
            close(file);
            errno = ENOMEM;
            return -1;
        }
    }
    if (!real) {
        real = (int (*)(int, int, int, const void *, socklen_t))
               dlsym(RTLD_NEXT, "setsockopt");
    }
    return real(fd, level, option, value, len);
}
