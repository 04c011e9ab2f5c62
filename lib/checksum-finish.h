/* SPDX-License-Identifier: Apache-2.0 */

#ifndef CHECKSUM_FINISH_H
#define CHECKSUM_FINISH_H 1

/* Checksums that a sender left to its device, finished where the frame comes
 * in: what is behind that (matches, conntrack, tunnels, ports of other types)
 * sees frames as they are on a wire, in every OVS version. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dp_packet_batch;

bool checksum_finish(uint8_t *frame, size_t len);
uint32_t checksum_finish_batch(struct dp_packet_batch *);

#endif /* checksum-finish.h */
