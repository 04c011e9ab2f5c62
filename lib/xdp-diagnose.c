/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include "xdp-diagnose.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <string.h>
#include <unistd.h>

#include "capabilities.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/vlog.h"
#include "util.h"

VLOG_DEFINE_THIS_MODULE(xdp_diagnose);

/* In front of everything that libbpf says. */
#define LIBBPF_PREFIX "libbpf: "

/* In front of what the kernel said in reply to a netlink request. */
#define EXTACK_PREFIX "Kernel error message: "

/* Around the verifier's log, and at the start of its last line. */
#define LOG_BEGIN "BEGIN PROG LOAD LOG"
#define LOG_END "\n-- END PROG LOAD LOG"
#define LOG_SUMMARY "processed "

/* State between xdp_diagnose_begin() and xdp_diagnose_end(). */
static libbpf_print_fn_t prev_print;
static char *kernel_words;      /* The kernel's own, or NULL. */
static char *libbpf_words;      /* libbpf's first warning, or NULL. */

/* What mends a refusal: the part of the kernel's words to know it by, and the
 * advice, in which each "%s" is the device. */
static const struct remedy {
    const char *words;
    const char *advice;
} remedies[] = {
    { "Peer MTU is too large",
      "lower the MTU at the other end of %s: ip link set dev PEER mtu 1500" },
    { "number of rx queues not less than peer tx queues",
      "give %s as many rx queues as its peer has tx queues: "
      "ethtool -L %s rx N" },
    { "Cannot set XDP when peer is detached",
      "the other end of %s is gone; create the pair anew" },
    { "not support XDP in native mode",
      "use options:xdp-mode=generic (or best-effort) for %s" },
    { "when an upper device already has a program",
      "remove the XDP program of the bond or bridge above %s: "
      "ip link set dev UPPER xdp off" },
    { "GRO_HW", "ethtool -K %s rx-gro-hw off" },
    { "LRO", "ethtool -K %s lro off" },
    { "MTU", "ip link set dev %s mtu 1500" },
};

static void
keep_words(char **words, const char *s, size_t n)
{
    while (n && strchr(" \n", s[n - 1])) {
        n--;
    }
    free(*words);
    *words = xmemdup0(s, n);
}

/* Keeps the line of the verifier's log, 's', that says what is wrong: the last
 * one before its summary. */
static void
keep_verifier_words(const char *s)
{
    const char *start = strchr(s, '\n');
    const char *end = start ? strstr(start, LOG_END) : NULL;
    const char *line;

    if (!end) {
        return;
    }
    for (;;) {
        for (line = end; line > start && line[-1] != '\n'; line--) {
            continue;
        }
        if (line <= start) {
            return;
        }
        if (line != end && strncmp(line, LOG_SUMMARY, strlen(LOG_SUMMARY))) {
            keep_words(&kernel_words, line, end - line);
            return;
        }
        end = line - 1;
    }
}

static int OVS_PRINTF_FORMAT(2, 0)
diagnose_print(enum libbpf_print_level level, const char *format, va_list args)
{
    const char *extack;
    char *s;

    s = xvasprintf(format, args);
    VLOG_DBG("%s", s);
    extack = strstr(s, EXTACK_PREFIX);
    if (extack) {
        extack += strlen(EXTACK_PREFIX);
        keep_words(&kernel_words, extack, strlen(extack));
    } else if (strstr(s, LOG_BEGIN)) {
        keep_verifier_words(s);
    } else if (level == LIBBPF_WARN && !libbpf_words) {
        /* The first is the cause, later ones tell what it led to. */
        const char *p = s;

        if (!strncmp(p, LIBBPF_PREFIX, strlen(LIBBPF_PREFIX))) {
            p += strlen(LIBBPF_PREFIX);
        }
        keep_words(&libbpf_words, p, strlen(p));
    }
    free(s);
    return 0;
}

/* Starts listening to libbpf. */
void
xdp_diagnose_begin(void)
{
    prev_print = libbpf_set_print(diagnose_print);
}

/* Puts back the print callback that was there before, forgets all words. */
void
xdp_diagnose_end(void)
{
    libbpf_set_print(prev_print);
    free(kernel_words);
    free(libbpf_words);
    kernel_words = libbpf_words = NULL;
}

/* Appends to 's' the capabilities that this process would need to load and
 * attach an XDP program and does not have.  Returns false if it has all. */
static bool
put_missing_capabilities(struct ds *s)
{
    struct ds names = DS_EMPTY_INITIALIZER;
    bool missing = capabilities_format_missing(CAPABILITIES_OF_PROGRAM, false,
                                               &names);

    if (missing) {
        ds_put_format(s, "; this process lacks %s", ds_cstr(&names));
    }
    ds_destroy(&names);
    return missing;
}

/* Appends to 's' what mends the refusal that the kernel explained with
 * 'words', if that is known. */
static void
put_remedy(struct ds *s, const char *ifname, const char *words)
{
    for (size_t i = 0; i < ARRAY_SIZE(remedies); i++) {
        if (strstr(words, remedies[i].words)) {
            const char *p = remedies[i].advice;
            const char *device;

            ds_put_cstr(s, "; ");
            while ((device = strstr(p, "%s"))) {
                ds_put_buffer(s, p, device - p);
                ds_put_cstr(s, ifname);
                p = device + 2;
            }
            ds_put_cstr(s, p);
            return;
        }
    }
}

/* Returns the text of an error, for the caller to free(): device 'ifname',
 * 'what' failed, the meaning of 'error' (a positive errno), what the kernel
 * said since xdp_diagnose_begin(), and what to do about it. */
char *
xdp_diagnose_text(const char *ifname, const char *what, int error)
{
    struct ds s = DS_EMPTY_INITIALIZER;
    const char *words = kernel_words;

    ds_put_format(&s, "%s: %s: %s", ifname, what, ovs_strerror(error));
    if (words) {
        ds_put_format(&s, " (%s)", words);
    }
    /* Without CAP_PERFMON the verifier refuses with EACCES.  libbpf's guesses
     * at the cause are of use only where we do not know better. */
    if ((error == EPERM || error == EACCES) && put_missing_capabilities(&s)) {
        return ds_steal_cstr(&s);
    }
    if (!words && libbpf_words) {
        words = libbpf_words;
        ds_put_format(&s, " (%s)", words);
    }
    if (words) {
        put_remedy(&s, ifname, words);
    }
    return ds_steal_cstr(&s);
}

/* Appends to 's' the name of the program with the given 'id', if it has one
 * and we may know. */
static void
put_program_name(struct ds *s, uint32_t id)
{
    struct bpf_prog_info info = { .id = 0 };
    __u32 len = sizeof info;
    int fd;

    fd = bpf_prog_get_fd_by_id(id);
    if (fd >= 0) {
        if (!bpf_obj_get_info_by_fd(fd, &info, &len) && info.name[0]) {
            ds_put_format(s, " \"%s\"", info.name);
        }
        close(fd);
    }
}

/* Returns the id of the bpf_link that holds the program 'prog_id' on device
 * 'ifindex', or 0 if there is none or we may not know. */
static uint32_t
find_link(uint32_t prog_id, int ifindex)
{
    uint32_t id = 0;

    while (!bpf_link_get_next_id(id, &id)) {
        struct bpf_link_info info = { .id = 0 };
        __u32 len = sizeof info;
        int fd = bpf_link_get_fd_by_id(id);

        if (fd >= 0) {
            int error = bpf_obj_get_info_by_fd(fd, &info, &len);

            close(fd);
            if (!error && info.type == BPF_LINK_TYPE_XDP
                && info.prog_id == prog_id && info.xdp.ifindex == ifindex) {
                return id;
            }
        }
    }
    return 0;
}

static void
put_foreign(struct ds *s, const char *ifname, int ifindex, uint32_t id,
            const char *mode, const char *ip_keyword)
{
    uint32_t link_id = find_link(id, ifindex);

    ds_put_format(s, "%s: XDP program %"PRIu32, ifname, id);
    put_program_name(s, id);
    ds_put_format(s, ", not ours, is attached in %s mode; remove it with: ",
                  mode);
    if (link_id) {
        ds_put_format(s, "bpftool link detach id %"PRIu32, link_id);
    } else {
        ds_put_format(s, "ip link set dev %s %s off", ifname, ip_keyword);
    }
}

/* Looks whether somebody else's XDP program is on the device.  Returns 0 if
 * not; EBUSY if so, or another positive errno if the device cannot be asked,
 * and stores the text of that error in '*errp', for the caller to free(). */
int
xdp_diagnose_foreign(const char *ifname, int ifindex, char **errp)
{
    LIBBPF_OPTS(bpf_xdp_query_opts, query);
    struct ds s = DS_EMPTY_INITIALIZER;
    int error;

    error = -bpf_xdp_query(ifindex, 0, &query);
    if (error) {
        *errp = xdp_diagnose_text(ifname, "cannot ask for XDP programs",
                                  error);
        return error;
    }
    if (query.drv_prog_id) {
        put_foreign(&s, ifname, ifindex, query.drv_prog_id,
                    "native", "xdpdrv");
    } else if (query.skb_prog_id) {
        put_foreign(&s, ifname, ifindex, query.skb_prog_id,
                    "generic", "xdpgeneric");
    } else if (query.hw_prog_id) {
        put_foreign(&s, ifname, ifindex, query.hw_prog_id,
                    "offload", "xdpoffload");
    } else {
        return 0;
    }
    *errp = ds_steal_cstr(&s);
    return EBUSY;
}
