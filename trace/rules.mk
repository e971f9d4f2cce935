# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The reader of traces.

tracer := $(B)/ibvbuf-trace
tracer_objects := $(patsubst trace/%.c,$(B)/trace/%.o,$(sort $(wildcard trace/*.c)))
# What it has in common with the launcher.
tracer_shared_sources := $(addprefix launcher/,elf_file.c json.c message.c string_list.c utf8.c)
tracer_shared := $(tracer_shared_sources:launcher/%.c=$(B)/launcher/%.o)

all: $(tracer)

$(B)/trace/%.o: trace/%.c
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) -DIBVBUF_VERSION='"$(VERSION)"' $(CPPFLAGS) $(DEPENDENCIES) -c -o $@ $<

$(tracer): $(tracer_objects) $(tracer_shared)
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(tracer_objects) $(tracer_shared)

-include $(tracer_objects:.o=.d)
