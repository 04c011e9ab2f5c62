/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Settings: written by the daemon before it loads the program, constant to
 * the verifier, which deletes what they switch off. */

#ifndef SETTINGS_H
#define SETTINGS_H 1

#include <stdbool.h>

#include "xdp-layout.h"

/* The cookie of hints: random, of this load.  The first of the settings, where
 * tools find it that know of the program no more than its id. */
const volatile __u64 hints_cookie = 0;

/* Write hints in front of frames? */
const volatile bool hints_on = false;

/* Look up frames in the prefix table?  The maps of the table exist only
 * then. */
const volatile bool table_on = false;

/* Hand the host's own traffic to its stack?  The maps of it exist only
 * then. */
const volatile bool host_on = false;

/* Drop malformed frames, rather than sending them up? */
const volatile bool malformed_drop = false;

/* Is this program attached as one that takes frames in several pieces? */
const volatile bool frags_on = false;

/* May a VLAN tag be beside the frame, where the program does not see it? */
const volatile bool tags_hidden = false;

/* Does such a tag stay with the frame through a redirect?  It does in generic
 * mode. */
const volatile bool tags_follow = false;

/* Has a front program put such tags into the frame? */
const volatile bool front_on = false;

/* A number of this port: its ifindex. */
const volatile __u32 port_number = 0;

/* Longest frame that its socket takes. */
const volatile __u32 max_frame = ~0U;

/* Not read by the program.  Tells whoever looks at it from outside, a later
 * daemon or bpftool, which xdp-layout.h it was built with. */
const volatile __u32 layout_version = XDP_LAYOUT_VERSION;

#endif /* settings.h */
