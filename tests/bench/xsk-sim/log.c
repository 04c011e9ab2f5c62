/* SPDX-License-Identifier: Apache-2.0 */

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nic.h"

/* What is said goes to XSK_SIM_LOG, since a daemon has no stderr. */
static void
log_va(const char *format, va_list args)
{
    const char *name = getenv("XSK_SIM_LOG");
    char line[512];
    int fd, n;

    n = snprintf(line, sizeof line, "xsk-sim (simulation): ");
    vsnprintf(line + n, sizeof line - n - 1, format, args);
    strcat(line, "\n");
    fd = name ? open(name, O_WRONLY | O_CREAT | O_APPEND, 0644) : -1;
    if (write(fd >= 0 ? fd : STDERR_FILENO, line, strlen(line)) < 0) {
        /* There is nowhere else to say it. */
    }
    if (fd >= 0) {
        close(fd);
    }
}

/* Says something about the simulation.  Any thread. */
void
nic_log(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_va(format, args);
    va_end(args);
}

/* Says which rule the program has broken by way of 's', and ends it. */
void
nic_broken(const struct sim_socket *s, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    nic_log("BROKEN: %s queue %u: %s", s->ifname[0] ? s->ifname : "socket",
            s->queue, text);
    _exit(70);
}
