# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The virtual machine that real verbs tests run in.
#
# make check-vm    in one tree
# make prove-vm    in every tree
SUITES += vm

.PHONY: check-vm prove-vm
check-vm:
	$(Q)test/vm/selftest bookworm

prove-vm:
	$(Q)test/vm/selftest
