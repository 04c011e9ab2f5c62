/* SPDX-License-Identifier: Apache-2.0 */

/* Puts back what an ovs-vswitchd that was killed has changed on devices for
 * busy polling.  It needs no daemon, and shares all but main() with it. */

#include <config.h>

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "daemon.h"
#include "dirs.h"
#include "napi-hold.h"
#include "openvswitch/vlog.h"
#include "util.h"

static void
usage(void)
{
    printf("usage: %s [RUNDIR]\n"
           "Puts back what an ovs-vswitchd with ports of type afxdp-fast has "
           "changed on\n"
           "devices for busy polling, where it was killed before it could do "
           "so itself:\n"
           "defer-hard-irqs and gro-flush-timeout of NAPIs or devices.  What "
           "somebody else\n"
           "has changed since is left alone.\n\n"
           "RUNDIR is the run-time folder of that daemon (%s).\n"
           "The daemon must not be running; the network namespace must be "
           "the daemon's.\n\n"
           "  -h, --help   this text\n\n"
           "Exit status: 0 if nothing is left to put back, 1 otherwise.\n",
           program_name, ovs_rundir());
}

/* Only what is put back, and what is not, is of interest. */
static void
set_up_log(void)
{
    vlog_set_levels(NULL, VLF_ANY_DESTINATION, VLL_OFF);
    vlog_set_levels(vlog_module_from_name("napi_hold"), VLF_CONSOLE,
                    VLL_INFO);
    vlog_set_pattern(VLF_CONSOLE, "%A: %m");
}

/* Ends the program if 'rundir' is none, or if its daemon runs: that one looks
 * after its devices itself. */
static void
check_rundir(const char *rundir)
{
    char *pidfile = xasprintf("%s/ovs-vswitchd.pid", rundir);
    struct stat s;
    pid_t pid;

    if (stat(rundir, &s)) {
        ovs_fatal(errno, "%s", rundir);
    } else if (!S_ISDIR(s.st_mode)) {
        ovs_fatal(0, "%s: must be a folder", rundir);
    }
    pid = read_pidfile(pidfile);
    if (pid > 0) {
        ovs_fatal(0, "%s: ovs-vswitchd is running (process %ld)", rundir,
                  (long int) pid);
    }
    free(pidfile);
}

int
main(int argc, char *argv[])
{
    static const struct option options[] = {
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    const char *rundir;
    char *error;
    int c;

    set_program_name(argv[0]);
    while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (c != 'h') {
            exit(EXIT_FAILURE); /* getopt_long() has said why. */
        }
        usage();
        return 0;
    }
    if (argc > optind + 1) {
        ovs_fatal(0, "%s: one RUNDIR only; see --help", argv[optind + 1]);
    }
    rundir = optind < argc ? argv[optind] : ovs_rundir();
    set_up_log();
    check_rundir(rundir);
    if (napi_holds_load(rundir, &error)) {
        ovs_fatal(0, "%s", error);
    }
    napi_holds_settle();
    return napi_holds_are_waiting() ? EXIT_FAILURE : 0;
}
