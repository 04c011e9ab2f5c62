/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "text-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util.h"

/* The first buffer where a file does not tell its size, as in /proc. */
#define MIN_BUFFER 4096

/* Reads up to the end, or one byte more than 'max'.  Returns 0 or a positive
 * errno; '*textp' is the caller's in any case. */
static int
read_all(int fd, size_t size, size_t max, char **textp, size_t *lenp)
{
    size_t allocated = MIN(MAX(size, MIN_BUFFER), max) + 1;
    char *text = xmalloc(allocated);
    size_t len = 0;
    ssize_t n;

    while (len <= max) {
        if (len == allocated) {
            allocated = MIN(allocated * 2, max + 1);
            text = xrealloc(text, allocated);
        }
        n = read(fd, &text[len], allocated - len);
        if (n > 0) {
            len += n;
        } else if (!n || errno != EINTR) {
            break;
        }
    }
    *textp = text;
    *lenp = len;
    return len <= max && n < 0 ? errno : 0;
}

/* A file that is written in place may be half there.  (Writing another one and
 * renaming it is what keeps that from happening.) */
static bool
has_changed(const struct stat *a, const struct stat *b)
{
    return (a->st_size != b->st_size
            || a->st_mtim.tv_sec != b->st_mtim.tv_sec
            || a->st_mtim.tv_nsec != b->st_mtim.tv_nsec);
}

static char *
explain_too_large(const char *path, size_t max)
{
    return xasprintf("%s: too large; must be at most %"PRIuSIZE" bytes", path,
                     max);
}

static char *
read_fd(const char *path, int fd, size_t max, char **textp, size_t *lenp)
{
    struct stat before, after;
    int error;

    if (fstat(fd, &before)) {
        return xasprintf("%s: cannot be read: %s", path,
                         ovs_strerror(errno));
    } else if (!S_ISREG(before.st_mode)) {
        return xasprintf("%s: must be a regular file, not a %s", path,
                         S_ISDIR(before.st_mode) ? "directory"
                         : S_ISFIFO(before.st_mode) ? "pipe" : "device");
    }
    if (before.st_size > 0 && before.st_size > max) {
        /* Not read in vain: it may be larger than the memory. */
        return explain_too_large(path, max);
    }
    error = read_all(fd, before.st_size > 0 ? before.st_size : 0, max, textp,
                     lenp);
    if (error) {
        return xasprintf("%s: cannot be read: %s", path, ovs_strerror(error));
    } else if (*lenp > max) {
        return explain_too_large(path, max);
    } else if (fstat(fd, &after) || has_changed(&before, &after)) {
        return xasprintf("%s: has been changed while it was read; must be "
                         "replaced as a whole, by a rename", path);
    }
    return NULL;
}

char *
text_file_read(const char *path, size_t max, char **textp, size_t *lenp)
{
    char *error;
    int fd;

    *textp = NULL;
    fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        return xasprintf("%s: cannot be opened: %s", path,
                         ovs_strerror(errno));
    }
    error = read_fd(path, fd, max, textp, lenp);
    if (error) {
        free(*textp);
        *textp = NULL;
    }
    close(fd);
    return error;
}
