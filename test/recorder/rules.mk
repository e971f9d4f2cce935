# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# check-recorder    who writes the trace files: each call, each name, each way to be disturbed

SUITES += recorder

include test/standin/rules.mk

recorder := $(B)/test/recorder
recorder_tests := killed names operations processes records rings surroundings
recorder_objects := $(patsubst %,$(recorder)/%.o,$(recorder_tests) recorder reading device runs contract \
	configuration)
recorder_cflags := -DSYSCONFDIR='"$(SYSCONFDIR)"' -Itest/recorder -Itest/contract -Itest/standin -I$(standin)
recorder_generations := 17 34 59 64 65

.PHONY: check-recorder
check-recorder: $(recorder)/recorder $(recorder)/program $(preload) $(standin_libraries)
	$(Q)test/recorder/check $(abspath $(preload) $(standin) $(recorder)) $(recorder_generations)

$(recorder)/%.o: test/recorder/%.c $(standin)/functions.def
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) $(recorder_cflags) $(CPPFLAGS) $(DEPENDENCIES) -c -o $@ $<

$(recorder)/contract.o $(recorder)/configuration.o: $(recorder)/%.o: test/contract/%.c $(standin)/functions.def
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) $(recorder_cflags) $(CPPFLAGS) $(DEPENDENCIES) -c -o $@ $<

$(recorder)/recorder: $(recorder_objects) $(standin)/link/libibverbs.so
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pthread -Wl,--build-id=sha1 -o $@ $^ -lcriterion -ldl

$(recorder)/program: $(recorder)/program.o $(standin)/link/libibverbs.so
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $^ -lrt

-include $(wildcard $(recorder)/*.d)
