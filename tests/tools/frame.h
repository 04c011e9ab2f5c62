/* SPDX-License-Identifier: Apache-2.0 */

#ifndef FRAME_H
#define FRAME_H 1

#include <stddef.h>
#include <stdint.h>

void frame_init(uint8_t *frame, size_t size,
                const uint8_t dst[6], const uint8_t src[6]);
void frame_set_flow(uint8_t *frame, uint16_t flow);
void frame_fill(uint8_t *frame, size_t size, uint8_t stream,
                uint64_t seq, uint64_t time);

#endif /* frame.h */
