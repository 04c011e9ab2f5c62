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
    printf("usage: %s [RUNDIR | FILE]\n"
           "Puts back what an ovs-vswitchd with ports of type afxdp-fast has "
           "changed on\n"
           "devices for busy polling, where it was killed before it could do "
           "so itself:\n"
           "defer-hard-irqs and gro-flush-timeout of NAPIs or devices.  What "
           "somebody else\n"
           "has changed since is left alone.\n\n"
           "RUNDIR is the run-time folder of that daemon (%s),\n"
           "with its state file, %s.  FILE is another such file: one\n"
           "that a daemon could not use it keeps there as %s.kept.\n"
           "The network namespace must be the one that the file is about, and "
           "no daemon of\n"
           "that folder must be running in it.\n\n"
           "  -h, --help   this text\n\n"
           "Exit status: 0 if nothing is left to put back, 1 otherwise.\n",
           program_name, ovs_rundir(), NAPI_HOLDS_FILE, NAPI_HOLDS_FILE);
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

/* Returns the state file that 'place' is, or is the folder of. */
static char *
find_file(const char *place)
{
    struct stat s;

    if (stat(place, &s)) {
        ovs_fatal(errno, "%s", place);
    } else if (S_ISDIR(s.st_mode)) {
        return xasprintf("%s/%s", place, NAPI_HOLDS_FILE);
    } else if (!S_ISREG(s.st_mode)) {
        ovs_fatal(0, "%s: must be a folder or a file", place);
    }
    return xstrdup(place);
}

/* Returns false if the process is in another network namespace for sure. */
static bool
is_in_our_netns(pid_t pid)
{
    char *path = xasprintf("/proc/%ld/ns/net", (long int) pid);
    struct stat ours, its;
    bool same = (stat("/proc/self/ns/net", &ours) || stat(path, &its)
                 || (ours.st_ino == its.st_ino && ours.st_dev == its.st_dev));

    free(path);
    return same;
}

/* Ends the program if the daemon of the folder that 'file' is in runs here:
 * that one looks after its devices itself. */
static void
check_daemon(const char *file)
{
    char *rundir = dir_name(file);
    char *pidfile = xasprintf("%s/ovs-vswitchd.pid", rundir);
    pid_t pid = read_pidfile(pidfile);

    if (pid > 0 && is_in_our_netns(pid)) {
        ovs_fatal(0, "%s: ovs-vswitchd is running (process %ld)", rundir,
                  (long int) pid);
    }
    free(pidfile);
    free(rundir);
}

int
main(int argc, char *argv[])
{
    static const struct option options[] = {
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    char *file, *error;
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
        ovs_fatal(0, "%s: one RUNDIR or FILE only; see --help",
                  argv[optind + 1]);
    }
    set_up_log();
    file = find_file(optind < argc ? argv[optind] : ovs_rundir());
    check_daemon(file);
    error = napi_holds_load(file);
    if (error) {
        ovs_fatal(0, "%s", error);
    }
    free(file);
    napi_holds_settle();
    return napi_holds_are_waiting() ? EXIT_FAILURE : 0;
}
