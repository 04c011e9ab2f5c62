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

/* Loads the front program for device 'ifindex'; 'frags' as for the program
 * behind it.  Returns 0 and stores it in '*frontp'; otherwise returns a
 * positive errno, mostly because the driver has no tags to give (tap), or the
 * kernel no way to ask or to call a plain program from there (before 6.15),
 * and stores NULL. */
int
xdp_front_load(int ifindex, bool frags, struct xdp_front **frontp)
{
    struct tags *skel = tags__open();
    int error;

    *frontp = NULL;
    if (!skel) {
        return errno;
    }
    bpf_program__set_ifindex(skel->progs.afxdp_fast_tags, ifindex);
    error = -bpf_program__set_flags(skel->progs.afxdp_fast_tags,
                                    XDP_DEV_BOUND_ONLY
                                    | (frags ? BPF_F_XDP_HAS_FRAGS : 0));
    if (!error) {
        error = -tags__load(skel);
    }
    if (error) {
        tags__destroy(skel);
        return error;
    }
    *frontp = xmalloc(sizeof **frontp);
    (*frontp)->skel = skel;
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
