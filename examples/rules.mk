# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The example, linked with the stub: it starts on any libibverbs.

example := $(B)/examples/buf_pingpong
example_objects := $(patsubst examples/%.c,$(B)/examples/%.o,$(sort $(wildcard examples/*.c)))

all: $(example)

$(B)/examples/%.o: examples/%.c
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) $(DEPENDENCIES) -c -o $@ $<

$(example): $(example_objects) $(stub)
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,-z,lazy -o $@ $(example_objects) $(stub) -libverbs -ldl

-include $(example_objects:.o=.d)
