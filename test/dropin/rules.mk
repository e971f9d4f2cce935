# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
SUITES += dropin

.PHONY: check-dropin
check-dropin: $(B)/dropin/libibverbs.so.1 $(B)/dropin/libibverbs.so $(B)/libibvbuf-preload.so $(B)/libibvbuf.so \
		$(B)/dropin/exported $(B)/dropin/newer $(B)/dropin/nodes $(B)/test/standin/34/libibverbs.so.1
	$(Q)B='$(B)' CC='$(CC)' test/dropin/check
