# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# check-recorder          who writes the trace files: each call, each name, each disturbance
# check-recorder-tools    the same by the thread, address and undefined behaviour sanitizers and by
#                         Valgrind

SUITES += recorder recorder-tools

# Every rules.mk is read; this one needs the names in these first.
include test/standin/rules.mk
include test/contract/rules.mk

recorder := $(B)/test/recorder
recorder_tests := killed modules names operations processes records rings stacks surroundings
recorder_objects := $(patsubst %,$(recorder)/%.o,$(recorder_tests) recorder reading device runs contract errors \
	configuration with_pointers without_pointers)
recorder_cflags := $(contract_cflags) -Itest/recorder -Itest/contract
recorder_generations := 17 28 34 59 64 65
recorder_modules := $(recorder)/module_a.so $(recorder)/module_b.so

.PHONY: check-recorder
check-recorder: $(recorder)/recorder $(recorder)/program $(recorder_modules) $(contract_constructor) \
		$(preload) $(standin_libraries)
	$(Q)test/recorder/check $(abspath $(preload) $(standin) $(recorder)) $(recorder_generations)

$(recorder)/%.o: test/recorder/%.c $(standin)/functions.def
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) $(recorder_cflags) $(CPPFLAGS) $(DEPENDENCIES) -c -o $@ $<

$(recorder)/contract.o $(recorder)/configuration.o $(recorder)/errors.o $(recorder)/held_linker.o: $(recorder)/%.o: test/contract/%.c $(standin)/functions.def
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) $(recorder_cflags) $(CPPFLAGS) $(DEPENDENCIES) -c -o $@ $<

# With frame pointers, and with nothing but what unwinders read.
$(recorder)/with_pointers.o: frame_cflags := -fno-omit-frame-pointer
$(recorder)/without_pointers.o: frame_cflags := -fomit-frame-pointer
$(recorder)/with_pointers.o $(recorder)/without_pointers.o: $(recorder)/%.o: \
		test/recorder/frames.c
	@mkdir -p $(@D)
	@echo '  CC      $< ($*)'
	$(Q)$(CC) $(ALL_CFLAGS) -DFRAMES_PREFIX=$* $(frame_cflags) $(CPPFLAGS) $(DEPENDENCIES) \
		-c -o $@ $<

# Two that are as large, with the call at another place.
$(recorder)/module_a.so: module_flags := -Wl,--build-id=sha1
$(recorder)/module_b.so: module_flags := -Wl,--build-id=none -DMODULE_PADDING
$(recorder_modules): test/recorder/module.c test/recorder/module.h
	@mkdir -p $(@D)
	@echo '  LINK    $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) $(LDFLAGS) -fPIC -shared $(module_flags) -o $@ $<

$(recorder)/recorder: $(recorder_objects) $(standin)/link/libibverbs.so
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pthread -Wl,--build-id=sha1 -o $@ $^ -lcriterion -ldl

$(recorder)/program: $(recorder)/program.o $(recorder)/held_linker.o $(standin)/link/libibverbs.so
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $^ -ldl -lrt

# As a program of its own: the thread sanitizer cannot be preloaded.
$(recorder)/tsan/program.o: test/recorder/program.c $(standin)/functions.def
	@mkdir -p $(@D)
	@echo '  CC      $< (thread sanitizer)'
	$(Q)$(CC) $(ALL_CFLAGS) $(tsan_cflags) $(recorder_cflags) $(CPPFLAGS) $(DEPENDENCIES) \
		-c -o $@ $<

$(recorder)/tsan/program: $(recorder)/tsan/program.o $(recorder)/held_linker.o $(shim_sources:%.c=$(tsan)/%.o) \
		$(tsan)/standin/libibverbs.so.1
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(tsan_cflags) $(LDFLAGS) -rdynamic -pthread -o $@ $^ -ldl -lrt

recorder_asan = $(shell $(CC) -print-file-name=libasan.so):$(abspath $(asan))/libibvbuf-preload.so

.PHONY: check-recorder-tools
check-recorder-tools: $(recorder)/tsan/program $(recorder)/program $(preload) \
		$(asan)/libibvbuf-preload.so $(asan_standins) $(standin)/34/libibverbs.so.1
	$(Q)status=0; \
	test/recorder/tools 'thread sanitizer' $(recorder)/tsan/program env \
		LD_LIBRARY_PATH=$(abspath $(tsan))/standin TSAN_OPTIONS=halt_on_error=1 || status=1; \
	test/recorder/tools 'address sanitizer' $(recorder)/program env \
		LD_LIBRARY_PATH=$(abspath $(asan))/standin/59 ASAN_OPTIONS=detect_leaks=0 \
		LD_PRELOAD=$(recorder_asan) || status=1; \
	test/recorder/tools Valgrind $(recorder)/program env \
		LD_LIBRARY_PATH=$(abspath $(standin))/34 LD_PRELOAD=$(abspath $(preload)) \
		$(memcheck_command) || status=1; \
	exit $$status

shared_by_suites += $(recorder)/program

-include $(wildcard $(recorder)/*.d $(recorder)/*/*.d)
