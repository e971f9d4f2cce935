# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# check-backings    every kind of memory: what runs anywhere here, the rest in the virtual machine
# prove-backings    also with a newer kernel, and an exhausted heap, which takes that one
SUITES += backings

# Every rules.mk is read; this one needs the names in that one first.
include test/parent_domain/rules.mk

backings := $(B)/test/backings
backings_objects := $(patsubst %,$(backings)/%.o,backings descriptors exhaustion exports failures forks guest promises) \
	$(backings)/possessions.o $(backings)/errors.o $(backings)/runner.o \
	$(parent_domain)/heap.o $(parent_domain)/providers.o
rdma_objects := $(backings)/rdma.o $(backings)/possessions.o $(backings)/errors.o $(backings)/runner.o \
	$(patsubst %,$(B)/examples/%.o,peer_socket rc_connection rc_domain rc_gid)

.PHONY: check-backings prove-backings
check-backings prove-backings: $(backings)/backings $(backings)/rdma \
		$(parent_domain)/libibverbs.so.1 $(example) $(preload)
	$(Q)test/backings/check $(abspath $(B)) $(if $(findstring prove,$@),--all)

# With the small runner: Criterion starts the program again for each test, which takes long in the
# virtual machine.
backings_cflags := -Itest/contract/runner $(parent_domain_cflags) -Iexamples

$(backings)/%.o: test/backings/%.c
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) $(backings_cflags) $(CPPFLAGS) $(DEPENDENCIES) -c -o $@ $<

$(backings)/errors.o: test/contract/errors.c
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) $(backings_cflags) $(CPPFLAGS) $(DEPENDENCIES) -c -o $@ $<

$(backings)/runner.o: test/contract/runner/runner.c
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) $(backings_cflags) $(CPPFLAGS) $(DEPENDENCIES) -c -o $@ $<

$(backings)/backings: $(backings_objects) $(parent_domain)/link/libibverbs.so
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pthread -rdynamic -Wl,-z,lazy -o $@ $^ -ldl

# Over the real library.
$(backings)/rdma: $(rdma_objects) $(stub)
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,-z,lazy -o $@ $^ -libverbs -ldl

-include $(backings_objects:.o=.d) $(backings)/rdma.d
