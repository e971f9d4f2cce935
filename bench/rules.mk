# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# make bench        what can be felt, against what one would take instead: about 5 minutes
# make bench-full   the same with all sizes and numbers of threads: about an hour
#
# Each program writes its results to $(B)/bench; the last thing that is printed is the table of goals.

bench := $(B)/bench
bench_cflags = $(ALL_CFLAGS) -Ishim -Ibench $(CPPFLAGS) $(DEPENDENCIES)
bench_objects := $(bench)/harness.o
bench_tables := $(patsubst bench/tables/%.c,$(bench)/tables/%.o,$(sort $(wildcard bench/tables/*.c)))
bench_table_objects := $(bench)/shim/leaf_arena.o $(bench)/shim/handle_replace.o \
	$(bench)/shim/handle_table.o $(bench)/shim/handle_walk.o
bench_table_libraries := -lurcu-memb -lurcu-cds -lurcu-common -lck
bench_programs := $(addprefix $(bench)/,table growth calls startup collect count vm_steps traced_calls \
	tracing_worker)

.PHONY: bench bench-full bench-programs
bench-programs: $(bench_programs) $(bench)/instant/libibverbs.so.1

# One after the other: they are alone on the machine, or measure each other.
bench bench-full:
	$(Q)test/deps bench
	$(Q)$(MAKE) --no-print-directory all bench-programs
	$(Q)B='$(B)' CC='$(CC)' CFLAGS='$(CFLAGS)' bench/run $(if $(findstring full,$@),full,quick)

$(bench)/%.o: bench/%.c
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(bench_cflags) -pthread -c -o $@ $<

# The table as the shim has it, but for -fPIC.
$(bench)/shim/%.o: shim/%.c
	@mkdir -p $(@D)
	@echo '  CC      $< (bench)'
	$(Q)$(CC) $(bench_cflags) -c -o $@ $<

$(bench)/table $(bench)/growth: $(bench)/%: $(bench)/%.o $(bench_objects) $(bench_tables) $(bench_table_objects)
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $^ $(bench_table_libraries) -lm

$(bench)/startup $(bench)/collect $(bench)/traced_calls: $(bench)/%: $(bench)/%.o $(bench_objects)
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm

$(bench)/calls $(bench)/count $(bench)/vm_steps: $(bench)/%: $(bench)/%.o $(bench_objects) $(stub)
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,-z,lazy -o $@ $(filter %.o,$^) $(stub) -lm -ldl

$(bench)/tracing_worker: $(bench)/tracing_worker.o $(bench)/tracing_lttng.o $(bench_objects) $(stub)
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,-z,lazy -o $@ $(filter %.o,$^) $(stub) -lm -llttng-ust -ldl

$(bench)/instant/libibverbs.so.1: bench/instant.c bench/instant.map
	@mkdir -p $(@D)
	@echo '  LINK    $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) $(LDFLAGS) -shared -fPIC -Wl,-soname,libibverbs.so.1 \
		-Wl,--version-script,bench/instant.map -o $@ $<

-include $(wildcard $(bench)/*.d $(bench)/tables/*.d $(bench)/shim/*.d)
