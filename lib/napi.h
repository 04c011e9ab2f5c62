/* SPDX-License-Identifier: Apache-2.0 */

#ifndef NAPI_H
#define NAPI_H 1

/* What the kernel knows of NAPIs, the contexts in which it polls the queues of
 * a device, and the two values of each that say how long interrupts stay
 * off: one NAPI's (Linux 6.13) or a whole device's.  Main thread. */

#include <stdbool.h>
#include <stdint.h>

struct napi_values {
    uint32_t defer_hard_irqs;   /* How often the timer may find no frame
                                 * before interrupts are on again. */
    uint64_t gro_flush_timeout; /* Nanoseconds until the timer polls. */
};

/* Whose values: of one NAPI, or with 'napi_id' 0 those of the whole device. */
struct napi_owner {
    int ifindex;
    uint32_t napi_id;
};

bool napi_has_own_values(void);
uint32_t napi_of_rx_queue(int ifindex, uint32_t queue);
bool napi_device_is_down(int ifindex);
int napi_get_values(const struct napi_owner *, struct napi_values *);
int napi_set_values(const struct napi_owner *, const struct napi_values *);

#endif /* napi.h */
