/* SPDX-License-Identifier: Apache-2.0 */

#ifndef OVS_COMPAT_H
#define OVS_COMPAT_H 1

/* Every difference between the OVS versions that we build in, and nowhere
 * else.  What can be said in a way that all of them take, is. */

#include "dp-packet.h"

/* Its static helpers are not inline, and no file needs all of them. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "netdev-linux-private.h"
#pragma GCC diagnostic pop

/* Makes 'batch' empty without touching its packets, which have other owners
 * now.  OVS 3.x wants dp_packet_batch_init(), which would leak the array that
 * a batch of 4.0 may have grown; deleting no packets does the right thing in
 * each. */
static inline void
batch_forget(struct dp_packet_batch *batch)
{
    batch->count = 0;
    dp_packet_delete_batch(batch, true);
}

#endif /* ovs-compat.h */
