# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# buf_pingpong, linked with the stub: it starts on any libibverbs. registrations, which needs nothing
# new: something to trace.

example := $(B)/examples/buf_pingpong
traced_example := $(B)/examples/registrations
example_sources := $(filter-out examples/registrations.c,$(sort $(wildcard examples/*.c)))
example_objects := $(example_sources:%.c=$(B)/%.o)

all: $(example) $(traced_example)

$(B)/examples/%.o: examples/%.c
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) $(DEPENDENCIES) -c -o $@ $<

$(example): $(example_objects) $(stub)
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,-z,lazy -o $@ $(example_objects) $(stub) -libverbs -ldl

$(traced_example): $(B)/examples/registrations.o
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $^ -libverbs

-include $(example_objects:.o=.d) $(B)/examples/registrations.d
