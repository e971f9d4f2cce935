# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# check-lint    formatting and static analysis
# prove-lint    the same, with the analyzer of clang going into each function that is called
SUITES += lint

.PHONY: check-lint prove-lint
check-lint prove-lint:
	$(Q)test/lint/check $(if $(findstring prove,$@),deep,shallow)
