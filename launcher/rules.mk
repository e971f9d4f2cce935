# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The launcher. It looks for the libraries beside itself, here and when it is installed.

launcher := $(B)/ibvbuf-run
launcher_objects := $(patsubst launcher/%.c,$(B)/launcher/%.o,$(sort $(wildcard launcher/*.c)))

# What a value of the configuration may be is said in one place.
launcher_shared := $(B)/shim/config_values.o $(B)/shim/trace/trace_name.o

all: $(launcher)

$(B)/launcher/%.o: launcher/%.c
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) -Ishim -DIBVBUF_VERSION='"$(VERSION)"' $(CPPFLAGS) $(DEPENDENCIES) \
		-c -o $@ $<

$(launcher): $(launcher_objects) $(launcher_shared)
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(launcher_objects) $(launcher_shared) -Wl,--as-needed -ldl

-include $(launcher_objects:.o=.d)
