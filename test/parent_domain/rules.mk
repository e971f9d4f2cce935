# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# check-parent-domain    the opt-in to unprotected memory, with stand-ins for providers and heaps
ifndef parent_domain
SUITES += parent-domain

parent_domain := $(B)/test/parent_domain
parent_domain_tests := buffers heap heaps hooks later opt_in providers rehearsal
parent_domain_objects := $(parent_domain_tests:%=$(parent_domain)/%.o) $(parent_domain)/possessions.o \
	$(parent_domain)/errors.o
parent_domain_cflags := -Itest/parent_domain -Itest/backings

.PHONY: check-parent-domain
check-parent-domain: $(parent_domain)/parent_domain $(parent_domain)/libibverbs.so.1 \
		$(parent_domain)/later/libibverbs.so.1 $(preload)
	$(Q)test/parent_domain/check $(abspath $(preload) $(parent_domain))

parent_domain_library := test/parent_domain/library.c test/parent_domain/library.h \
	test/parent_domain/library.map
parent_domain_shared = $(CC) $(ALL_CFLAGS) -fPIC $(CPPFLAGS) $(LDFLAGS) -shared \
	-Wl,-soname,libibverbs.so.1

$(parent_domain)/libibverbs.so.1: $(parent_domain_library)
	@mkdir -p $(@D)
	@echo '  STANDIN $@'
	$(Q)$(parent_domain_shared) -Wl,--version-script,test/parent_domain/library.map -o $@ $<

$(parent_domain)/later/libibverbs.so.1: $(parent_domain_library) \
		$(addprefix test/parent_domain/later_library.,c map)
	@mkdir -p $(@D)
	@echo '  STANDIN $@'
	$(Q)cat test/parent_domain/library.map test/parent_domain/later_library.map > $(@D)/map
	$(Q)$(parent_domain_shared) -Wl,--version-script,$(@D)/map -o $@ $< \
		test/parent_domain/later_library.c

# What the tests are linked with: the calls of the buffer API in it have no version, so that the
# preload's are found.
$(parent_domain)/link/libibverbs.so: $(parent_domain_library) $(B)/exported
	@mkdir -p $(@D)
	@echo '  STANDIN $@'
	$(Q)sed '/local:/d; /\*;$$/{/library/!d}' test/parent_domain/library.map > $(@D)/map
	$(Q)awk '$$3 >= 59 { print "void " $$1 "(void); void " $$1 "(void) {}" }' $(B)/exported \
		> $(@D)/calls.c
	$(Q)$(parent_domain_shared) -Wl,--version-script,$(@D)/map -o $@ $< $(@D)/calls.c

$(parent_domain)/%.o: test/parent_domain/%.c
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) $(parent_domain_cflags) $(CPPFLAGS) $(DEPENDENCIES) -c -o $@ $<

$(parent_domain)/possessions.o: test/backings/possessions.c
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) $(DEPENDENCIES) -c -o $@ $<

$(parent_domain)/errors.o: test/contract/errors.c
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) $(DEPENDENCIES) -c -o $@ $<

# Its own syscall() and ioctl() take the place of the C library's, for the preload as well.
$(parent_domain)/parent_domain: $(parent_domain_objects) $(parent_domain)/link/libibverbs.so
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pthread -rdynamic -Wl,-z,lazy -o $@ $^ -lcriterion -ldl

-include $(parent_domain_objects:.o=.d)
endif
