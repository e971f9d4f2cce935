# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The reader of traces, on files that were made for it.
SUITES += trace

trace_test := $(B)/test/trace

$(trace_test)/generate: test/trace/generate.c include/ibvbuf/trace.h
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $<
