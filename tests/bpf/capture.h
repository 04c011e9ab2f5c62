/* SPDX-License-Identifier: Apache-2.0 */

/* Frames of the world: every capture file in a folder. */

#ifndef CAPTURE_H
#define CAPTURE_H 1

#include <stddef.h>
#include <stdint.h>

typedef void capture_cb(const uint8_t *frame, size_t len, void *aux);

/* Calls 'cb' for each frame of each Ethernet capture (*.pcap) in 'folder', in
 * the order of their names.  Returns how many captures there were. */
unsigned int capture_read(const char *folder, capture_cb *cb, void *aux);

#endif /* capture.h */
