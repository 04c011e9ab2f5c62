/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "xdp-port.h"

#include <errno.h>
#include <net/if.h>

#include "busy-poll.h"
#include "host-shield.h"
#include "netdev-probe.h"
#include "netdev-tags.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/vlog.h"
#include "target-watch.h"
#include "util.h"
#include "xdp-port-queues.h"
#include "xdp-program.h"
#include "xsk.h"

VLOG_DEFINE_THIS_MODULE(xdp_port);

/* Brings busy polling on all queues to what is configured, as far as that is
 * possible now.  Returns true if it is not as it was before.  To be called
 * every second; main thread, others may receive and send meanwhile. */
bool
xdp_port_update_busy_poll(struct xdp_port *port)
{
    bool changed = false;

    for (uint32_t i = 0; i < port->n_queues; i++) {
        if (busy_poll_update(port->queues[i], port->ifindex,
                             port->config.busy_poll)) {
            VLOG_INFO("%s: queue %"PRIu32": busy polling is %s", port->ifname,
                      i, busy_poll_status(port->queues[i]));
            changed = true;
        }
    }
    return changed;
}

/* Modes. */

static enum xdp_attach_mode
attach_mode(enum xdp_mode mode)
{
    return (mode == XDP_MODE_GENERIC
            ? XDP_ATTACH_GENERIC : XDP_ATTACH_NATIVE);
}

static enum xsk_copy_mode
copy_mode(enum xdp_mode mode)
{
    return mode == XDP_MODE_NATIVE_ZEROCOPY ? XSK_ZEROCOPY : XSK_COPY;
}

static bool
is_veth(int ifindex)
{
    struct target_device device;

    return !target_watch_probe(ifindex, &device) && device.veth;
}

/* Returns why the kernel, by its own word, cannot do 'mode' on the device, or
 * NULL if it can or does not tell.  The caller frees it. */
static char *
explain_lack(const struct xdp_port *port, enum xdp_mode mode)
{
    uint64_t features, needed;

    needed = (mode == XDP_MODE_NATIVE_ZEROCOPY ? NETDEV_XDP_XSK_ZEROCOPY
              : mode == XDP_MODE_NATIVE ? NETDEV_XDP_BASIC
              : 0);
    if (!needed || !netdev_probe_xdp_features(port->ifindex, &features)
        || features & needed) {
        return NULL;
    }
    return xasprintf("%s: the driver does not offer %s%s", port->ifname,
                     mode == XDP_MODE_NATIVE
                     ? "native XDP" : "AF_XDP zero copy",
                     mode == XDP_MODE_NATIVE && is_veth(port->ifindex)
                     ? ", as is so of a veth with fewer rx queues than its "
                       "other end has tx queues; see \"ethtool -l\" of both"
                     : "");
}

/* Returns true if 'error' is about more than the mode that was tried. */
static bool
is_hopeless(int error)
{
    return (error == EBUSY || error == EPERM || error == EACCES
            || error == ENOBUFS || error == ENOMEM || error == ENODEV);
}

static void
detach_program(struct xdp_port *port)
{
    xdp_program_detach(port->program);
    port->program = NULL;
}

/* Returns true if the program is to write hints, in the mode it is in. */
static bool
wants_hints(const struct xdp_port *port)
{
    return (port->config.hints == HINTS_ON
            || (port->config.hints == HINTS_AUTO
                && port->copy_mode == XSK_ZEROCOPY));
}

/* What the program is to do, in the mode that the port is in. */
static struct xdp_settings
wanted_settings(const struct xdp_port *port)
{
    return (struct xdp_settings) {
        .hints = wants_hints(port),
        .table = port->table,
        .malformed_drop = port->config.malformed_drop,
        .host = port->config.host_pass ? port->host : NULL,
        .tags_hidden = (port->table
                        && netdev_probe_may_hide_tags(port->ifname,
                                                      port->ifindex)),
    };
}

static bool
settings_equal(const struct xdp_settings *a, const struct xdp_settings *b)
{
    return (a->hints == b->hints
            && a->table == b->table
            && a->malformed_drop == b->malformed_drop
            && a->tags_hidden == b->tags_hidden
            && a->host == b->host);
}

/* Brings the program to wanted_settings(), by putting another one in its
 * place, without a gap.  Those that receive meanwhile pass over the hints of
 * the program that is gone. */
static int
update_program(struct xdp_port *port, char **errp)
{
    struct xdp_settings settings = wanted_settings(port);
    int error;

    if (settings_equal(xdp_program_settings(port->program), &settings)) {
        return 0;
    }
    error = xdp_program_replace(port->program, &settings, errp);
    for (uint32_t i = 0; !error && i < port->n_queues; i++) {
        xdp_port_accept_hints(port, port->queues[i]);
    }
    return error;
}

/* Attaches the program.  One with a table takes frames in several pieces,
 * which it can redirect though no socket takes them, where the kernel lets
 * it (5.18). */
static int
attach_program(struct xdp_port *port, char **errp)
{
    struct xdp_program_opts opts = {
        .ifname = port->ifname,
        .ifindex = port->ifindex,
        .mode = attach_mode(port->mode),
        .n_queues = PORT_MAX_RXQ,
        .frags = port->table && attach_mode(port->mode) == XDP_ATTACH_NATIVE,
        .settings = wanted_settings(port),
    };
    int error;

    error = xdp_program_attach(&opts, &port->program, errp);
    if (error == EINVAL && opts.frags) {
        free(*errp);
        opts.frags = false;
        error = xdp_program_attach(&opts, &port->program, errp);
    }
    for (uint32_t i = 0; !error && i < port->n_queues; i++) {
        error = xdp_port_enter_queue(port, i, errp);
    }
    return error;
}

/* Opens all queues and attaches the program in 'mode', as far as that is not
 * done by a mode tried before.  The sockets come first: should they fail, the
 * device has not been touched (attaching may take its link down and up, and
 * OVS tries a port again when its link changes). */
static int
try_mode(struct xdp_port *port, enum xdp_mode mode, uint32_t n_queues,
         char **errp)
{
    int error;

    *errp = explain_lack(port, mode);
    if (*errp) {
        return EOPNOTSUPP;
    }
    if (port->copy_mode != copy_mode(mode)) {
        xdp_port_close_queues(port, 0);
    }
    if (port->program
        && (xdp_program_mode(port->program) != attach_mode(mode)
            || xdp_program_link_state(port->program) == XDP_LINK_GONE)) {
        detach_program(port);
    }
    port->mode = mode;
    port->copy_mode = copy_mode(mode);
    error = xdp_port_set_n_queues(port, n_queues, errp);
    if (error) {
        return error;
    }
    return (port->program
            ? update_program(port, errp) : attach_program(port, errp));
}

static void
detach(struct xdp_port *port)
{
    xdp_port_close_queues(port, 0);
    detach_program(port);
}

/* Returns why best-effort does not take zero copy, which the driver may well
 * offer, for 'port', or NULL if it does.  The kernel copies each frame that a
 * zero-copy queue redirects or hands to the host, to a page that it allocates;
 * in copy mode it copies those that go to OVS instead.  A port with a table is
 * there for the former.  The caller frees it. */
static char *
explain_choice(const struct xdp_port *port)
{
    return (port->table
            ? xasprintf("not for a port with a prefix table: each frame that "
                        "is redirected would be copied; where most go to OVS "
                        "take it with \"ovs-vsctl set interface %s "
                        "options:xdp-mode=native-with-zerocopy\"",
                        port->ifname)
            : NULL);
}

/* Brings the port up in 'wanted', the configured mode or the one it was in; of
 * best-effort, in the best that works.  On failure nothing is left on the
 * device, and '*errp' has the reason for each mode that was tried. */
static int
attach(struct xdp_port *port, enum xdp_mode wanted, uint32_t n_queues,
       char **errp)
{
    enum xdp_mode first = wanted, last = wanted;
    struct ds reasons = DS_EMPTY_INITIALIZER;
    int error = 0;

    if (first == XDP_MODE_BEST_EFFORT) {
        first = XDP_MODE_NATIVE_ZEROCOPY;
        last = XDP_MODE_GENERIC;
    }
    for (enum xdp_mode mode = first; mode <= last; mode++) {
        char *reason = NULL;

        if (mode == XDP_MODE_NATIVE_ZEROCOPY && mode != wanted) {
            reason = explain_lack(port, mode);
            if (!reason) {
                reason = explain_choice(port);
            }
        }
        error = (reason ? EOPNOTSUPP
                 : try_mode(port, mode, n_queues, &reason));
        if (!error) {
            break;
        }
        ds_put_format(&reasons, "%s%s: %s", reasons.length ? "; " : "",
                      xdp_mode_to_string(mode), reason);
        free(reason);
        if (is_hopeless(error)) {
            break;
        }
    }

    if (error) {
        detach(port);
        *errp = ds_steal_cstr(&reasons);
    } else if (wanted == port->config.xdp_mode) {
        free(port->fallback_reason);
        port->fallback_reason = (reasons.length
                                 ? ds_steal_cstr(&reasons) : NULL);
    }
    ds_destroy(&reasons);
    return error;
}

/* Puts the program, one with a prefix table if 'table', and the sockets on
 * device 'ifname' as 'config' says.  'host' is there if 'config' asks for
 * host-traffic=pass, and stays as long as the port does.
 *
 * On success returns 0 and stores the port in '*portp'.  On failure returns a
 * positive errno, stores NULL, and stores why in '*errp', which the caller
 * frees; the device is then as it was. */
int
xdp_port_open(const char *ifname, int ifindex, int numa_node,
              const struct port_config *config, bool table,
              const struct host_maps *host, struct xdp_port **portp,
              char **errp)
{
    struct xdp_port *port = xzalloc(sizeof *port);
    uint32_t n_queues;
    int error;

    port->ifname = xstrdup(ifname);
    port->ifindex = ifindex;
    port->numa_node = MAX(numa_node, 0);
    port->config = *config;
    port->table = table;
    port->host = host;
    if (!ifindex) {
        *errp = xasprintf("%s: there is no such device", ifname);
        error = ENODEV;
    } else if (!netdev_probe_is_ethernet(ifname)) {
        *errp = xasprintf("%s is not an Ethernet device: only those can be "
                          "ports of type afxdp-fast", ifname);
        error = EOPNOTSUPP;
    } else {
        error = xdp_port_resolve_queues(port, config, &n_queues, errp);
    }
    if (!error) {
        error = attach(port, config->xdp_mode, n_queues, errp);
    }
    if (error) {
        xdp_port_close(port);
        port = NULL;
    } else {
        xdp_port_look_at_queues(port);
        xdp_port_update_busy_poll(port);
    }
    *portp = port;
    return error;
}

static bool
needs_new_sockets(const struct port_config *a, const struct port_config *b)
{
    return (a->xdp_mode != b->xdp_mode
            || a->n_rxq_desc != b->n_rxq_desc
            || a->n_txq_desc != b->n_txq_desc
            || a->n_frames != b->n_frames);
}

/* Replaces all sockets, and the program where another mode is asked for.  The
 * queues are gone in between: their frames are dropped, also between the
 * programs of two modes, which the kernel does not let be there at once.  With
 * the same mode the port stays in what best-effort has chosen before: trying
 * better ones would take the program off. */
static int
replace_sockets(struct xdp_port *port, const struct port_config *config,
                uint32_t n_queues, char **errp)
{
    struct port_config old = port->config;
    enum xdp_mode old_mode = port->mode;
    uint32_t n_old = port->n_queues;
    struct host_shield *shield = NULL;
    int error;

    xdp_port_close_queues(port, 0);
    if (config->xdp_mode != old.xdp_mode) {
        shield = host_shield_raise(port->ifindex);
    }
    port->config = *config;
    port->config.hints = old.hints;
    port->config.busy_poll = old.busy_poll;
    port->config.malformed_drop = old.malformed_drop;
    port_config_copy_host(&port->config, &old);
    error = attach(port, (config->xdp_mode == old.xdp_mode
                          ? old_mode : config->xdp_mode), n_queues, errp);
    if (error) {
        char *again = NULL;

        port->config = old;
        if (attach(port, old_mode, n_old, &again)) {
            VLOG_ERR("%s: port is down: neither the new options work nor "
                     "those in force before: %s", port->ifname, again);
            free(again);
        }
    }
    port->n_shielded += host_shield_lower(shield);
    return error;
}

/* Returns false if there is no program to bring to anything: it comes with
 * xdp_port_restore() or xdp_port_reattach(). */
static bool
program_is_live(const struct xdp_port *port)
{
    return (port->program
            && xdp_program_link_state(port->program) != XDP_LINK_GONE);
}

/* Brings the program to what 'config' says of it, and whether it has a prefix
 * 'table', without a gap.  Returns 0, or a positive errno and why in '*errp',
 * which the caller frees; nothing has changed then.  Main thread; others may
 * receive and send meanwhile. */
int
xdp_port_set_program(struct xdp_port *port, const struct port_config *config,
                     bool table, char **errp)
{
    struct port_config old = port->config;
    bool old_table = port->table;
    int error;

    port->config.hints = config->hints;
    port->config.malformed_drop = config->malformed_drop;
    port_config_copy_host(&port->config, config);
    port->table = table;
    error = program_is_live(port) ? update_program(port, errp) : 0;
    if (error) {
        port->config = old;
        port->table = old_table;
    }
    return error;
}

/* Returns true if the program is the one for what is configured and for what
 * the device's features are now.  Main thread. */
bool
xdp_port_program_fits(const struct xdp_port *port)
{
    struct xdp_settings settings;

    if (!program_is_live(port)) {
        return true;
    }
    settings = wanted_settings(port);
    return settings_equal(xdp_program_settings(port->program), &settings);
}

/* Returns true if the program may not see VLAN tags of frames.  Main
 * thread. */
bool
xdp_port_hides_tags(const struct xdp_port *port)
{
    return (port->program
            && xdp_program_settings(port->program)->tags_hidden
            && !xdp_program_has_front(port->program));
}

/* Stores what the program has counted since it was attached, and what was
 * dropped while there was none, in 'counters'.  Returns false if there is no
 * program.  Main thread, or the port locked against it; others may receive and
 * send meanwhile. */
bool
xdp_port_read_counters(const struct xdp_port *port,
                       uint64_t counters[XDP_N_COUNTERS])
{
    if (!port->program) {
        return false;
    }
    xdp_program_read_counters(port->program, counters);
    counters[XDP_C_DROP_NO_PROGRAM] += port->n_shielded;
    return true;
}

/* Turns busy polling on or off, where it can be on.  Main thread; others may
 * receive and send meanwhile. */
void
xdp_port_set_busy_poll(struct xdp_port *port, bool busy_poll)
{
    port->config.busy_poll = busy_poll;
    xdp_port_update_busy_poll(port);
}

/* Returns true if 'config' fits the device of 'port' as far as can be seen
 * without touching it; otherwise false, and why not in '*errp', which the
 * caller frees. */
bool
xdp_port_check(const struct xdp_port *port, const struct port_config *config,
               char **errp)
{
    uint32_t n_queues;

    if (!port->n_queues) {
        return true;            /* xdp_port_restore() will see. */
    }
    if (config->xdp_mode != port->mode) {
        char *lack = explain_lack(port, config->xdp_mode);

        if (lack) {
            char *native = explain_lack(port, XDP_MODE_NATIVE);

            *errp = xasprintf("xdp-mode=%s: %s; must be best-effort, %s"
                              "generic", xdp_mode_to_string(config->xdp_mode),
                              lack, native ? "or " : "native or ");
            free(native);
            free(lack);
            return false;
        }
    }
    return !xdp_port_resolve_queues(port, config, &n_queues, errp);
}

/* Brings 'port' to 'config'.  Returns 0, or a positive errno and why in
 * '*errp', which the caller frees; the port then goes on with what was in
 * force, or, should the device refuse that too, has no queues; one without
 * them takes 'config' for xdp_port_restore().  Only what
 * differs is touched: the number of queues changes without a gap on those
 * that stay.  What belongs to the program, and busy polling, are not looked
 * at: they have functions of their own, above. */
int
xdp_port_reconfigure(struct xdp_port *port, const struct port_config *config,
                     char **errp)
{
    uint32_t n_queues;
    int error;

    if (!port->n_queues) {
        port->config = *config;
        return 0;
    }
    error = xdp_port_resolve_queues(port, config, &n_queues, errp);
    if (error) {
        return error;
    }
    if (needs_new_sockets(&port->config, config)) {
        error = replace_sockets(port, config, n_queues, errp);
    } else {
        error = xdp_port_set_n_queues(port, n_queues, errp);
        if (!error) {
            port->config.n_rxq = config->n_rxq;
        }
    }
    xdp_port_update_busy_poll(port);
    return error;
}

/* Takes the sockets and the program off the device, wherever that is now.  The
 * port then has no queues until xdp_port_restore(). */
void
xdp_port_release(struct xdp_port *port)
{
    detach(port);
}

/* Puts the program and the sockets on the device that has the port's name now,
 * as they were configured; on a port without queues.  Returns 0, or a positive
 * errno and why in '*errp', which the caller frees: the port then still has no
 * queues. */
int
xdp_port_restore(struct xdp_port *port, char **errp)
{
    uint32_t n_queues;
    int error;

    port->ifindex = if_nametoindex(port->ifname);
    error = (port->ifindex
             ? xdp_port_resolve_queues(port, &port->config, &n_queues, errp)
             : ENODEV);
    if (error == ENODEV || (!error && !n_queues)) {
        *errp = xasprintf("%s: there is no such device", port->ifname);
        return ENODEV;
    }
    if (!error) {
        error = attach(port, port->config.xdp_mode, n_queues, errp);
    }
    if (!error) {
        xdp_port_look_at_queues(port);
        xdp_port_update_busy_poll(port);
    }
    return error;
}

/* Attaches the program that somebody has taken off the device.  Returns 0, or
 * a positive errno and why in '*errp', which the caller frees.  Main thread;
 * others may receive and send meanwhile. */
int
xdp_port_reattach(struct xdp_port *port, char **errp)
{
    int error = xdp_program_reattach(port->program, errp);

    return error ? error : update_program(port, errp);
}

/* Takes the sockets and the program off the device; NULL is allowed. */
void
xdp_port_close(struct xdp_port *port)
{
    if (port) {
        detach(port);
        free(port->queues);
        free(port->fallback_reason);
        free(port->ifname);
        free(port);
    }
}
