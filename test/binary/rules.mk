# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
SUITES += binary

.PHONY: check-binary
check-binary: $(B)/libibvbuf-preload.so $(B)/exported
	test/binary/check $(B)/libibvbuf-preload.so $(B)/exported
