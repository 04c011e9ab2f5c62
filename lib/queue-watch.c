/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "queue-watch.h"

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include "netlink-notifier.h"
#include "netlink-socket.h"
#include "openvswitch/ofpbuf.h"
#include "util.h"

/* NULL if the kernel has no such family.  It stays as long as the process. */
static struct nln *nln;
static unsigned int group;

/* What parse() leaves: is the message about channels? */
static bool about_channels;

static bool changed;            /* Since the last queue_watch_run(). */

static int
parse(struct ofpbuf *buf, void *change OVS_UNUSED)
{
    const struct genlmsghdr *genl = ofpbuf_at(buf, NLMSG_HDRLEN, sizeof *genl);

    about_channels = genl && genl->cmd == ETHTOOL_MSG_CHANNELS_NTF;
    return group;
}

/* 'change' is NULL if messages have been lost. */
static void
note_change(const void *change, void *aux OVS_UNUSED)
{
    changed = changed || !change || about_channels;
}

static void
start(void)
{
    if (!nl_lookup_genl_mcgroup(ETHTOOL_GENL_NAME, ETHTOOL_MCGRP_MONITOR_NAME,
                                &group)) {
        nln = nln_create(NETLINK_GENERIC, parse, &about_channels);
        nln_notifier_create(nln, group, note_change, NULL);
    }
}

/* Returns true if the queues of a device may have changed since the last
 * call. */
bool
queue_watch_run(void)
{
    static bool started;
    bool result;

    if (!started) {
        started = true;
        start();
    }
    if (nln) {
        nln_run(nln);
    }
    result = changed;
    changed = false;
    return result;
}

/* Wakes the poll loop when queue_watch_run() has something to do. */
void
queue_watch_wait(void)
{
    if (nln) {
        nln_wait(nln);
    }
}
