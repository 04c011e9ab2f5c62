/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "napi-hold.h"

#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "openvswitch/list.h"
#include "openvswitch/vlog.h"
#include "util.h"

VLOG_DEFINE_THIS_MODULE(napi_hold);

/* Of the file in the run-time folder.  Its first line is "NAME VERSION BOOT-ID
 * NETWORK-NAMESPACE", each other one what is held: device, ifindex, id of the
 * NAPI (0: the device's own values), then for defer-hard-irqs and for
 * gro-flush-timeout the value before and ours. */
#define FILE_NAME "afxdp-fast-busy-poll"
#define FILE_VERSION 1

/* Of a boot id with its null byte: /proc/sys/kernel/random/boot_id. */
#define BOOT_ID_SIZE 37

struct napi_hold {
    struct ovs_list node;       /* In 'holds'. */
    struct napi_owner owner;
    char ifname[IF_NAMESIZE];   /* For people: the ifindex counts. */
    struct napi_values before, ours;
    unsigned int n_users;       /* 0: to be put back as soon as possible. */
    bool complained;            /* That it cannot be put back, in the log. */
};

static struct ovs_list holds = OVS_LIST_INITIALIZER(&holds);
static char *file_path;

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

/* Brings the state file up to date.  Whoever reads it finds it whole,
 * whenever the daemon is killed.  Returns 0 or a positive errno. */
static int
save(void)
{
    char *temporary;
    FILE *file;
    int error = 0;

    if (ovs_list_is_empty(&holds)) {
        return unlink(file_path) && errno != ENOENT ? errno : 0;
    }
    temporary = xasprintf("%s.tmp", file_path);
    file = fopen(temporary, "w");
    if (!file) {
        error = errno;
    } else {
        print_holds(file);
        if (fclose(file) || rename(temporary, file_path)) {
            error = errno;
        }
    }
    free(temporary);
    return error;
}

static bool
parse_hold(const char *line, struct napi_hold *hold)
{
    BUILD_ASSERT_DECL(IF_NAMESIZE == 16);

    return ovs_scan(line, "%15s %d %"SCNu32" %"SCNu32" %"SCNu32" %"SCNu64" "
                    "%"SCNu64"\n", hold->ifname, &hold->owner.ifindex,
                    &hold->owner.napi_id, &hold->before.defer_hard_irqs,
                    &hold->ours.defer_hard_irqs,
                    &hold->before.gro_flush_timeout,
                    &hold->ours.gro_flush_timeout);
}

/* Reads what is held, all without users.  Of another boot of the machine
 * nothing is left to put back. */
static int
read_holds(FILE *file, char **errp)
{
    char line[256], boot_id[BOOT_ID_SIZE], now[BOOT_ID_SIZE];
    unsigned long long netns;
    int version, n = 1;

    if (!fgets(line, sizeof line, file)
        || !ovs_scan(line, FILE_NAME" %d %36s %llu\n", &version, boot_id,
                     &netns)
        || version != FILE_VERSION) {
        *errp = xasprintf("%s: line 1: \"%s %d\" has to begin it",
                          file_path, FILE_NAME, FILE_VERSION);
        return EINVAL;
    }
    read_boot_id(now);
    if (strcmp(boot_id, now)) {
        return 0;
    } else if (netns != read_netns()) {
        *errp = xasprintf("%s: is about another network namespace, %llu, "
                          "and this is %llu", file_path, netns, read_netns());
        return EXDEV;
    }
    while (fgets(line, sizeof line, file)) {
        struct napi_hold *hold = xzalloc(sizeof *hold);

        n++;
        if (!parse_hold(line, hold)) {
            *errp = xasprintf("%s: line %d: a device and six numbers have to "
                              "be there", file_path, n);
            free(hold);
            return EINVAL;
        }
        ovs_list_push_back(&holds, &hold->node);
    }
    return 0;
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

/* Puts back and forgets 'hold', unless that has to wait.  Returns true if it
 * is gone. */
static bool
settle(struct napi_hold *hold)
{
    int error = put_back(hold);

    if (error) {
        if (!hold->complained && error != ENOENT) {
            char *name = describe(hold);

            VLOG_WARN("%s: defer-hard-irqs and gro-flush-timeout cannot be "
                      "put back (%s)", name, ovs_strerror(error));
            free(name);
        }
        hold->complained = true;
        return false;
    }
    ovs_list_remove(&hold->node);
    free(hold);
    return true;
}

/* Tries to put back all that nobody holds any more. */
void
napi_holds_settle(void)
{
    struct napi_hold *hold;
    bool changed = false;

    LIST_FOR_EACH_SAFE (hold, node, &holds) {
        if (!hold->n_users && settle(hold)) {
            changed = true;
        }
    }
    if (changed) {
        int error = save();

        if (error) {
            VLOG_WARN("%s: %s", file_path, ovs_strerror(error));
        }
    }
}

/* Returns true if something still has to be put back that nobody holds. */
bool
napi_holds_are_waiting(void)
{
    const struct napi_hold *hold;

    LIST_FOR_EACH (hold, node, &holds) {
        if (!hold->n_users) {
            return true;
        }
    }
    return false;
}

/* Takes over what an earlier daemon has left in the state file in 'rundir',
 * where ours will be too: napi_holds_settle() puts it back.  Returns 0, also
 * if there is no file, or a positive errno and in '*errp' why it is of no
 * use, which the caller frees.  Once. */
int
napi_holds_load(const char *rundir, char **errp)
{
    FILE *file;
    int error;

    file_path = xasprintf("%s/%s", rundir, FILE_NAME);
    file = fopen(file_path, "r");
    if (!file) {
        error = errno;
        if (error == ENOENT) {
            return 0;
        }
        *errp = xasprintf("%s: %s", file_path, ovs_strerror(error));
        return error;
    }
    error = read_holds(file, errp);
    fclose(file);
    if (!error && ovs_list_is_empty(&holds)) {
        unlink(file_path);
    }
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
    struct napi_hold *hold = xzalloc(sizeof *hold);
    int error;

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

    if (!hold) {
        hold = make_hold(owner, ours, errp);
        if (!hold) {
            return NULL;
        }
    }
    if (hold->n_users++) {
        return hold;
    }
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
