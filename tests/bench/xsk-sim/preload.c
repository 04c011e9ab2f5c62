/* SPDX-License-Identifier: Apache-2.0 */

/* The library's outside: the functions that it puts in front of those of the
 * C library.  Where a socket is simulated, each sendto, recvfrom and poll
 * still makes one real system call, on the real socket, which is bound to
 * nothing: the program pays what entering the kernel costs.
 *
 * Not thread-safe against the close of a socket that another thread uses, like
 * the kernel's own rings. */

#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nic.h"
#include "real.h"
#include "socket.h"

struct real real;

static void
find_real(void)
{
    real.bind = dlsym(RTLD_NEXT, "bind");
    real.close = dlsym(RTLD_NEXT, "close");
    real.getsockopt = dlsym(RTLD_NEXT, "getsockopt");
    real.poll = dlsym(RTLD_NEXT, "poll");
    real.recvfrom = dlsym(RTLD_NEXT, "recvfrom");
    real.sendmsg = dlsym(RTLD_NEXT, "sendmsg");
    real.sendto = dlsym(RTLD_NEXT, "sendto");
    real.setsockopt = dlsym(RTLD_NEXT, "setsockopt");
    real.socket = dlsym(RTLD_NEXT, "socket");
    real.syscall = dlsym(RTLD_NEXT, "syscall");
}

/* Other libraries' constructors may run, and call, before ours. */
static inline void
need_real(void)
{
    if (__builtin_expect(!real.syscall, 0)) {
        find_real();
    }
}

static struct sim_socket *
bound_socket(int fd)
{
    struct sim_socket *s = sim_from_fd(fd);

    return s && s->bound ? s : NULL;
}

static int
fail(int error)
{
    errno = error;
    return -1;
}

int
socket(int domain, int type, int protocol)
{
    int fd;

    need_real();
    fd = real.socket(domain, type, protocol);
    if (fd >= 0 && domain == AF_XDP) {
        sim_socket_made(fd);
    }
    return fd;
}

int
close(int fd)
{
    struct sim_socket *s = sim_from_fd(fd);

    need_real();
    if (s) {
        sim_socket_close(s);
    }
    return real.close(fd);
}

int
setsockopt(int fd, int level, int option, const void *value, socklen_t len)
{
    struct sim_socket *s = sim_from_fd(fd);
    int result;

    need_real();
    result = real.setsockopt(fd, level, option, value, len);
    if (!result && s && level == SOL_XDP) {
        sim_socket_option(s, option, value, len);
    }
    return result;
}

static void
answer_napi(const struct sim_socket *s, unsigned int *id)
{
    if (s->faults.napi) {
        *id = s->faults.napi + s->queue;
    }
}

/* What the kernel would tell of a bound socket. */
static void
answer_option(const struct sim_socket *s, int option, void *value,
              socklen_t len)
{
    if (option == XDP_STATISTICS) {
        const struct xdp_statistics statistics = {
            .rx_ring_full = s->n.rx_ring_full,
            .rx_fill_ring_empty_descs = s->n.rx_no_fill,
        };

        memcpy(value, &statistics,
               len < sizeof statistics ? len : sizeof statistics);
    } else if (option == XDP_OPTIONS && len >= sizeof(struct xdp_options)) {
        ((struct xdp_options *) value)->flags =
            s->bind_flags & XDP_COPY ? 0 : XDP_OPTIONS_ZEROCOPY;
    }
}

int
getsockopt(int fd, int level, int option, void *value, socklen_t *len)
{
    struct sim_socket *s = bound_socket(fd);
    int result;

    need_real();
    result = real.getsockopt(fd, level, option, value, len);
    if (!result && s && level == SOL_XDP) {
        answer_option(s, option, value, *len);
    } else if (!result && s && level == SOL_SOCKET
               && option == SO_INCOMING_NAPI_ID) {
        answer_napi(s, value);
    }
    return result;
}

int
bind(int fd, const struct sockaddr *address, socklen_t len)
{
    struct sim_socket *s = sim_from_fd(fd);
    char ifname[IF_NAMESIZE];

    need_real();
    if (s && len >= sizeof(struct sockaddr_xdp)) {
        const struct sockaddr_xdp *xdp = (const void *) address;

        if (if_indextoname(xdp->sxdp_ifindex, ifname)
            && sim_is_simulated(ifname)) {
            int error = sim_socket_bind(s, xdp);

            return error ? fail(error) : 0;
        }
    }
    return real.bind(fd, address, len);
}

ssize_t
sendto(int fd, const void *data, size_t size, int flags,
       const struct sockaddr *to, socklen_t len)
{
    struct sim_socket *s = bound_socket(fd);
    ssize_t result;
    int error;

    need_real();
    result = real.sendto(fd, data, size, flags, to, len);
    if (!s) {
        return result;
    }
    error = nic_kick_tx(s);
    return error ? fail(error) : 0;
}

ssize_t
recvfrom(int fd, void *data, size_t size, int flags, struct sockaddr *from,
         socklen_t *len)
{
    struct sim_socket *s = bound_socket(fd);
    ssize_t result;
    int error;

    need_real();
    result = real.recvfrom(fd, data, size, flags, from, len);
    if (!s) {
        return result;
    }
    error = nic_kick_rx(s);
    return error ? fail(error) : 0;
}

/* Linux before 6.3 has no generic netlink family "netdev", so that what asks
 * for it has to do without.  With XSK_SIM_NO_NETDEV set, none is found here
 * either: the request for its number asks for another name. */
ssize_t
sendmsg(int fd, const struct msghdr *message, int flags)
{
    static const char name[] = "netdev";

    need_real();
    for (size_t i = 0; getenv("XSK_SIM_NO_NETDEV") && i < message->msg_iovlen;
         i++) {
        const struct iovec *iov = &message->msg_iov[i];
        char *found = memmem(iov->iov_base, iov->iov_len, name, sizeof name);

        if (found) {
            *found = '?';
        }
    }
    return real.sendmsg(fd, message, flags);
}

/* The C library's header says that poll() only writes to 'fds'. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

/* A poll of one simulated socket does not wait: who polls it among others or
 * with a timeout is not simulated. */
int
poll(struct pollfd *fds, nfds_t n, int timeout)
{
    struct sim_socket *s = n == 1 ? bound_socket(fds->fd) : NULL;
    const struct ring *rx;
    int result;

    need_real();
    result = real.poll(fds, n, s ? 0 : timeout);
    if (!s) {
        return result;
    }
    rx = &s->rings[RING_RX];
    if (nic_kick_rx(s)) {
        fds->revents = POLLERR;
    } else {
        fds->revents = (__atomic_load_n(rx->producer, __ATOMIC_ACQUIRE)
                        != *rx->consumer ? fds->events & POLLIN : 0);
    }
    return fds->revents != 0;
}

/* Returns the id of the map behind 'fd' if it is an XSKMAP, otherwise 0. */
static uint32_t
xskmap_id(int fd)
{
    struct bpf_map_info info = { .type = 0 };
    union bpf_attr attr = {
        .info = {
            .bpf_fd = fd,
            .info_len = sizeof info,
            .info = (uintptr_t) &info,
        },
    };

    if (real.syscall(__NR_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof attr.info)
        || info.type != BPF_MAP_TYPE_XSKMAP) {
        return 0;
    }
    return info.id;
}

/* Does what a call of bpf(2) asks for a simulated socket and returns true, or
 * returns false for the kernel to do it. */
static bool
simulate_bpf(int command, const union bpf_attr *attr)
{
    uint32_t map_id;

    if (command != BPF_MAP_UPDATE_ELEM && command != BPF_MAP_DELETE_ELEM) {
        return false;
    }
    map_id = xskmap_id(attr->map_fd);
    if (!map_id) {
        return false;
    } else if (command == BPF_MAP_DELETE_ELEM) {
        sim_map_delete(map_id, *(const uint32_t *) (uintptr_t) attr->key);
        return false;
    }
    return sim_map_update(map_id, *(const uint32_t *) (uintptr_t) attr->key,
                          *(const int *) (uintptr_t) attr->value);
}

/* libbpf enters sockets into the program's map through this. */
long
syscall(long number, ...)
{
    long args[6];
    va_list ap;

    need_real();
    va_start(ap, number);
    for (int i = 0; i < 6; i++) {
        args[i] = va_arg(ap, long);
    }
    va_end(ap);
    if (number == __NR_bpf
        && simulate_bpf(args[0], (const union bpf_attr *) args[1])) {
        return 0;
    }
    return real.syscall(number, args[0], args[1], args[2], args[3], args[4],
                        args[5]);
}
