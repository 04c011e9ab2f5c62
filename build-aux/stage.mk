# SPDX-License-Identifier: Apache-2.0
#
# The GNUmakefile of a staged OVS tree: build-aux/build-ovs links it there.
#
# GNU make prefers it to OVS's own Makefile, which it includes, so that "make"
# in the stage knows our files as well, and no file of OVS's build system has
# to be patched (that would ask for the very automake release that OVS was
# packaged with).  Our sources are links in the lib/ of the stage; OVS's own
# .c.o rule compiles them, with the flags, config.h and struct layouts of OVS.
#
# Variables of use on the command line:
#   VARIANT=NAME  target "variant" builds variants/NAME/ovs-vswitchd, with our
#                 files compiled with the flags in variants/NAME/cflags too.

afxdp_fast_top := $(abspath $(dir $(realpath GNUmakefile))..)
afxdp_fast_names := \
	$(sort $(patsubst %.c,%,$(notdir $(wildcard $(afxdp_fast_top)/lib/*.c))))
afxdp_fast_objects := $(afxdp_fast_names:%=lib/%.o)

# Has to be known before the link rule of the Makefile is read.
EXTRA_vswitchd_ovs_vswitchd_DEPENDENCIES = lib/libafxdpfast.a

include Makefile

# Expanded when the link command runs, so this comes after the include.
afxdp_fast_ovs_libs := $(vswitchd_ovs_vswitchd_LDADD)
vswitchd_ovs_vswitchd_LDADD = lib/libafxdpfast.a $(afxdp_fast_ovs_libs)

lib/libafxdpfast.a: $(afxdp_fast_objects)
	$(AM_V_AR)rm -f $@ && $(AR) cr $@ $^

# The tools: the one that puts back what a killed daemon has left, and the one
# for the daemon's control socket.  Each takes what it needs of our library.
afxdp_fast_tools := utilities/afxdp-fast-restore utilities/ovs-afxdp-fast
afxdp_fast_tool_objects := $(afxdp_fast_tools:%=%.o)
$(afxdp_fast_tool_objects): %.o: $(afxdp_fast_top)/%.c
	$(AM_V_CC)$(COMPILE) -MT $@ -MD -MP -MF $(@:.o=.d) -c -o $@ $<
-include $(afxdp_fast_tools:%=%.d)
$(afxdp_fast_tools): %: %.o lib/libafxdpfast.a lib/libopenvswitch.la
	$(AM_V_CCLD)$(LINK) $^ $(LIBS)
all-am: $(afxdp_fast_tools)

# The programs in bpf/NAME.bpf.c, each embedded in the daemon as a libbpf
# skeleton, lib/NAME.skel.h.
afxdp_fast_bpf := afxdp-fast guard tags
afxdp_fast_skeletons := $(afxdp_fast_bpf:%=lib/%.skel.h)

# The order-only prerequisites must exist before the first compilation; after
# it, the dependency files say which object needs which header.
afxdp_fast_generated = $(BUILT_SOURCES) config.h $(afxdp_fast_skeletons)
$(afxdp_fast_objects) $(afxdp_fast_tool_objects): | $(afxdp_fast_generated)
-include $(afxdp_fast_names:%=lib/$(DEPDIR)/%.Po)

# The system's <asm/types.h> is in the directory of the host's architecture on
# Debian.  Of the instruction set, v3 has the 32-bit operations that keep
# programs small (Linux 5.1) while clang 14 still defaults to the oldest one.
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard $(addsuffix /bpftool,\
	$(subst :, ,$(PATH)) /usr/sbin /sbin)) bpftool)
BPF_CFLAGS ?= -O2 -g -Wall -Wextra
afxdp_fast_multiarch := $(shell $(CC) -print-multiarch 2>/dev/null)

$(afxdp_fast_bpf:%=lib/%.bpf.o): lib/%.bpf.o: $(afxdp_fast_top)/bpf/%.bpf.c
	$(AM_V_GEN)$(CLANG) $(BPF_CFLAGS) -target bpf -mcpu=v3 \
		-I$(afxdp_fast_top)/lib \
		-idirafter /usr/include/$(afxdp_fast_multiarch) \
		-MD -MP -MT $@ -MF lib/$(DEPDIR)/$*.bpf.Po -c $< -o $@
-include $(afxdp_fast_bpf:%=lib/$(DEPDIR)/%.bpf.Po)

# An identifier of C has no "-": the skeleton of a-b.bpf.c is struct a_b.
$(afxdp_fast_skeletons): lib/%.skel.h: lib/%.bpf.o
	$(AM_V_GEN)$(BPFTOOL) gen skeleton $< name $(subst -,_,$*) > $@.tmp \
		&& mv $@.tmp $@

# A second daemon of the same OVS objects, with our files compiled otherwise.
ifdef VARIANT
variant_dir := variants/$(VARIANT)
variant_cflags := $(shell cat $(variant_dir)/cflags)
variant_objects := $(afxdp_fast_names:%=$(variant_dir)/%.o)

.PHONY: variant
variant: $(variant_dir)/ovs-vswitchd

$(variant_objects): $(variant_dir)/%.o: lib/%.c $(variant_dir)/cflags \
		| $(afxdp_fast_generated)
	$(AM_V_CC)$(COMPILE) $(variant_cflags) \
		-MT $@ -MD -MP -MF $(@:.o=.d) -c -o $@ $<
-include $(variant_objects:.o=.d)

$(variant_dir)/ovs-vswitchd: $(variant_objects) \
		$(vswitchd_ovs_vswitchd_OBJECTS) \
		$(vswitchd_ovs_vswitchd_DEPENDENCIES)
	$(AM_V_CCLD)$(vswitchd_ovs_vswitchd_LINK) $(variant_cflags) \
		$(vswitchd_ovs_vswitchd_OBJECTS) $(variant_objects) \
		$(afxdp_fast_ovs_libs) $(LIBS)
endif
