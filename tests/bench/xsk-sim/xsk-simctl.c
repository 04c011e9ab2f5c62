/* SPDX-License-Identifier: Apache-2.0 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char usage[] =
"usage: xsk-simctl COMMAND...\n"
"\n"
"Tells the ring simulator, a simulation of AF_XDP sockets inside another\n"
"process, at the socket $XSK_SIM_CONTROL:\n"
"\n"
"  set KEY=VALUE...        the shape of what arrives:\n"
"      size=LEN[:SHARE],...  lengths without FCS (64)\n"
"      flows=N             1 to 1048576 (1)\n"
"      dist=uniform|zipf:EXPONENT\n"
"      rate=N              frames a second and queue; 0: all that go (0)\n"
"      burst=N             frames that arrive together (32)\n"
"      verify=0|1          sequence and checksum in each frame (0); not\n"
"                          together with hints\n"
"      hints=0|1           hints in front of each, as the program of an\n"
"                          afxdp-fast port does; from \"start\" on (0)\n"
"      seed=N              of all that is drawn\n"
"  start [DEV...]          let frames arrive; DEV may be a pattern, and one\n"
"                          that no socket matches is an error\n"
"  stop [DEV...]\n"
"  stats                   counters of each socket, JSON\n"
"  measure SECONDS         rates of all together, JSON\n"
"  fault DEV KEY=VALUE...  for the sockets that are bound now, until it is\n"
"                          set to 0; later ones have none:\n"
"      completion_delay=N  hold the last N frames back\n"
"      completion_reverse=1  complete each batch backwards\n"
"      starve=1            take all frames, deliver none\n"
"      wakeup=1|2          need_wakeup: 1 for tx, 2 for fill, too\n"
"      kick_budget=N       with wakeup: N frames a sendto, then EAGAIN\n"
"      eagain=N            each Nth sendto does nothing: EAGAIN\n"
"      enxio=1             the device is gone\n"
"      napi=ID             the kernel knows the NAPI of queue 0 and, with\n"
"                          the ids that follow, those of the others\n";

int
main(int argc, char *argv[])
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const char *path = getenv("XSK_SIM_CONTROL");
    char line[1024] = "";
    bool failed = false;
    FILE *stream;
    int fd;

    if (argc < 2 || !strcmp(argv[1], "--help")) {
        fputs(usage, argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : 0;
    } else if (!path) {
        fputs("xsk-simctl: XSK_SIM_CONTROL is not set: the simulator's "
              "control socket (see --help)\n", stderr);
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        if (strlen(line) + strlen(argv[i]) + 2 > sizeof line) {
            fprintf(stderr, "xsk-simctl: too many words\n");
            return 2;
        }
        strcat(line, argv[i]);
        strcat(line, i < argc - 1 ? " " : "\n");
    }
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *) &address, sizeof address)) {
        perror(path);
        return 1;
    }
    stream = fdopen(fd, "r+");
    fputs(line, stream);
    fflush(stream);
    for (bool any = false; ; any = true) {
        if (!fgets(line, sizeof line, stream)) {
            return failed || !any;
        }
        failed = failed || !strncmp(line, "error:", 6);
        fputs(line, failed ? stderr : stdout);
    }
}
