# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The handle table: unit tests, each also with bad hashes, and a stress program that runs plain, under
# ThreadSanitizer and on an emulated arm64.
SUITES += table

table := $(B)/test/table
table_sources := shim/leaf_arena.c shim/handle_replace.c shim/handle_table.c shim/handle_walk.c
table_flags = -std=gnu11 $(WARNINGS) $(CFLAGS) -Ishim $(CPPFLAGS) -MMD -MP -MT $@ -pthread
table_tests := $(table)/table $(table)/threads $(table)/stops $(table)/constant-hash $(table)/four-hashes
table_stress := $(table)/stress $(table)/stress-tsan-gcc $(table)/stress-tsan-clang $(table)/stress-arm64
comma := ,
ARM64_CC ?= aarch64-linux-gnu-gcc
ARM64_RUN ?= qemu-aarch64-static

# A program has the table compiled into it: its own hash, its own sanitizer. $(1) compiler, $(2) test, $(3) flags
define table_program
	@echo '  TEST    $@'
	@mkdir -p $@.d
	$(Q)set -e; for source in $(table_sources) test/table/$(2); do \
		$(1) $(table_flags) $(3) -c -o $@.d/$$(basename $$source .c).o $$source; done
	$(Q)$(1) $(CFLAGS) $(3) -pthread $(LDFLAGS) -o $@ $@.d/*.o $(4)
endef

$(table)/table: test/table/test_table.c $(table_sources)
	$(call table_program,$(CC),test_table.c,,-lcriterion)
$(table)/threads: test/table/test_threads.c $(table_sources)
	$(call table_program,$(CC),test_threads.c,,-lcriterion)
$(table)/stops: test/table/test_stops.c $(table_sources)
	$(call table_program,$(CC),test_stops.c,,-lcriterion)
# A slot wears out after three uses here, where it does after 16 million elsewhere.
$(table)/constant-hash: test/table/test_hash.c $(table_sources)
	$(call table_program,$(CC),test_hash.c,'-DHANDLE_TABLE_HASH(key)=((void)(key)$(comma)0ull)' -DHANDLE_TABLE_USE_LIMIT=3,-lcriterion)
$(table)/four-hashes: test/table/test_hash.c $(table_sources)
	$(call table_program,$(CC),test_hash.c,'-DHANDLE_TABLE_HASH(key)=(((key) >> 12 & 3) * 0x5555555555555555ull)',-lcriterion)
$(table)/stress: test/table/stress.c $(table_sources)
	$(call table_program,$(CC),stress.c)
# gcc warns that its ThreadSanitizer ignores fences; every access here is atomic all the same.
$(table)/stress-tsan-gcc: test/table/stress.c $(table_sources)
	$(call table_program,gcc,stress.c,-fsanitize=thread -Wno-tsan)
$(table)/stress-tsan-clang: test/table/stress.c $(table_sources)
	$(call table_program,clang,stress.c,-fsanitize=thread)
$(table)/stress-arm64: test/table/stress.c $(table_sources)
	$(call table_program,$(ARM64_CC),stress.c,-static)

.PHONY: check-table
check-table: $(table_tests) $(table_stress)
	$(Q)set -e; for test in $(table_tests); do $$test; done
	$(table)/stress 4 1 1000000
	$(table)/stress 3 1 20000 8
	$(table)/stress 2 1 16
	TSAN_OPTIONS=halt_on_error=1 $(table)/stress-tsan-gcc 2 0 1000000 1 0
	TSAN_OPTIONS=halt_on_error=1 $(table)/stress-tsan-clang 4 0 50000 3
	$(ARM64_RUN) $(table)/stress-arm64 3 1 20000

-include $(wildcard $(table)/*.d/*.d)
