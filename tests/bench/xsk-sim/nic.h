/* SPDX-License-Identifier: Apache-2.0 */

#ifndef NIC_H
#define NIC_H 1

/* The simulated NIC: one thread that serves the rings of all sockets. */

#include <stdbool.h>
#include <stdint.h>

#include "socket.h"

/* Frames that the NIC keeps to receive into, a queue. */
extern uint32_t nic_depth;

void nic_start(void);
void nic_pause(void);
void nic_resume(void);
void nic_release_frames(struct sim_socket *);
int nic_kick_tx(struct sim_socket *);
int nic_kick_rx(struct sim_socket *);
uint64_t nic_now_ns(void);

/* Ends the process with a message: the program under simulation has broken
 * the rules of the rings. */
void nic_broken(const struct sim_socket *, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));
void nic_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* control.c */
void control_start(void);

#endif /* nic.h */
