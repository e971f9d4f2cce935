# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
SUITES += example

.PHONY: check-example
check-example: $(preload) $(B)/examples/buf_pingpong
	$(Q)test/example/check $(preload) $(B)/examples/buf_pingpong
