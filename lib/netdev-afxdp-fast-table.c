/* SPDX-License-Identifier: Apache-2.0 */

/* A port's prefix table and its program: what belongs to both. */

#include <config.h>
#include "netdev-afxdp-fast-private.h"

#include "netdev-provider.h"
#include "openvswitch/poll-loop.h"
#include "openvswitch/vlog.h"
#include "prefix-check.h"
#include "prefix-job.h"
#include "prefix-table.h"
#include "timeval.h"
#include "xdp-port.h"
#include "xdp-program.h"
#include "xdp-targets.h"

VLOG_DEFINE_THIS_MODULE(netdev_afxdp_fast_table);

static struct vlog_rate_limit rl = VLOG_RATE_LIMIT_INIT(5, 20);

/* How often to look whether the program is what it has to be: the device's
 * features change without a word to us, and what has failed may work now. */
#define LOOK_MS 1000

/* Lets the prefix table know the memory of the program that runs now. */
void
netdev_afxdp_fast_connect_table(struct netdev_afxdp_fast *dev)
{
    const struct xdp_table_fds none = XDP_TABLE_FDS_NONE;
    const struct xdp_table_fds *fds;

    fds = (dev->port && dev->port->program && dev->port->table
           ? xdp_program_table_fds(dev->port->program) : &none);
    prefix_table_set_maps(dev->prefixes, fds->tables, fds->hits, fds->live);
}

/* Brings the program of 'dev', which is open, to 'config', and to whether
 * there is a prefix table.  Returns NULL or what is wrong, which the caller
 * frees. */
char *
netdev_afxdp_fast_change_program(struct netdev_afxdp_fast *dev,
                                 const struct port_config *config)
{
    bool table = prefix_table_is_wanted(dev->prefixes);
    const struct xdp_port *port = dev->port;
    char *error = NULL;

    if (config->hints != port->config.hints
        || config->malformed_drop != port->config.malformed_drop
        || !port_config_same_host(config, &port->config)
        || table != port->table
        || (table && !xdp_port_program_fits(port))) {
        ovs_mutex_lock(&dev->mutex);
        xdp_port_set_program(dev->port, config, table, &error);
        ovs_mutex_unlock(&dev->mutex);
        netdev_afxdp_fast_connect_table(dev);
        netdev_change_seq_changed(&dev->lin.up);
    }
    return error;
}

/* Brings the program of 'dev' to what its table and its device have become. */
static void
run_table(struct netdev_afxdp_fast *dev)
{
    bool changed = prefix_table_run(dev->prefixes);

    if (dev->port && time_msec() >= dev->next_look
        && (dev->port->table || prefix_table_is_wanted(dev->prefixes))) {
        char *error = netdev_afxdp_fast_change_program(dev,
                                                       &dev->port->config);

        if (error) {
            VLOG_WARN_RL(&rl, "%s", error);
            free(error);
        }
        dev->next_look = time_msec() + LOOK_MS;
    }
    if (dev->port && dev->port->table) {
        poll_timer_wait_until(dev->next_look);
    }
    prefix_table_wait(dev->prefixes);
    if (changed) {
        netdev_change_seq_changed(&dev->lin.up);
    }
}

/* Does what is to be done for prefix tables in each round of the main loop,
 * before it sleeps. */
void
netdev_afxdp_fast_run_tables(void)
{
    struct netdev_afxdp_fast *dev = NULL;

    xdp_targets_run();
    while ((dev = netdev_afxdp_fast_next(dev)) != NULL) {
        run_table(dev);
    }
    prefix_jobs_reap();
    if (prefix_check_run()) {
        poll_immediate_wake();
    }
    prefix_check_wait();
    xdp_targets_wait();
}
