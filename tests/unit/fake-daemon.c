/* SPDX-License-Identifier: Apache-2.0 */

/* A daemon with the commands of afxdp-fast ports, which are fakes: for tests
 * of what asks it.  Its pid file and its socket are those of ovs-vswitchd, in
 * OVS_RUNDIR.
 *
 * usage: fake-daemon [PORT=PREFIX-FILE]... */

#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "appctl-command.h"
#include "daemon.h"
#include "netdev-afxdp-fast-private.h"
#include "openvswitch/poll-loop.h"
#include "openvswitch/vlog.h"
#include "prefix-appctl.h"
#include "prefix-check.h"
#include "unixctl.h"
#include "util.h"

#include "fake-prefix-table.h"

static bool exiting;
static bool held;                   /* Changes and dry runs are never
                                     * done. */

static void
do_exit(struct appctl_asker asker, int argc OVS_UNUSED,
        const char *argv[] OVS_UNUSED)
{
    exiting = true;
    appctl_reply(asker, "");
}

static void
do_hold(struct appctl_asker asker, int argc OVS_UNUSED,
        const char *argv[] OVS_UNUSED)
{
    held = true;
    appctl_reply(asker, "");
}

static const struct appctl_command commands[] = {
    { "afxdp-fast/show", "[PORT]", 0, 1, netdev_afxdp_fast_show },
    { "afxdp-fast/stats", "[PORT]", 0, 1, netdev_afxdp_fast_stats },
    { "fake/exit", "", 0, 0, do_exit },
    { "fake/hold", "", 0, 0, do_hold },
};

static void
set_files(int argc, char *argv[])
{
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '=');

        *equals = '\0';
        fake_port_set_file(argv[i], equals + 1);
    }
}

int
main(int argc, char *argv[])
{
    struct unixctl_server *server;

    set_program_name("ovs-vswitchd");
    vlog_set_levels(NULL, VLF_ANY_DESTINATION, VLL_OFF);
    fake_ports_create();
    fake_ports_defer(true);
    set_files(argc, argv);
    set_pidfile(NULL);
    daemonize();
    if (unixctl_server_create(NULL, &server)) {
        return EXIT_FAILURE;
    }
    appctl_commands_register(commands, ARRAY_SIZE(commands));
    prefix_appctl_init();
    while (!exiting) {
        unixctl_server_run(server);
        if ((!held && (prefix_check_run() || fake_ports_run())) || exiting) {
            poll_immediate_wake();
        }
        if (!held) {
            prefix_check_wait();
        }
        unixctl_server_wait(server);
        poll_block();
    }
    fake_ports_destroy();
    unixctl_server_destroy(server);
    return EXIT_SUCCESS;
}
