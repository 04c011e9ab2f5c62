/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include "xdp-program.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <unistd.h>

#include "afxdp-fast.skel.h"
#include "entropy.h"
#include "frame-pool.h"
#include "host-maps.h"
#include "openvswitch/util.h"
#include "openvswitch/vlog.h"
#include "timeval.h"
#include "util.h"
#include "xdp-diagnose.h"
#include "xdp-front.h"
#include "xdp-table-maps.h"

VLOG_DEFINE_THIS_MODULE(xdp_program);

/* What must be the same in two programs for bpf_link_update() to be right.
 * The kernel accepts more than it accepts from a new link, a program bound to
 * another device for instance, so we compare. */
#define CLASS_FLAGS (BPF_F_XDP_HAS_FRAGS | XDP_DEV_BOUND_ONLY)

/* A program in the kernel. */
struct loaded {
    struct afxdp_fast *skel;    /* Owns its file descriptors. */
    uint32_t id;
    uint64_t cookie;
    struct xdp_settings settings;
};

struct xdp_program {
    char *ifname;
    int ifindex;
    enum xdp_attach_mode mode;
    uint32_t n_queues;
    bool frags;
    struct loaded current;      /* The one that runs now. */
    struct xdp_table_fds table; /* From the first load with a table on. */
    struct xdp_front *front;    /* In front of it, or NULL. */
    int link_fd;                /* Goes away with the process. */
};

static const char *const counter_names[] = {
#define XDP_COUNTER(ENUM, NAME, DESCRIPTION) NAME,
    XDP_COUNTERS(XDP_COUNTER)
#undef XDP_COUNTER
};

static const char *const counter_descriptions[] = {
#define XDP_COUNTER(ENUM, NAME, DESCRIPTION) DESCRIPTION,
    XDP_COUNTERS(XDP_COUNTER)
#undef XDP_COUNTER
};

/* May 'b' take the place of 'a' under a live link? */
static bool
same_class(const struct loaded *a, const struct loaded *b)
{
    return !((bpf_program__flags(a->skel->progs.afxdp_fast)
              ^ bpf_program__flags(b->skel->progs.afxdp_fast)) & CLASS_FLAGS);
}

static int
prog_fd(const struct loaded *loaded)
{
    return bpf_program__fd(loaded->skel->progs.afxdp_fast);
}

/* Stores in '*cookie' a number that no other load of a program has: 64 bits
 * that nobody can guess.  Never 0, which is what fresh memory holds. */
static int
make_cookie(uint64_t *cookie)
{
    int error;

    do {
        error = get_entropy(cookie, sizeof *cookie);
    } while (!error && !*cookie);
    return error;
}

/* Gives 'skel', which is not loaded yet, the maps that 'prog' has already, or
 * else a socket map of the right size. */
static int
prepare_maps(struct afxdp_fast *skel, const struct xdp_program *prog)
{
    const struct afxdp_fast *old = prog->current.skel;
    int counters = -1, note = -1, error = 0;

    if (old) {
        counters = bpf_map__fd(old->maps.counters);
        note = bpf_map__fd(old->maps.front_note);
        error = -bpf_map__reuse_fd(skel->maps.xsks,
                                   bpf_map__fd(old->maps.xsks));
    } else {
        error = -bpf_map__set_max_entries(skel->maps.xsks, prog->n_queues);
        if (prog->front) {
            counters = xdp_front_counters_fd(prog->front);
            note = xdp_front_note_fd(prog->front);
        }
    }
    if (!error && counters >= 0) {
        error = -bpf_map__reuse_fd(skel->maps.counters, counters);
    }
    if (!error && note >= 0) {
        error = -bpf_map__reuse_fd(skel->maps.front_note, note);
    }
    return error;
}

static void
write_settings(const struct xdp_program *prog, const struct loaded *loaded)
{
    const struct xdp_settings *s = &loaded->settings;
    struct afxdp_fast *skel = loaded->skel;

    skel->rodata->hints_cookie = loaded->cookie;
    skel->rodata->hints_on = s->hints;
    skel->rodata->table_on = s->table;
    skel->rodata->malformed_drop = s->malformed_drop;
    skel->rodata->host_on = s->host != NULL;
    skel->rodata->tags_hidden = s->tags_hidden && !prog->front;
    skel->rodata->tags_follow = prog->mode == XDP_ATTACH_GENERIC;
    skel->rodata->front_on = prog->front != NULL;
    skel->rodata->frags_on = prog->frags;
    skel->rodata->max_frame = FRAME_MAX_LEN;
    skel->rodata->port_number = prog->ifindex;
    bpf_program__set_flags(skel->progs.afxdp_fast,
                           prog->frags ? BPF_F_XDP_HAS_FRAGS : 0);
}

static void
unload(struct loaded *loaded)
{
    afxdp_fast__destroy(loaded->skel);
    loaded->skel = NULL;
}

/* Loads a program for 'prog' into '*loaded', with the maps of its current one
 * if it has one.  'prog' stays as it is. */
static int
load(struct xdp_program *prog, const struct xdp_settings *settings,
     struct loaded *loaded, char **errp)
{
    struct bpf_prog_info info = { .id = 0 };
    __u32 len = sizeof info;
    int error;

    loaded->settings = *settings;
    error = make_cookie(&loaded->cookie);
    if (error) {
        return error;
    }
    loaded->skel = afxdp_fast__open();
    if (!loaded->skel) {
        return errno;
    }

    write_settings(prog, loaded);
    error = prepare_maps(loaded->skel, prog);
    if (!error) {
        error = host_maps_prepare(loaded->skel, settings->host);
    }
    if (!error) {
        error = xdp_table_maps_prepare(loaded->skel, settings->table,
                                       prog->frags, &prog->table, errp);
    }
    if (!error) {
        error = -afxdp_fast__load(loaded->skel);
    }
    if (!error && bpf_obj_get_info_by_fd(prog_fd(loaded), &info, &len)) {
        error = errno;
    }
    if (error) {
        unload(loaded);
        return error;
    }
    loaded->id = info.id;
    if (settings->table) {
        xdp_table_maps_keep(loaded->skel, &prog->table);
    }
    return 0;
}

static int
load_verbose(struct xdp_program *prog, const struct xdp_settings *settings,
             struct loaded *loaded, char **errp)
{
    long long int start = time_usec();
    int error;

    error = load(prog, settings, loaded, errp);
    if (error) {
        if (!*errp) {
            *errp = xdp_diagnose_text(prog->ifname,
                                      "cannot load the XDP program", error);
        }
        return error;
    }
    VLOG_DBG("%s: loaded XDP program %"PRIu32" in %lld us",
             prog->ifname, loaded->id, time_usec() - start);
    return 0;
}

/* Loads a front program, if the device takes one: most do not, and need
 * none. */
static void
load_front(struct xdp_program *prog)
{
    int error = xdp_front_load(prog->ifindex, prog->frags, &prog->front);

    if (error) {
        VLOG_DBG("%s: no VLAN tags from the driver: %s", prog->ifname,
                 ovs_strerror(error));
    }
}

static uint32_t
mode_flag(enum xdp_attach_mode mode)
{
    return mode == XDP_ATTACH_NATIVE ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
}

/* Returns the program that the device runs first. */
static int
attached_fd(const struct xdp_program *prog)
{
    return prog->front ? xdp_front_fd(prog->front) : prog_fd(&prog->current);
}

/* Asks again for what was refused, in the older way that gives the kernel's
 * words to libbpf: creating a bpf_link has no room for them.  Should it work
 * this time, the program is taken off again, since without a link it would
 * outlive us. */
static void
ask_for_words(const struct xdp_program *prog)
{
    uint32_t flags = mode_flag(prog->mode);
    int fd = attached_fd(prog);

    if (!bpf_xdp_attach(prog->ifindex, fd,
                        flags | XDP_FLAGS_UPDATE_IF_NOEXIST, NULL)) {
        LIBBPF_OPTS(bpf_xdp_attach_opts, opts, .old_prog_fd = fd);

        bpf_xdp_detach(prog->ifindex, flags, &opts);
    }
}

static int
attach_link(struct xdp_program *prog, char **errp)
{
    LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = mode_flag(prog->mode));
    long long int start = time_usec();
    int error;

    prog->link_fd = bpf_link_create(attached_fd(prog), prog->ifindex,
                                    BPF_XDP, &opts);
    if (prog->link_fd < 0) {
        error = errno;
        ask_for_words(prog);
        *errp = xdp_diagnose_text(prog->ifname,
                                  prog->mode == XDP_ATTACH_NATIVE
                                  ? "cannot attach in native mode"
                                  : "cannot attach in generic mode", error);
        return error;
    }
    VLOG_DBG("%s: attached XDP program %"PRIu32" in %lld us",
             prog->ifname, prog->current.id, time_usec() - start);
    return 0;
}

/* Loads the first program of 'prog', with a front program where that
 * works. */
static int
load_first(struct xdp_program *prog, const struct xdp_settings *settings,
           char **errp)
{
    struct loaded first;
    int error;

    if (prog->mode == XDP_ATTACH_NATIVE) {
        load_front(prog);
    }
    error = load_verbose(prog, settings, &first, errp);
    if (error) {
        return error;
    }
    prog->current = first;
    if (prog->front) {
        error = xdp_front_set_next(prog->front, prog_fd(&prog->current));
    }
    if (error) {
        *errp = xdp_diagnose_text(prog->ifname, "cannot enter the XDP "
                                  "program behind the front program", error);
    }
    return error;
}

/* Loads a program and attaches it to the device as 'opts' say.  From then on
 * each frame that arrives is dropped, counted, until its queue has a socket.
 *
 * Returns 0 and stores the program in '*progp', for xdp_program_detach().
 * Otherwise returns a positive errno, stores NULL in '*progp' and in '*errp' a
 * text for the operator, for the caller to free(): what failed, the kernel's
 * own words, and the command that mends it where one is known.  EBUSY says
 * that somebody else's program is on the device, where it stays; EPERM or
 * EACCES, mostly, that a capability is missing, which the text names. */
int
xdp_program_attach(const struct xdp_program_opts *opts,
                   struct xdp_program **progp, char **errp)
{
    struct xdp_program *prog;
    int error;

    prog = xzalloc(sizeof *prog);
    prog->ifname = xstrdup(opts->ifname);
    prog->ifindex = opts->ifindex;
    prog->mode = opts->mode;
    prog->n_queues = opts->n_queues;
    prog->frags = opts->frags;
    prog->table = XDP_TABLE_FDS_NONE;
    prog->link_fd = -1;

    *errp = NULL;
    xdp_diagnose_begin();
    error = xdp_diagnose_foreign(prog->ifname, prog->ifindex, errp);
    if (!error) {
        error = load_first(prog, &opts->settings, errp);
    }
    if (!error) {
        error = attach_link(prog, errp);
    }
    xdp_diagnose_end();

    if (error) {
        xdp_program_detach(prog);
        prog = NULL;
    }
    *progp = prog;
    return error;
}

/* Takes 'prog' off its device and frees it.  NULL is fine, and so is a device
 * that is gone.  Detaches before it closes, because kernels before 6.5 put off
 * the former to some time after the latter, and a new program would find the
 * device taken. */
void
xdp_program_detach(struct xdp_program *prog)
{
    if (prog) {
        if (prog->link_fd >= 0) {
            bpf_link_detach(prog->link_fd);
            close(prog->link_fd);
        }
        xdp_front_unload(prog->front);
        unload(&prog->current);
        xdp_table_maps_close(&prog->table);
        free(prog->ifname);
        free(prog);
    }
}

/* Returns whether the device still runs 'prog', which another tool can change
 * without a word to us, and the end of the device does.  A kernel that does
 * not tell is taken for one where all is well.  Main thread. */
enum xdp_link_state
xdp_program_link_state(const struct xdp_program *prog)
{
    struct bpf_link_info info = { .id = 0 };
    __u32 len = sizeof info;
    uint32_t id;

    if (prog->link_fd < 0) {
        return XDP_LINK_GONE;
    }
    if (bpf_obj_get_info_by_fd(prog->link_fd, &info, &len)) {
        return XDP_LINK_OURS;
    }
    if (!info.xdp.ifindex) {
        return XDP_LINK_GONE;
    }
    id = xdp_program_id(prog);
    return !id || info.prog_id == id ? XDP_LINK_OURS : XDP_LINK_FOREIGN;
}

/* Attaches 'prog' to its device once more, after XDP_LINK_GONE.  Returns 0, or
 * a positive errno and a text in '*errp' as xdp_program_attach() does: EBUSY
 * if somebody else's program is there now, where it stays. */
int
xdp_program_reattach(struct xdp_program *prog, char **errp)
{
    int error;

    *errp = NULL;
    if (prog->link_fd >= 0) {
        close(prog->link_fd);
        prog->link_fd = -1;
    }
    xdp_diagnose_begin();
    error = xdp_diagnose_foreign(prog->ifname, prog->ifindex, errp);
    if (!error) {
        error = attach_link(prog, errp);
    }
    xdp_diagnose_end();
    return error;
}

/* Puts 'new' in the place of the current program. */
static int
exchange(const struct xdp_program *prog, const struct loaded *new)
{
    LIBBPF_OPTS(bpf_link_update_opts, opts,
                .flags = BPF_F_REPLACE,
                .old_prog_fd = prog_fd(&prog->current));

    if (prog->front) {
        return (xdp_program_link_state(prog) != XDP_LINK_OURS
                ? ENOLINK : xdp_front_set_next(prog->front, prog_fd(new)));
    }
    if (!same_class(&prog->current, new)) {
        return EINVAL;
    }
    return bpf_link_update(prog->link_fd, prog_fd(new), &opts) ? errno : 0;
}

/* Replaces the program by one with 'settings', without a gap: each frame meets
 * the old one or the new one.  Sockets, counters and the table stay; the
 * cookie is a new one, so that hints of the old program, which stand in front
 * of frames still under way, are not taken for the new one's.
 *
 * Returns 0, or a positive errno with a text in '*errp', for the caller to
 * free(), and then nothing has changed. */
int
xdp_program_replace(struct xdp_program *prog,
                    const struct xdp_settings *settings, char **errp)
{
    struct loaded new;
    int error;

    *errp = NULL;
    xdp_diagnose_begin();
    error = load_verbose(prog, settings, &new, errp);
    if (!error) {
        error = exchange(prog, &new);
        if (error) {
            *errp = xdp_diagnose_text(prog->ifname,
                                      "cannot replace the XDP program",
                                      error);
            unload(&new);
        } else {
            unload(&prog->current);
            prog->current = new;
        }
    }
    xdp_diagnose_end();
    return error;
}

/* Has the driver take the program anew, for queues that the device did not
 * have when it took it first: a veth gives such no program, and their frames
 * to the host (Linux 6.18).  The kernel hands the driver only a program that
 * is another one, so this is another load of the same.  Returns 0, or a
 * positive errno with a text in '*errp', for the caller to free(). */
int
xdp_program_renew(struct xdp_program *prog, char **errp)
{
    struct xdp_settings settings = prog->current.settings;
    int error;

    *errp = NULL;
    if (!prog->front) {
        return xdp_program_replace(prog, &settings, errp);
    }
    xdp_diagnose_begin();
    error = xdp_front_renew(prog->front, prog->ifindex, prog->frags,
                            prog->link_fd);
    if (error) {
        *errp = xdp_diagnose_text(prog->ifname,
                                  "cannot renew the XDP program", error);
    }
    xdp_diagnose_end();
    return error;
}

/* Lets frames of 'queue' go to the AF_XDP socket 'xsk_fd', which must be bound
 * to that queue of the device: the kernel drops what reaches another.  Returns
 * 0 or a positive errno, E2BIG for a queue beyond those asked for. */
int
xdp_program_set_socket(struct xdp_program *prog, uint32_t queue, int xsk_fd)
{
    return bpf_map_update_elem(bpf_map__fd(prog->current.skel->maps.xsks),
                               &queue, &xsk_fd, BPF_ANY) ? errno : 0;
}

/* Drops frames of 'queue' from now on, counted.  A queue without a socket is
 * fine: the kernel empties the slot itself when the socket is closed.  Returns
 * 0 or a positive errno. */
int
xdp_program_clear_socket(struct xdp_program *prog, uint32_t queue)
{
    return bpf_map_delete_elem(bpf_map__fd(prog->current.skel->maps.xsks),
                               &queue) ? errno : 0;
}

/* Stores what the program has counted since it was attached, all CPUs
 * together, in 'counters', indexed by enum xdp_counter.  All are 0 if the
 * kernel does not tell. */
void
xdp_program_read_counters(const struct xdp_program *prog,
                          uint64_t counters[XDP_N_COUNTERS])
{
    int n_cpus = libbpf_num_possible_cpus();
    struct xdp_counters *per_cpu;
    uint32_t zero = 0;

    memset(counters, 0, XDP_N_COUNTERS * sizeof *counters);
    if (n_cpus <= 0) {
        return;
    }

    per_cpu = xcalloc(n_cpus, sizeof *per_cpu);
    if (!bpf_map_lookup_elem(bpf_map__fd(prog->current.skel->maps.counters),
                             &zero, per_cpu)) {
        for (int cpu = 0; cpu < n_cpus; cpu++) {
            for (int i = 0; i < XDP_N_COUNTERS; i++) {
                counters[i] += per_cpu[cpu].n[i];
            }
        }
    }
    free(per_cpu);
}

/* Returns the name of 'counter', as in the statistics column. */
const char *
xdp_counter_name(enum xdp_counter counter)
{
    return counter_names[counter];
}

/* Returns what 'counter' counts, in half a line. */
const char *
xdp_counter_description(enum xdp_counter counter)
{
    return counter_descriptions[counter];
}

/* Returns what the hints of the program that runs now begin with.  No hints
 * begin with it if the program writes none. */
uint64_t
xdp_program_cookie(const struct xdp_program *prog)
{
    return prog->current.cookie;
}

/* Returns the kernel's id of the program that the device runs: the front
 * program, where there is one. */
uint32_t
xdp_program_id(const struct xdp_program *prog)
{
    return prog->front ? xdp_front_id(prog->front) : prog->current.id;
}

/* Returns the kernel's id of the port's program, which replacing changes. */
uint32_t
xdp_program_port_id(const struct xdp_program *prog)
{
    return prog->current.id;
}

/* Returns the settings of the program that runs now. */
const struct xdp_settings *
xdp_program_settings(const struct xdp_program *prog)
{
    return &prog->current.settings;
}

/* Returns true if VLAN tags that the driver takes out of frames are put back
 * into them. */
bool
xdp_program_has_front(const struct xdp_program *prog)
{
    return prog->front != NULL;
}

/* Returns true if frames in several pieces of memory are taken. */
bool
xdp_program_has_frags(const struct xdp_program *prog)
{
    return prog->frags;
}

/* Returns the maps of the port's table, which are there from the first program
 * with a table on, and stay the same until xdp_program_detach(). */
const struct xdp_table_fds *
xdp_program_table_fds(const struct xdp_program *prog)
{
    return &prog->table;
}

/* Returns which build of the program runs now, a word for 'status'. */
const char *
xdp_program_variant(const struct xdp_program *prog)
{
    static const char *const names[] = {
        "plain", "hints", "table", "table,hints",
        "host", "hints,host", "table,host", "table,hints,host",
    };
    const struct xdp_settings *s = &prog->current.settings;

    return names[s->hints | s->table << 1 | (s->host != NULL) << 2];
}

/* Returns the mode in which the program is attached. */
enum xdp_attach_mode
xdp_program_mode(const struct xdp_program *prog)
{
    return prog->mode;
}
