/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>
#include "netdev-genl.h"

#include <errno.h>
#include <linux/genetlink.h>

#include "netlink.h"
#include "netlink-socket.h"
#include "openvswitch/ofpbuf.h"
#include "util.h"

#define FAMILY_VERSION 1

/* Makes 'request' one for 'command', ready for its attributes.  Returns 0, or
 * EOPNOTSUPP if the kernel has not got the family; 'request' is of no use
 * then.  Main thread. */
int
netdev_genl_begin(struct ofpbuf *request, uint8_t command)
{
    static int family;          /* Looked up once. */

    if (nl_lookup_genl_family("netdev", &family)) {
        return EOPNOTSUPP;
    }
    ofpbuf_init(request, 0);
    nl_msg_put_genlmsghdr(request, 0, family, NLM_F_REQUEST, command,
                          FAMILY_VERSION);
    return 0;
}

/* Carries out and releases 'request'.  Returns 0 or a positive errno,
 * EOPNOTSUPP for a command that the kernel has not got.  Stores the reply in
 * '*replyp', which the caller deletes, or NULL on failure; where 'replyp' is
 * NULL, an acknowledgement is asked for instead.  Main thread. */
int
netdev_genl_transact(struct ofpbuf *request, struct ofpbuf **replyp)
{
    int error = nl_transact(NETLINK_GENERIC, request, replyp);

    ofpbuf_uninit(request);
    return error;
}

/* Stores the number in the attribute of 'type' of 'reply', of 32 or 64 bits,
 * in '*value' and returns true; returns false if there is none. */
bool
netdev_genl_get_uint(const struct ofpbuf *reply, uint16_t type,
                     uint64_t *value)
{
    const struct nlattr *attr = nl_attr_find(
        reply, NLMSG_HDRLEN + GENL_HDRLEN, type);

    if (!attr) {
        return false;
    }
    *value = (nl_attr_get_size(attr) == sizeof(uint64_t)
              ? nl_attr_get_u64(attr) : nl_attr_get_u32(attr));
    return true;
}
