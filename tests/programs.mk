# SPDX-License-Identifier: Apache-2.0
#
# Rules for programs of the tests that stand outside the project's automake
# files: they are no part of what is installed.  The Makefile that includes
# this builds from its own folder, and from tests/tools what both need, into
# bin/.  It sets HEADERS before, and says in "all" what there is to build.

.DEFAULT_GOAL := all

CC ?= cc
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) \
	bpftool)
CFLAGS ?= -O2 -g
tests_tools := $(dir $(lastword $(MAKEFILE_LIST)))tools
CFLAGS += -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wno-unused-parameter \
	-Ibin -I$(tests_tools)
BPF_CFLAGS = -target bpf -O2 -g -mcpu=v3 -Wall \
	-idirafter /usr/include/$(shell $(CC) -print-multiarch)

bin/%.o: %.c $(HEADERS) | bin
	$(CC) $(CFLAGS) -c -o $@ $<

bin/%.o: $(tests_tools)/%.c $(HEADERS) | bin
	$(CC) $(CFLAGS) -c -o $@ $<

bin/%.bpf.o: %.bpf.c $(HEADERS) | bin
	$(CLANG) $(BPF_CFLAGS) -c -o $@ $<

# The name keeps the skeletons' identifiers apart: xdp_gen, xdp_sink.
bin/%.skel.h: bin/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $(subst -,_,$*) > $@.tmp
	mv $@.tmp $@

bin:
	mkdir -p $@

clean:
	rm -rf bin

.PHONY: all clean
.SECONDARY:
