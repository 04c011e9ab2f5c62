/* SPDX-License-Identifier: Apache-2.0 */

#ifndef FLOW_TABLE_H
#define FLOW_TABLE_H 1

#include <stddef.h>
#include <stdint.h>

void flow_table_uniform(uint32_t *table, size_t size, uint32_t flows);
void flow_table_zipf(uint32_t *table, size_t size, uint32_t flows,
                     double exponent);

#endif /* flow-table.h */
