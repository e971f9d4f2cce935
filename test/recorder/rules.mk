# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# check-recorder    who writes the trace files: each call, each name, each way to be disturbed

SUITES += recorder

include test/standin/rules.mk

recorder := $(B)/test/recorder
recorder_tests := killed modules names operations processes records rings stacks surroundings
recorder_objects := $(patsubst %,$(recorder)/%.o,$(recorder_tests) recorder reading device runs contract \
	configuration with_pointers without_pointers)
recorder_cflags := -DSYSCONFDIR='"$(SYSCONFDIR)"' -Itest/recorder -Itest/contract -Itest/standin -I$(standin)
recorder_generations := 17 34 59 64 65
recorder_modules := $(recorder)/module_a.so $(recorder)/module_b.so

.PHONY: check-recorder
check-recorder: $(recorder)/recorder $(recorder)/program $(recorder_modules) $(preload) $(standin_libraries)
	$(Q)test/recorder/check $(abspath $(preload) $(standin) $(recorder)) $(recorder_generations)

$(recorder)/%.o: test/recorder/%.c $(standin)/functions.def
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) $(recorder_cflags) $(CPPFLAGS) $(DEPENDENCIES) -c -o $@ $<

$(recorder)/contract.o $(recorder)/configuration.o: $(recorder)/%.o: test/contract/%.c $(standin)/functions.def
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

$(recorder)/program: $(recorder)/program.o $(standin)/link/libibverbs.so
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $^ -lrt

-include $(wildcard $(recorder)/*.d)
