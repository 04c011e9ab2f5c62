/* SPDX-License-Identifier: Apache-2.0 */

#ifndef ARGS_H
#define ARGS_H 1

#include <stdint.h>

void die(const char *format, ...)
    __attribute__((noreturn, format(printf, 1, 2)));

uint64_t parse_number(const char *option, const char *text,
                      uint64_t min, uint64_t max);
void parse_mac(const char *option, const char *text, uint8_t mac[6]);
int parse_device(const char *option, const char *name);
void pin_to_cpu(unsigned int cpu);
uint64_t now_ns(void);

#endif /* args.h */
