# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The stand-in libibverbs of each generation: $(B)/test/standin/<generation>/libibverbs.so.1

ifndef standin
standin := $(B)/test/standin
standin_generations := 17 25 28 34 59 64 65
standin_sources := test/standin/log.c test/standin/verbs.c
standin_libraries := $(standin_generations:%=$(standin)/%/libibverbs.so.1)

$(standin)/functions.def: test/standin/symbols.table test/standin/functions.awk
	@mkdir -p $(@D)
	$(Q)awk -f test/standin/functions.awk $< > $@

$(standin)/%/version-script: test/standin/symbols.table test/standin/version-script.awk
	@mkdir -p $(@D)
	$(Q)awk -v generation=$* -f test/standin/version-script.awk $< > $@

# $(call standin_library,GENERATION,VERSION-SCRIPT,FLAGS): interposable, as the real one is.
define standin_library
	@echo '  STANDIN $@'
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(3) -DSTANDIN_GENERATION=$(1) -fPIC -fsemantic-interposition \
		-I$(standin) $(CPPFLAGS) $(LDFLAGS) -shared -Wl,-soname,libibverbs.so.1 \
		-Wl,--version-script,$(2) -o $@ $(standin_sources)
endef

.SECONDARY: $(standin_generations:%=$(standin)/%/version-script)
$(standin_libraries): $(standin)/%/libibverbs.so.1: $(standin_sources) test/standin/standin.h \
		test/standin/log.h $(standin)/functions.def $(standin)/%/version-script
	$(call standin_library,$*,$(standin)/$*/version-script)
	$(Q)ln -sf libibverbs.so.1 $(@D)/libibverbs.so

# What programs are linked with: the oldest generation, and every newer function without a version,
# so that whoever has it at run time is the one to serve it.
$(standin)/link/version-script: $(standin)/17/version-script
	@mkdir -p $(@D)
	$(Q)sed '/local:/d; /\*;$$/{/standin/!d}' $< > $@

$(standin)/link/libibverbs.so: $(standin_sources) test/standin/standin.h test/standin/log.h \
		$(standin)/functions.def $(standin)/link/version-script
	$(call standin_library,17,$(standin)/link/version-script)

shared_by_suites += $(standin_libraries) $(standin)/link/libibverbs.so
endif
