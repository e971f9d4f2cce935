# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The handle table.
#
# make check-table    unit tests, also with bad hashes; samples of the proofs; ThreadSanitizer; arm64
# make prove-table    operations stopped after every instruction, histories, mutants, a stress of ten
#                     minutes: about an hour
#
# Helgrind and DRD know no atomics but locked instructions: to them each relaxed or acquire load of a word
# that others write is a race, and a reader of a record reads such words on purpose. With the table's memory
# left out nothing remains that they could check, as annotations would say what has to be found out. What
# they would be for is done by ThreadSanitizer: a plain byte, written before a key is inserted and read by
# whoever finds it, is a race unless the table orders the two.
SUITES += table

table := $(B)/test/table
table_objects := leaf_arena.o handle_replace.o handle_table.o handle_walk.o
table_flags = -std=gnu11 $(WARNINGS) $(CFLAGS) -Ishim $(CPPFLAGS) -MMD -MP -pthread
comma := ,
ARM64_CC ?= aarch64-linux-gnu-gcc
ARM64_RUN ?= qemu-aarch64-static

# A flavour is a compiler and flags for the table and what is linked with it. $(1) its name, $(2), $(3)
define table_flavour
table_flavours += $(1)
$(table)/$(1)/%.o: shim/%.c
	@mkdir -p $$(@D)
	$$(Q)$(2) $$(table_flags) $(3) -c -o $$@ $$<
$(table)/$(1)/%.o: test/table/%.c
	@mkdir -p $$(@D)
	$$(Q)$(2) $$(table_flags) $(3) -c -o $$@ $$<
$(table)/$(1)/%: $(table)/$(1)/%.o $(addprefix $(table)/$(1)/,$(table_objects))
	@echo '  TEST    $$@'
	$$(Q)$(2) $$(CFLAGS) $(3) -pthread $$(LDFLAGS) -o $$@ $$^ $$(if $$(findstring test_,$$(@F)),-lcriterion)
endef

$(eval $(call table_flavour,plain,$$(CC)))
# Every key begins in the first bucket, and a slot wears out after three uses.
$(eval $(call table_flavour,crowded,$$(CC),'-DHANDLE_TABLE_HASH(key)=(handle_hash(key) & ~0xffffffffull)' -DHANDLE_TABLE_USE_LIMIT=3))
$(eval $(call table_flavour,constant,$$(CC),'-DHANDLE_TABLE_HASH(key)=((void)(key)$$(comma)0ull)' -DHANDLE_TABLE_USE_LIMIT=3))
$(eval $(call table_flavour,four,$$(CC),'-DHANDLE_TABLE_HASH(key)=(((key) >> 12 & 3) * 0x5555555555555555ull)'))
# gcc warns that its ThreadSanitizer ignores fences; every access here is atomic all the same.
$(eval $(call table_flavour,tsan-gcc,gcc,-fsanitize=thread -Wno-tsan))
$(eval $(call table_flavour,tsan-clang,clang,-fsanitize=thread))
$(eval $(call table_flavour,arm64,$$(ARM64_CC),-static))

table_tests := $(addprefix $(table)/,plain/test_table plain/test_threads constant/test_hash four/test_hash)
table_programs := $(table_tests) $(addprefix $(table)/,plain/suspend crowded/suspend plain/histories \
	crowded/histories plain/stress tsan-gcc/stress tsan-clang/stress arm64/stress arm64/histories)
table_tsan := TSAN_OPTIONS=halt_on_error=1

.SECONDARY: $(foreach flavour,$(table_flavours),$(addprefix $(table)/$(flavour)/,$(table_objects))) \
	$(addsuffix .o,$(table_programs))
.PHONY: table-programs check-table prove-table
table-programs: $(table_programs)

define table_check
$(table_tsan) $(table)/tsan-gcc/stress 2 0 300000 1 0
test/table/mutants $(B) quick
$(table)/plain/suspend 3
$(table)/crowded/suspend 3 lookup
$(table)/plain/stress 4 1 1000000 1 1
$(table)/plain/stress 3 1 20000 8
$(table)/plain/stress 4 1 20000 1 4 20
$(table)/plain/histories free 4 2
$(table)/plain/histories stepped 20
$(table)/crowded/histories stepped 10
$(table_tsan) $(table)/tsan-clang/stress 4 0 50000 3 2
$(ARM64_RUN) $(table)/arm64/stress 3 1 20000
endef
export table_check

define table_prove
$(table)/plain/suspend 0
$(table)/crowded/suspend 3000
test/table/mutants $(B) all
$(table)/plain/stress 8 600 200000 1 4 20
$(table)/crowded/stress 4 20 2000 1 4 20
$(table)/plain/histories free 8 120
$(table)/plain/histories free 2 60
$(table)/plain/histories stepped 2000
$(table)/crowded/histories free 8 60
$(table)/crowded/histories stepped 1000
$(table_tsan) $(table)/tsan-gcc/stress 8 20 100000 1
$(table_tsan) $(table)/tsan-clang/stress 8 20 100000 3
$(ARM64_RUN) $(table)/arm64/stress 8 60 20000
$(ARM64_RUN) $(table)/arm64/histories free 4 60
endef
export table_prove

check-table:
	$(Q)$(MAKE) --no-print-directory -j$(shell nproc) table-programs
	$(Q)set -e; for test in $(table_tests); do $$test; done
	$(Q)echo "$$table_check" | test/table/run

# All instructions; of those that are many because every search is a long one, up to 3000 a case.
prove-table: check-table $(table)/crowded/stress
	$(Q)echo "$$table_prove" | test/table/run

-include $(wildcard $(table)/*/*.d)
