/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "capabilities.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "openvswitch/dynamic-string.h"
#include "util.h"

static const struct {
    int number;
    const char *name;
    const char *consequence;
} capabilities[] = {
#define CAPABILITY(NAME, CONSEQUENCE) \
    { CAP_##NAME, "CAP_" #NAME, CONSEQUENCE },
    CAPABILITIES(CAPABILITY)
#undef CAPABILITY
};

static bool
is_in_effect(const struct __user_cap_data_struct caps[2], int number)
{
    return caps[number / 32].effective & (1u << (number % 32));
}

/* The kernel split these two off CAP_SYS_ADMIN, which includes them. */
static bool
is_in_sys_admin(int number)
{
    return number == CAP_BPF || number == CAP_PERFMON;
}

/* Appends to 's', with commas between them, the names of the capabilities of
 * 'which', bits 1 << enum capability, that this process lacks, each with what
 * comes of it if 'consequences'.  Returns false if it lacks none, or the
 * kernel does not tell.  Any thread, of itself. */
bool
capabilities_format_missing(unsigned int which, bool consequences,
                            struct ds *s)
{
    struct __user_cap_header_struct hdr = {
        .version = _LINUX_CAPABILITY_VERSION_3,
    };
    struct __user_cap_data_struct caps[2];
    bool missing = false;

    if (syscall(SYS_capget, &hdr, caps)) {
        return false;
    }
    for (size_t i = 0; i < ARRAY_SIZE(capabilities); i++) {
        if (!(which & 1u << i) || is_in_effect(caps, capabilities[i].number)
            || (is_in_sys_admin(capabilities[i].number)
                && is_in_effect(caps, CAP_SYS_ADMIN))) {
            continue;
        }
        ds_put_format(s, "%s%s", missing ? ", " : "", capabilities[i].name);
        if (consequences) {
            ds_put_format(s, " (%s)", capabilities[i].consequence);
        }
        missing = true;
    }
    return missing;
}
