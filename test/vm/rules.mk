# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The virtual machine that real verbs tests run in.
SUITES += vm

.PHONY: check-vm
check-vm:
	$(Q)test/vm/selftest
