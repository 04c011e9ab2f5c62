# SPDX-License-Identifier: Apache-2.0
#
# "make -C STAGE -f tests/unit/unit.mk" builds the unit tests in the folder
# unit/ of a staged OVS tree, with the flags, headers and libraries of OVS.
# Each build has a folder: unit/BUILD/test-NAME.

unit_src := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))

include GNUmakefile

# The builds, their flags and their programs.  In "leak", one frame in a
# million that the test frees is lost.
unit_flags_plain =
unit_flags_debug = -DAFXDP_FAST_DEBUG
unit_flags_leak = -DUNIT_LOSE_ONE_IN=1000000
unit_flags_tsan = -fsanitize=thread
unit_flags_asan = -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer -DAFXDP_FAST_DEBUG

unit_all := pool rings options host-links memory features rx tx handover busy-poll \
	hold targets checksum prefix-entry prefix-set prefix-file prefix-trie \
	prefix-reference prefix-appctl
unit_programs := \
	$(unit_all:%=unit/plain/test-%) \
	$(unit_all:%=unit/asan/test-%) \
	unit/debug/test-pool unit/leak/test-pool \
	unit/tsan/test-pool unit/tsan/test-rings unit/tsan/test-handover

# A daemon for tests of what asks it; no test itself.
unit_daemon := unit/asan/fake-daemon

.PHONY: unit
unit: $(unit_programs) $(unit_daemon)

# What a program is made of, besides test-NAME.c and unit.c: files of the
# test, of ours, and, where a sanitizer has to see what they do, of OVS.
unit_ours_pool := frame-pool frame-memory
unit_ours_options := port-config host-ports
unit_ours_host-links := host-links
unit_ours_memory := frame-memory
unit_ours_features := kernel-features
unit_ours_busy-poll := busy-poll
unit_ours_hold := napi-hold
unit_ours_targets := xdp-targets
unit_ours_prefix-entry := prefix-entry prefix-member
unit_ours_prefix-set := prefix-entry prefix-member prefix-set prefix-builder \
	prefix-file text-file
unit_ours_prefix-file := $(unit_ours_prefix-set)
unit_ours_prefix-appctl := appctl-command prefix-appctl prefix-check \
	prefix-lookup prefix-report prefix-show $(unit_ours_prefix-set)
unit_ours_prefix-trie := prefix-trie prefix-entry prefix-member
unit_ours_prefix-reference := prefix-trie prefix-entry prefix-member
unit_ours_rx := frame-pool frame-memory xsk xsk-rx xsk-tx \
	checksum-finish
unit_ours_checksum := checksum-finish
unit_ours_tx := $(unit_ours_rx)
unit_ours_handover := $(unit_ours_rx)
unit_test_pool := pool-model
unit_test_prefix-entry := prefix-cases
unit_test_prefix-set := prefix-cases prefix-sets
unit_test_prefix-file := $(unit_test_prefix-set)
unit_test_prefix-trie := prefix-model prefix-random
unit_test_prefix-reference := prefix-model prefix-random
unit_test_rx := fake-kernel
unit_test_tx := fake-kernel
unit_test_handover := fake-kernel
unit_test_prefix-appctl := fake-prefix-table fake-socket
unit_ovs_pool := dp-packet
unit_ovs_rx := dp-packet
unit_ovs_tx := dp-packet
unit_ovs_handover := dp-packet

# The system calls that the fake kernel serves.
unit_wrap_rx := sendto recvfrom sched_yield time_msec
unit_wrap_tx := $(unit_wrap_rx)
unit_wrap_handover := $(unit_wrap_rx)
unit_wrap_memory := memfd_create
unit_wrap_prefix-file := read
unit_wrap_features := setsockopt madvise
unit_wrap_targets := time_msec bpf_map_update_elem bpf_map_delete_elem
unit_wrap_busy-poll := getsockopt setsockopt uname
unit_wrap_prefix-appctl := unixctl_command_register unixctl_command_reply \
	unixctl_command_reply_error

unit_libs = lib/.libs/libopenvswitch.a \
	$(wildcard lib/.libs/libopenvswitchavx512.a) lib/.libs/libsflow.a

# $(call unit_objects,BUILD,NAME)
unit_objects = $(patsubst %,unit/$1/%.o,test-$2 unit $(unit_test_$2) \
	$(unit_ours_$2) $(unit_ovs_$2))

define unit_rule
unit/$1/test-$2: $$(call unit_objects,$1,$2) $$(unit_libs)
	$$(AM_V_CCLD)$$(CC) $$(CFLAGS) $$(unit_flags_$1) -o $$@ \
		$$(unit_wrap_$2:%=-Wl,--wrap=%) $$^ \
		$$(SSL_LIBS) $$(CAPNG_LDADD) $$(LIBS) -lpthread -lrt
endef
$(foreach program,$(unit_programs),$(eval $(call unit_rule,$(word 2,\
	$(subst /, ,$(program))),$(patsubst test-%,%,$(notdir $(program))))))

$(unit_daemon): $(patsubst %,unit/asan/%.o,fake-daemon fake-prefix-table \
		netdev-afxdp-fast-show $(unit_ours_prefix-appctl)) $(unit_libs)
	$(AM_V_CCLD)$(CC) $(CFLAGS) $(unit_flags_asan) -o $@ $^ \
		$(SSL_LIBS) $(CAPNG_LDADD) $(LIBS) -lpthread -lrt

define unit_compile
	@mkdir -p $(@D)
	$(AM_V_CC)$(COMPILE) $(unit_flags_$(word 2,$(subst /, ,$@))) \
		-I$(unit_src) -MT $@ -MD -MP -MF $(@:.o=.d) -c -o $@ $<
endef
$(foreach build,plain debug leak tsan asan,$(eval \
	unit/$(build)/%.o: $(unit_src)/%.c $(unit_src)/unit.mk ; $$(unit_compile)))
$(foreach build,plain debug leak tsan asan,$(eval \
	unit/$(build)/%.o: lib/%.c $(unit_src)/unit.mk ; $$(unit_compile)))
-include $(wildcard unit/*/*.d)
