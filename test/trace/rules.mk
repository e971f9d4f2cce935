# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The reader of traces, on files that were made for it.
#
# make check-trace    unit tests; the program's output, under the sanitizers; the same 200 damaged files
# make prove-trace    ten minutes of fuzzing; ten million records
SUITES += trace

trace_test := $(B)/test/trace
trace_sources := $(sort $(wildcard trace/*.c))
trace_parts := $(notdir $(filter-out trace/main.c,$(trace_sources)) $(tracer_shared_sources))
trace_flags = $(ALL_CFLAGS) -DIBVBUF_VERSION='"$(VERSION)"' $(CPPFLAGS) $(DEPENDENCIES)
# What is wrong is to end the program. More optimization takes longer than it saves.
trace_sanitizers := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all

$(trace_test)/generate: test/trace/generate.c include/ibvbuf/trace.h
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $<

# A flavour is a compiler and flags. $(1) its name, $(2), $(3)
define trace_flavour
$(trace_test)/$(1)/%.o: trace/%.c
	@mkdir -p $$(@D)
	$$(Q)$(2) $$(trace_flags) $(3) -c -o $$@ $$<
$(trace_test)/$(1)/%.o: launcher/%.c
	@mkdir -p $$(@D)
	$$(Q)$(2) $$(trace_flags) $(3) -c -o $$@ $$<
$(trace_test)/$(1)/%.o: test/trace/%.c
	@mkdir -p $$(@D)
	$$(Q)$(2) $$(trace_flags) $(3) -c -o $$@ $$<
endef

# Criterion forks beside threads of its own, and a child of a program with the address sanitizer may find
# the lock of its allocator taken for ever. So the unit tests have none.
$(eval $(call trace_flavour,plain,$$(CC),))
$(eval $(call trace_flavour,asan,$$(CC),$(trace_sanitizers)))
$(eval $(call trace_flavour,fuzz,clang,$(trace_sanitizers) -fsanitize=fuzzer-no-link))

$(trace_test)/asan/ibvbuf-trace: $(addprefix $(trace_test)/asan/,main.o $(trace_parts:.c=.o))
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(trace_sanitizers) $(LDFLAGS) -o $@ $^

$(trace_test)/fuzz/fuzz: $(addprefix $(trace_test)/fuzz/,fuzz.o $(trace_parts:.c=.o))
	@echo '  LINK    $@'
	$(Q)clang $(CFLAGS) $(trace_sanitizers) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^

trace_units := test_call_site test_event test_file test_filter test_stream \
	test_failures test_histogram test_interval_tree test_live_objects test_plot test_summary \
	test_ticks test_traced_process
$(trace_test)/plain/units: $(addprefix $(trace_test)/plain/,$(trace_units:=.o) image.o output.o $(trace_parts:.c=.o))
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) -pthread -Wl,--build-id $(LDFLAGS) -o $@ $^ -lcriterion

$(trace_test)/asan/live: $(trace_test)/asan/live.o $(trace_test)/asan/image.o
	@echo '  CC      $@'
	$(Q)$(CC) $(CFLAGS) $(trace_sanitizers) $(LDFLAGS) -o $@ $^

# Whole files, to begin with: $(1) the folder
define trace_seeds
$(Q)rm -rf $(1) && mkdir -p $(1)
$(Q)$(trace_test)/generate $(1)/plain small=1 records=12
$(Q)$(trace_test)/generate $(1)/wrapped small=1 records=20 capacity=12 stack=2
$(Q)$(trace_test)/generate $(1)/newer small=1 records=20 capacity=12 keep=oldest minor=1
endef

# $(1) what to call it, $(2) a folder for what is found and tried first the next time, $(3) options
define trace_fuzz
$(call trace_seeds,$(trace_test)/seeds)
$(Q)mkdir -p $(2)
$(Q)echo '$(1):'; \
$(trace_test)/fuzz/fuzz $(3) -max_len=16384 -timeout=20 -close_fd_mask=3 \
	-artifact_prefix=$(trace_test)/crash- $(2) $(trace_test)/seeds \
	> $(trace_test)/fuzz.log 2>&1 && tail -n 1 $(trace_test)/fuzz.log || { cat $(trace_test)/fuzz.log; exit 1; }
endef

.PHONY: check-trace prove-trace
check-trace: $(addprefix $(trace_test)/,generate plain/units asan/ibvbuf-trace asan/live fuzz/fuzz)
	$(Q)$(trace_test)/plain/units
	$(Q)test/trace/check $(trace_test)/asan/ibvbuf-trace $(trace_test)
	$(Q)test/trace/check_analysis $(trace_test)/asan/ibvbuf-trace $(trace_test)
	$(Q)rm -rf $(trace_test)/damaged
	$(call trace_fuzz,200 damaged files,$(trace_test)/damaged,-seed=1 -runs=200)

prove-trace: check-trace $(tracer)
	$(Q)test/trace/large $(tracer) $(trace_test)
	$(call trace_fuzz,fuzzing for ten minutes,$(trace_test)/corpus,-max_total_time=600)

.SECONDARY: $(addprefix $(trace_test)/plain/,$(trace_units:=.o) $(trace_parts:.c=.o)) \
	$(addprefix $(trace_test)/asan/,$(trace_parts:.c=.o)) \
	$(addprefix $(trace_test)/fuzz/,fuzz.o $(trace_parts:.c=.o))
-include $(wildcard $(trace_test)/*/*.d)
