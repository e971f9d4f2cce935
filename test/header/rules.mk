# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
SUITES += header

.PHONY: check-header
check-header:
	B='$(B)' test/header/check
