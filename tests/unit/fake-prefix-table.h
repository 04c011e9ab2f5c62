/* SPDX-License-Identifier: Apache-2.0 */

#ifndef FAKE_PREFIX_TABLE_H
#define FAKE_PREFIX_TABLE_H 1

/* Ports, prefix tables, targets and a bridge without a kernel, as far as the
 * commands need them.
 *
 * There are the ports eth0, eth1 and eth2, which all belong to br0, and far0
 * of br1.  As targets, eth1 is ready and eth2 is not. */

#include <stdbool.h>

/* Makes the ports.  Once. */
void fake_ports_create(void);
void fake_ports_destroy(void);

/* What options:prefix-file of 'port' says. */
void fake_port_set_file(const char *port, const char *path);

/* Why a restart would lose the pin of a roll-back, or NULL. */
void fake_ports_set_pin_error(const char *);

/* With true, changes wait for fake_ports_run().  It returns true if it has
 * done one. */
void fake_ports_defer(bool defer);
bool fake_ports_run(void);

/* How many dry runs that were not refused have looked at a table so far. */
unsigned int fake_ports_dry_runs(void);

/* What the bridge br0 has. */
void fake_bridge_set_blind(bool mirrors, bool sflow, bool ipfix,
                           bool netflow);

/* Takes 'port' away, as if it were deleted. */
void fake_port_remove(const char *port);

#endif /* fake-prefix-table.h */
