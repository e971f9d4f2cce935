# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
SUITES += build

.PHONY: check-build
check-build:
	$(Q)test/build/check_makefile
	$(Q)B=$(B) test/build/check
