# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
SUITES += lint

.PHONY: check-lint
check-lint:
	test/lint/check
