# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# rdma-core 65's own programs and tests over older libraries, in the virtual machine.
#
# make check-upstream    a part of it, in about two minutes without KVM
# make prove-upstream    all of it, over every library
SUITES += upstream

upstream_test := $(B)/test/upstream
upstream_needs := $(B)/ibvbuf-run $(preload) $(B)/dropin/libibverbs.so.1 $(B)/dropin/libibverbs.so \
	$(upstream_test)/register_malloc

# Built for the library of the machine, as any older program is. -g: its addresses are looked up.
$(upstream_test)/register_malloc: test/upstream/register_malloc.c
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) -std=gnu11 $(WARNINGS) $(CFLAGS) -g $(CPPFLAGS) $(LDFLAGS) -o $@ $< -libverbs

.PHONY: check-upstream prove-upstream
check-upstream: $(upstream_needs)
	$(Q)B='$(B)' test/upstream/check

prove-upstream: $(upstream_needs)
	$(Q)B='$(B)' test/upstream/check --all
