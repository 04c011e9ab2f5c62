/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "napi-hold.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bitmap.h"
#include "openvswitch/list.h"
#include "openvswitch/vlog.h"
#include "util.h"

VLOG_DEFINE_THIS_MODULE(napi_hold);

/* Of the state file.  Its first line is "NAME VERSION BOOT-ID
 * NETWORK-NAMESPACE", each other one what is held: device, ifindex, id of the
 * NAPI (0: the device's own values), then for defer-hard-irqs and for
 * gro-flush-timeout the value before and ours. */
#define FILE_NAME NAPI_HOLDS_FILE
#define FILE_VERSION 1

/* Errors of the kernel are less than this (its MAX_ERRNO + 1). */
#define N_ERRORS 4096

/* Of a boot id with its null byte: /proc/sys/kernel/random/boot_id. */
#define BOOT_ID_SIZE 37

struct napi_hold {
    struct ovs_list node;       /* In 'holds'. */
    struct napi_owner owner;
    char ifname[IF_NAMESIZE];   /* For people: the ifindex counts. */
    struct napi_values before, ours;
    unsigned int n_users;       /* 0: to be put back as soon as possible. */
    unsigned long int logged[BITMAP_N_LONGS(N_ERRORS)]; /* Errors, when it
                                                         * was to be put
                                                         * back. */
};

static struct ovs_list holds = OVS_LIST_INITIALIZER(&holds);
static char *file_path;
static bool file_is_unread;     /* Could not be read: never to be replaced. */
static bool file_is_stale;      /* Names what is put back already. */

static char *
describe(const struct napi_hold *hold)
{
    return (hold->owner.napi_id
            ? xasprintf("%s: NAPI %"PRIu32, hold->ifname, hold->owner.napi_id)
            : xstrdup(hold->ifname));
}

/* The state file. */

static void
read_boot_id(char boot_id[BOOT_ID_SIZE])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");

    if (!file || fscanf(file, "%36s", boot_id) != 1) {
        strcpy(boot_id, "unknown");
    }
    if (file) {
        fclose(file);
    }
}

/* Returns what tells the network namespace from others that are there at the
 * same time. */
static unsigned long long
read_netns(void)
{
    struct stat s;

    return stat("/proc/self/ns/net", &s) ? 0 : s.st_ino;
}

static void
print_holds(FILE *file)
{
    const struct napi_hold *hold;
    char boot_id[BOOT_ID_SIZE];

    read_boot_id(boot_id);
    fprintf(file, "%s %d %s %llu\n", FILE_NAME, FILE_VERSION, boot_id,
            read_netns());
    LIST_FOR_EACH (hold, node, &holds) {
        fprintf(file, "%s %d %"PRIu32" %"PRIu32" %"PRIu32" %"PRIu64" "
                "%"PRIu64"\n", hold->ifname, hold->owner.ifindex,
                hold->owner.napi_id, hold->before.defer_hard_irqs,
                hold->ours.defer_hard_irqs, hold->before.gro_flush_timeout,
                hold->ours.gro_flush_timeout);
    }
}

/* Replaces the state file as a whole. */
static int
replace_file(void)
{
    char *temporary = xasprintf("%s.tmp", file_path);
    FILE *file = fopen(temporary, "w");
    int error = 0;

    if (!file) {
        error = errno;
    } else {
        print_holds(file);
        error = ferror(file) ? EIO : 0;
        if (fclose(file) || (!error && rename(temporary, file_path))) {
            error = errno;
        }
        if (error) {
            unlink(temporary);
        }
    }
    free(temporary);
    return error;
}

/* Brings the state file up to date.  Whoever reads it finds it whole,
 * whenever the daemon is killed.  Returns 0 or a positive errno. */
static int
save(void)
{
    int error = 0;

    if (!ovs_list_is_empty(&holds)) {
        error = replace_file();
    } else if (unlink(file_path) && errno != ENOENT) {
        error = errno;
    }
    if (!error) {
        file_is_stale = false;
    }
    return error;
}

/* Returns NULL, or why the first line is not one that we can use.  Sets
 * '*of_this_boot' to false if the file is of another boot of the machine, of
 * which nothing is left to put back. */
static char *
parse_header(const char *line, bool *of_this_boot)
{
    char boot_id[BOOT_ID_SIZE], now[BOOT_ID_SIZE];
    unsigned long long netns;
    int version, n;

    if (!ovs_scan(line, FILE_NAME" %d %36s %llu%n", &version, boot_id, &netns,
                  &n)
        || strcmp(&line[n], "\n")) {
        return xasprintf("must be \"%s %d BOOT-ID NETWORK-NAMESPACE\"",
                         FILE_NAME, FILE_VERSION);
    } else if (version != FILE_VERSION) {
        return xasprintf("is of version %d, must be %d", version,
                         FILE_VERSION);
    }
    read_boot_id(now);
    *of_this_boot = !strcmp(boot_id, now);
    return (*of_this_boot && netns != read_netns()
            ? xasprintf("is about another network namespace, %llu, and this "
                        "is %llu", netns, read_netns())
            : NULL);
}

/* The numbers of the other lines, and what is allowed. */
enum {
    IFINDEX, NAPI_ID,
    DEFER_BEFORE, DEFER_OURS,
    TIMEOUT_BEFORE, TIMEOUT_OURS,
    N_NUMBERS
};

static const struct {
    const char *name;
    uint64_t min, max;
} number_docs[N_NUMBERS] = {
    [IFINDEX] = { "ifindex", 1, INT_MAX },
    [NAPI_ID] = { "NAPI", 0, UINT32_MAX },
    [DEFER_BEFORE] = { "defer-hard-irqs before", 0, INT_MAX },
    [DEFER_OURS] = { "our defer-hard-irqs", 0, INT_MAX },
    [TIMEOUT_BEFORE] = { "gro-flush-timeout before", 0, UINT64_MAX },
    [TIMEOUT_OURS] = { "our gro-flush-timeout", 0, UINT64_MAX },
};

static char *
parse_number(const char *word, int i, uint64_t *number)
{
    unsigned long long value;

    if (!isdigit((unsigned char) word[0]) || !str_to_ullong(word, 10, &value)
        || value < number_docs[i].min || value > number_docs[i].max) {
        return xasprintf("%s is \"%s\", must be a number from %"PRIu64" to "
                         "%"PRIu64, number_docs[i].name, word,
                         number_docs[i].min, number_docs[i].max);
    }
    *number = value;
    return NULL;
}

/* Adds what is held according to 'line', which is taken apart, to 'list'.
 * Returns NULL, or what is wrong. */
static char *
parse_hold(char *line, struct ovs_list *list)
{
    char *words[1 + N_NUMBERS], *word, *rest = NULL;
    uint64_t numbers[N_NUMBERS];
    struct napi_hold *hold;
    size_t n = 0;

    for (word = strtok_r(line, " \n", &rest); word;
         word = strtok_r(NULL, " \n", &rest)) {
        words[MIN(n, N_NUMBERS)] = word;
        n++;
    }
    if (n != ARRAY_SIZE(words)) {
        return xasprintf("number of words is %"PRIuSIZE", must be "
                         "%"PRIuSIZE": a device and %d numbers", n,
                         ARRAY_SIZE(words), N_NUMBERS);
    } else if (strlen(words[0]) >= IF_NAMESIZE) {
        return xasprintf("device is \"%s\", must have at most %d characters",
                         words[0], IF_NAMESIZE - 1);
    }
    for (int i = 0; i < N_NUMBERS; i++) {
        char *reason = parse_number(words[1 + i], i, &numbers[i]);

        if (reason) {
            return reason;
        }
    }
    hold = xzalloc(sizeof *hold);
    ovs_strlcpy(hold->ifname, words[0], sizeof hold->ifname);
    hold->owner.ifindex = numbers[IFINDEX];
    hold->owner.napi_id = numbers[NAPI_ID];
    hold->before.defer_hard_irqs = numbers[DEFER_BEFORE];
    hold->ours.defer_hard_irqs = numbers[DEFER_OURS];
    hold->before.gro_flush_timeout = numbers[TIMEOUT_BEFORE];
    hold->ours.gro_flush_timeout = numbers[TIMEOUT_OURS];
    ovs_list_push_back(list, &hold->node);
    return NULL;
}

/* Reads all lines.  Returns NULL, or what is wrong with line '*n'. */
static char *
read_lines(FILE *file, struct ovs_list *list, int *n)
{
    bool of_this_boot = true;
    char line[256];

    for (*n = 1; of_this_boot && fgets(line, sizeof line, file); ++*n) {
        char *reason = (!strchr(line, '\n')
                        ? xasprintf("must end with a newline within "
                                    "%"PRIuSIZE" bytes", sizeof line - 1)
                        : *n == 1 ? parse_header(line, &of_this_boot)
                        : parse_hold(line, list));

        if (reason) {
            return reason;
        }
    }
    if (ferror(file)) {
        return xstrdup(ovs_strerror(errno));
    }
    return *n == 1 ? parse_header("", &of_this_boot) : NULL;
}

static void
free_holds(struct ovs_list *list)
{
    struct napi_hold *hold;

    LIST_FOR_EACH_POP (hold, node, list) {
        free(hold);
    }
}

/* Reads what is held according to a file, all without users, into the empty
 * 'list'; of a file that is not there nothing.  Returns NULL, or the file, the
 * line and what is wrong with it, which the caller frees; then 'list' is empty
 * still. */
static char *
read_holds(const char *path, struct ovs_list *list)
{
    char *reason, *error = NULL;
    struct stat s;
    FILE *file;
    int n;

    /* Opening a FIFO would wait for who writes to it. */
    if (!stat(path, &s) && !S_ISREG(s.st_mode)) {
        return xasprintf("%s: must be a regular file", path);
    }
    file = fopen(path, "r");
    if (!file) {
        return (errno == ENOENT ? NULL
                : xasprintf("%s: %s", path, ovs_strerror(errno)));
    }
    reason = read_lines(file, list, &n);
    fclose(file);
    if (reason) {
        error = xasprintf("%s: line %d: %s", path, n, reason);
        free(reason);
        free_holds(list);
    }
    return error;
}

/* Putting back. */

/* Puts back the values from before, where they are still ours.  Returns 0 if
 * nothing is left to do, or a positive errno: ENOENT for a NAPI that is not
 * there while its device is down, since it may come back. */
static int
put_back(const struct napi_hold *hold)
{
    struct napi_values now, wanted;
    char *name;
    int error;

    error = napi_get_values(&hold->owner, &now);
    if (error) {
        return (error == ENODEV
                || (error == ENOENT
                    && !napi_device_is_down(hold->owner.ifindex)) ? 0 : error);
    }
    wanted = now;
    if (now.defer_hard_irqs == hold->ours.defer_hard_irqs) {
        wanted.defer_hard_irqs = hold->before.defer_hard_irqs;
    }
    if (now.gro_flush_timeout == hold->ours.gro_flush_timeout) {
        wanted.gro_flush_timeout = hold->before.gro_flush_timeout;
    }
    if (wanted.defer_hard_irqs == now.defer_hard_irqs
        && wanted.gro_flush_timeout == now.gro_flush_timeout) {
        return 0;
    }
    error = napi_set_values(&hold->owner, &wanted);
    if (!error) {
        name = describe(hold);
        VLOG_INFO("%s: defer-hard-irqs is %"PRIu32" and gro-flush-timeout "
                  "%"PRIu64" again", name, wanted.defer_hard_irqs,
                  wanted.gro_flush_timeout);
        free(name);
    }
    return error;
}

/* Logs why 'hold' cannot be put back, each error once. */
static void
log_failure(struct napi_hold *hold, int error)
{
    char *name;

    if (bitmap_is_set(hold->logged, error)) {
        return;
    }
    bitmap_set1(hold->logged, error);
    name = describe(hold);
    if (error == ENOENT) {
        VLOG_INFO("%s: defer-hard-irqs and gro-flush-timeout cannot be put "
                  "back while the device is down", name);
    } else {
        VLOG_WARN("%s: defer-hard-irqs and gro-flush-timeout cannot be put "
                  "back (%s)", name, ovs_strerror(error));
    }
    free(name);
}

/* Puts back and forgets 'hold', unless that has to wait. */
static void
settle(struct napi_hold *hold)
{
    int error = put_back(hold);

    if (error) {
        log_failure(hold, error);
    } else {
        ovs_list_remove(&hold->node);
        free(hold);
        file_is_stale = true;
    }
}

/* Tries to put back all that nobody holds any more, and to have the state file
 * say so. */
void
napi_holds_settle(void)
{
    static struct vlog_rate_limit rl = VLOG_RATE_LIMIT_INIT(1, 1);
    struct napi_hold *hold;

    LIST_FOR_EACH_SAFE (hold, node, &holds) {
        if (!hold->n_users) {
            settle(hold);
        }
    }
    if (file_is_stale) {
        int error = save();

        if (error) {
            VLOG_WARN_RL(&rl, "%s: names what does not have to be put back "
                         "any more, and cannot be brought up to date (%s)",
                         file_path, ovs_strerror(error));
        }
    }
}

/* Returns true if napi_holds_settle() has something left to do: to put back
 * what nobody holds, or to bring the state file up to date. */
bool
napi_holds_are_waiting(void)
{
    const struct napi_hold *hold;

    LIST_FOR_EACH (hold, node, &holds) {
        if (!hold->n_users) {
            return true;
        }
    }
    return file_is_stale;
}

/* Takes over what an earlier daemon has left in the state file 'path', where
 * ours will be too: napi_holds_settle() puts it back.  Returns NULL, also if
 * there is no file, or why it is of no use, which the caller frees: then
 * nothing is taken over, and the file is never replaced. */
char *
napi_holds_load(const char *path)
{
    char *error;

    free(file_path);
    file_path = xstrdup(path);
    error = read_holds(path, &holds);
    file_is_unread = error != NULL;
    file_is_stale = !error && ovs_list_is_empty(&holds);
    return error;
}

/* Renames the state file that napi_holds_load() could make no use of, so that
 * it is kept and not in the way of ours.  Stores its new name in '*keptp',
 * which the caller frees, also on failure.  Returns 0 or a positive errno,
 * EEXIST if an earlier one is there that may have something to put back: one
 * is enough to look into.  Then it stays where it is, and no NAPI can be
 * held. */
int
napi_holds_set_aside(char **keptp)
{
    struct ovs_list left = OVS_LIST_INITIALIZER(&left);
    char *kept = xasprintf("%s.kept", file_path);
    char *reason = read_holds(kept, &left);
    int error = 0;

    if (reason || !ovs_list_is_empty(&left)) {
        error = EEXIST;
    } else if (rename(file_path, kept)) {
        error = errno;
    }
    file_is_unread = error != 0;
    free_holds(&left);
    free(reason);
    *keptp = kept;
    return error;
}

/* Holds. */

static struct napi_hold *
find_hold(const struct napi_owner *owner)
{
    struct napi_hold *hold;

    LIST_FOR_EACH (hold, node, &holds) {
        if (hold->owner.ifindex == owner->ifindex
            && hold->owner.napi_id == owner->napi_id) {
            return hold;
        }
    }
    return NULL;
}

/* Notes in the state file what is about to change. */
static struct napi_hold *
make_hold(const struct napi_owner *owner, const struct napi_values *ours,
          char **errp)
{
    struct napi_hold *hold;
    int error;

    if (file_is_unread && !access(file_path, F_OK)) {
        *errp = xasprintf("%s: could not be read, and is not replaced: see "
                          "the log", file_path);
        return NULL;
    }
    hold = xzalloc(sizeof *hold);
    hold->owner = *owner;
    hold->ours = *ours;
    if (!if_indextoname(owner->ifindex, hold->ifname)) {
        ovs_strzcpy(hold->ifname, "?", sizeof hold->ifname);
    }
    error = napi_get_values(owner, &hold->before);
    if (error) {
        *errp = xasprintf("reading defer-hard-irqs and gro-flush-timeout "
                          "failed (%s)", ovs_strerror(error));
        free(hold);
        return NULL;
    }
    ovs_list_push_back(&holds, &hold->node);
    error = save();
    if (error) {
        *errp = xasprintf("%s: %s", file_path, ovs_strerror(error));
        ovs_list_remove(&hold->node);
        free(hold);
        return NULL;
    }
    return hold;
}

/* Sets the values of 'owner' to 'ours', the same for all that hold it.
 * Returns a hold, for napi_hold_release(), or NULL and in '*errp' why not,
 * which the caller frees; nothing has changed then. */
struct napi_hold *
napi_hold_take(const struct napi_owner *owner, const struct napi_values *ours,
               char **errp)
{
    struct napi_hold *hold = find_hold(owner);
    int error;

    if (hold && hold->n_users) {
        hold->n_users++;
        return hold;
    } else if (hold) {
        /* It waits with values of its own, before and ours, that another
         * daemon may have set. */
        napi_holds_settle();
        if (find_hold(owner)) {
            *errp = xstrdup("what was set before cannot be put back yet: see "
                            "the log");
            return NULL;
        }
    }
    hold = make_hold(owner, ours, errp);
    if (!hold) {
        return NULL;
    }
    hold->n_users = 1;
    error = napi_set_values(owner, ours);
    if (error) {
        *errp = xasprintf("setting defer-hard-irqs and gro-flush-timeout "
                          "failed (%s)", ovs_strerror(error));
        napi_hold_release(hold);
        return NULL;
    }
    return hold;
}

/* Returns true if the held NAPI or device is there now. */
bool
napi_hold_is_there(const struct napi_hold *hold)
{
    struct napi_values now;

    return !napi_get_values(&hold->owner, &now);
}

/* Gives 'hold' up; NULL is allowed.  The last one to do so puts the values
 * back. */
void
napi_hold_release(struct napi_hold *hold)
{
    if (hold && !--hold->n_users) {
        napi_holds_settle();
    }
}
