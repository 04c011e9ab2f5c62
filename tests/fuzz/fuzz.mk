# SPDX-License-Identifier: Apache-2.0
#
# "make -C STAGE -f tests/fuzz/fuzz.mk fuzz" builds the fuzzers in the folder
# fuzz/ of a staged OVS tree, with clang and its sanitizers.

fuzz_src := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))

include GNUmakefile

# clang compiles for the GCC that OVS was configured with, without the warnings
# that only that one knows.
fuzz_compile = $(CLANG) $(DEFS) $(DEFAULT_INCLUDES) $(INCLUDES) \
	$(AM_CPPFLAGS) $(CPPFLAGS) -Wall -Wextra -Wno-sign-compare \
	-fno-strict-aliasing -g -O1 -fsanitize=fuzzer,address,undefined \
	-fno-sanitize-recover=all -fno-omit-frame-pointer

fuzz_programs := fuzz/fuzz-prefix-file fuzz/fuzz-prefix-option

# What is fuzzed: our files, and those of OVS that see the input.
fuzz_ours := prefix-entry prefix-member prefix-set prefix-builder prefix-file \
	text-file
fuzz_ovs := json dynamic-string shash unicode
fuzz_objects := $(patsubst %,fuzz/%.o,fuzz $(fuzz_ours) $(fuzz_ovs))

.PHONY: fuzz
fuzz: $(fuzz_programs)

$(fuzz_programs): %: %.o $(fuzz_objects) lib/.libs/libopenvswitch.a \
		$(wildcard lib/.libs/libopenvswitchavx512.a) lib/.libs/libsflow.a
	$(AM_V_CCLD)$(fuzz_compile) -o $@ $^ $(SSL_LIBS) $(CAPNG_LDADD) \
		$(LIBS) -lpthread -lrt

fuzz/%.o: $(fuzz_src)/%.c $(fuzz_src)/fuzz.mk
	@mkdir -p $(@D)
	$(AM_V_CC)$(fuzz_compile) -I$(fuzz_src) -MT $@ -MD -MP -MF $(@:.o=.d) \
		-c -o $@ $<
fuzz/%.o: lib/%.c $(fuzz_src)/fuzz.mk
	@mkdir -p $(@D)
	$(AM_V_CC)$(fuzz_compile) -MT $@ -MD -MP -MF $(@:.o=.d) -c -o $@ $<
-include $(wildcard fuzz/*.d)
