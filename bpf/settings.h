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

/* Not read by the program.  Tells whoever looks at it from outside, a later
 * daemon or bpftool, which xdp-layout.h it was built with. */
const volatile __u32 layout_version = XDP_LAYOUT_VERSION;

#endif /* settings.h */
