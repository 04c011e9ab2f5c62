/* SPDX-License-Identifier: Apache-2.0 */

/* Somebody else who wants a device's XDP or its queues: see usage(). */

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static void
usage(void)
{
    puts("xdp-owner: take a device's XDP, or one of its queues\n"
         "usage: xdp-owner link DEV        attach a program by a bpf_link\n"
         "       xdp-owner generic DEV     likewise, in generic mode\n"
         "       xdp-owner attach DEV      attach it by netlink, and end\n"
         "       xdp-owner replace ID      put it into the link with that id,\n"
         "                                 and end\n"
         "       xdp-owner queue DEV N     bind an AF_XDP socket to queue N\n"
         "The program is called \"pass\" and passes all, in native mode where\n"
         "nothing else is said.\n"
         "Unless it ends at once the tool prints \"ready\" and waits for a\n"
         "signal.");
    exit(0);
}

static void
check(int error, const char *what)
{
    if (error) {
        fprintf(stderr, "xdp-owner: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static int
load_pass(void)
{
    static const struct bpf_insn insns[] = {
        { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0,
          .imm = XDP_PASS },
        { .code = BPF_JMP | BPF_EXIT },
    };
    /* As libbpf sets it for a program of section "xdp". */
    LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_XDP);
    int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "pass", "GPL", insns,
                           sizeof insns / sizeof *insns, &opts);

    check(fd < 0, "bpf_prog_load");
    return fd;
}

/* Binds a socket with as little memory as the kernel takes: no frame will ever
 * come. */
static void
hold_queue(const char *dev, uint32_t queue)
{
    int fd = socket(AF_XDP, SOCK_RAW, 0), n = 64;
    struct sockaddr_xdp address = {
        .sxdp_family = AF_XDP,
        .sxdp_ifindex = if_nametoindex(dev),
        .sxdp_queue_id = queue,
        .sxdp_flags = XDP_COPY,
    };
    struct xdp_umem_reg umem = { .len = 16 * 4096, .chunk_size = 4096 };
    void *memory = mmap(NULL, umem.len, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    check(fd < 0, "socket");
    check(memory == MAP_FAILED, "mmap");
    umem.addr = (uintptr_t) memory;
    check(setsockopt(fd, SOL_XDP, XDP_UMEM_REG, &umem, sizeof umem), "umem");
    check(setsockopt(fd, SOL_XDP, XDP_UMEM_FILL_RING, &n, sizeof n), "fill");
    check(setsockopt(fd, SOL_XDP, XDP_UMEM_COMPLETION_RING, &n, sizeof n),
          "completion");
    check(setsockopt(fd, SOL_XDP, XDP_RX_RING, &n, sizeof n), "rx");
    check(bind(fd, (struct sockaddr *) &address, sizeof address), "bind");
}

int
main(int argc, char *argv[])
{
    const char *command = argc > 2 ? argv[1] : "";

    if (!strcmp(command, "link") || !strcmp(command, "generic")) {
        LIBBPF_OPTS(bpf_link_create_opts, opts,
                    .flags = (!strcmp(command, "link") ? XDP_FLAGS_DRV_MODE
                              : XDP_FLAGS_SKB_MODE));

        check(bpf_link_create(load_pass(), if_nametoindex(argv[2]), BPF_XDP,
                              &opts) < 0, "bpf_link_create");
    } else if (!strcmp(command, "attach")) {
        check(bpf_xdp_attach(if_nametoindex(argv[2]), load_pass(),
                             XDP_FLAGS_DRV_MODE | XDP_FLAGS_UPDATE_IF_NOEXIST,
                             NULL), "bpf_xdp_attach");
        return 0;
    } else if (!strcmp(command, "replace")) {
        int link = bpf_link_get_fd_by_id(atoi(argv[2]));

        check(link < 0, "bpf_link_get_fd_by_id");
        check(bpf_link_update(link, load_pass(), NULL), "bpf_link_update");
        return 0;
    } else if (!strcmp(command, "queue") && argc > 3) {
        hold_queue(argv[2], atoi(argv[3]));
    } else {
        usage();
    }
    puts("ready");
    fflush(stdout);
    pause();
    return 0;
}
