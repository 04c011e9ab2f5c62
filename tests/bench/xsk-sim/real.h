/* SPDX-License-Identifier: Apache-2.0 */

#ifndef REAL_H
#define REAL_H 1

/* The C library's functions behind those that preload.c puts in front. */

#include <poll.h>
#include <sys/socket.h>

extern struct real {
    int (*bind)(int, const struct sockaddr *, socklen_t);
    int (*close)(int);
    int (*getsockopt)(int, int, int, void *, socklen_t *);
    int (*poll)(struct pollfd *, nfds_t, int);
    ssize_t (*recvfrom)(int, void *, size_t, int, struct sockaddr *,
                        socklen_t *);
    ssize_t (*sendmsg)(int, const struct msghdr *, int);
    ssize_t (*sendto)(int, const void *, size_t, int, const struct sockaddr *,
                      socklen_t);
    int (*setsockopt)(int, int, int, const void *, socklen_t);
    int (*socket)(int, int, int);
    long (*syscall)(long, ...);
} real;

#endif /* real.h */
