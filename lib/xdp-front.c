/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "xdp-front.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "tags.skel.h"
#include "util.h"
#include "xdp-program.h"

struct xdp_front {
    struct tags *skel;
};

/* Has 'skel', which is not loaded yet, use the maps of 'old'. */
static int
share_maps(struct tags *skel, const struct tags *old)
{
    int error = -bpf_map__reuse_fd(skel->maps.counters,
                                   bpf_map__fd(old->maps.counters));

    if (!error) {
        error = -bpf_map__reuse_fd(skel->maps.front_note,
                                   bpf_map__fd(old->maps.front_note));
    }
    return (error ? error : -bpf_map__reuse_fd(skel->maps.next,
                                               bpf_map__fd(old->maps.next)));
}

/* Loads a program with the maps of 'old', or if that is NULL with its own.
 * Returns 0 and stores it in '*skelp', or a positive errno. */
static int
load(int ifindex, bool frags, const struct tags *old, struct tags **skelp)
{
    struct tags *skel = tags__open();
    int error;

    if (!skel) {
        return errno;
    }
    bpf_program__set_ifindex(skel->progs.afxdp_fast_tags, ifindex);
    error = -bpf_program__set_flags(skel->progs.afxdp_fast_tags,
                                    XDP_DEV_BOUND_ONLY
                                    | (frags ? BPF_F_XDP_HAS_FRAGS : 0));
    if (!error && old) {
        error = share_maps(skel, old);
    }
    if (!error) {
        error = -tags__load(skel);
    }
    if (error) {
        tags__destroy(skel);
        return error;
    }
    *skelp = skel;
    return 0;
}

/* Loads the front program for device 'ifindex'; 'frags' as for the program
 * behind it.  Returns 0 and stores it in '*frontp'; otherwise returns a
 * positive errno, mostly because the driver has no tags to give (tap), or the
 * kernel no way to ask or to call a plain program from there (before 6.15),
 * and stores NULL. */
int
xdp_front_load(int ifindex, bool frags, struct xdp_front **frontp)
{
    struct tags *skel;
    int error = load(ifindex, frags, NULL, &skel);

    *frontp = NULL;
    if (!error) {
        *frontp = xmalloc(sizeof **frontp);
        (*frontp)->skel = skel;
    }
    return error;
}

/* Puts a new load of 'front' into 'link_fd' in the place of the one that is
 * there; 'ifindex' and 'frags' as for xdp_front_load().  Returns 0 or a
 * positive errno, and then nothing has changed. */
int
xdp_front_renew(struct xdp_front *front, int ifindex, bool frags, int link_fd)
{
    LIBBPF_OPTS(bpf_link_update_opts, opts,
                .flags = BPF_F_REPLACE,
                .old_prog_fd = xdp_front_fd(front));
    struct tags *skel;
    int error = load(ifindex, frags, front->skel, &skel);

    if (error) {
        return error;
    }
    if (bpf_link_update(link_fd, bpf_program__fd(skel->progs.afxdp_fast_tags),
                        &opts)) {
        error = errno;
        tags__destroy(skel);
        return error;
    }
    tags__destroy(front->skel);
    front->skel = skel;
    return 0;
}

/* Frees 'front', which may be NULL.  A link keeps the program in the kernel
 * going. */
void
xdp_front_unload(struct xdp_front *front)
{
    if (front) {
        tags__destroy(front->skel);
        free(front);
    }
}

/* Returns the descriptor of the program, for a link. */
int
xdp_front_fd(const struct xdp_front *front)
{
    return bpf_program__fd(front->skel->progs.afxdp_fast_tags);
}

/* Returns the kernel's id of the program, 0 if it does not tell. */
uint32_t
xdp_front_id(const struct xdp_front *front)
{
    struct bpf_prog_info info = { .id = 0 };
    __u32 len = sizeof info;

    return (bpf_obj_get_info_by_fd(xdp_front_fd(front), &info, &len)
            ? 0 : info.id);
}

/* Return the maps that the program behind has to share: its counters, and
 * what it is told about each frame. */
int
xdp_front_counters_fd(const struct xdp_front *front)
{
    return bpf_map__fd(front->skel->maps.counters);
}

int
xdp_front_note_fd(const struct xdp_front *front)
{
    return bpf_map__fd(front->skel->maps.front_note);
}

/* Makes 'prog_fd' the program that the front program hands over to, from one
 * frame to the next.  It must take frames with frags if the front program
 * does, and only then.  Returns 0 or a positive errno. */
int
xdp_front_set_next(struct xdp_front *front, int prog_fd)
{
    uint32_t zero = 0;

    return (bpf_map_update_elem(bpf_map__fd(front->skel->maps.next), &zero,
                                &prog_fd, BPF_ANY) ? errno : 0);
}
