# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Programs of Debian, traced on soft-RoCE: the kernel and a debugger saw the same.
SUITES += trace_vm

.PHONY: check-trace_vm
check-trace_vm: $(preload) $(B)/ibvbuf-trace
	$(Q)test/trace_vm/check $(abspath $(B))
