# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# check-contract    the contract, over each generation of libibverbs
# check-memcheck    the same under Valgrind, over two
# prove-memcheck    over one of each way of registering
# check-asan        the same with the address and the undefined behaviour sanitizer
# check-tsan        many threads, with the thread sanitizer, and 100,000 live buffers
# prove-tsan        1,000,000 live buffers

ifndef contract
SUITES += contract memcheck asan tsan

# Every rules.mk is read; this one needs the names in that one first.
include test/standin/rules.mk

contract := $(B)/test/contract
contract_helpers := contract configuration errors held_linker other_writer registrations
contract_tests := alloc answers attributes binding choice config diagnostics domains errno fork fork_status free \
	limits linker native register_buffer secure small
contract_objects := $(contract_helpers:%=%.o) $(contract_tests:%=%.o)
contract_constructor := $(contract)/constructor.so
contract_cflags := -Itest/standin -I$(standin) -DSYSCONFDIR='"$(SYSCONFDIR)"' \
	-DCONSTRUCTOR_MODULE='"$(abspath $(contract_constructor))"'

# A trace changes nothing that a program can see.
traced_generations := 34 65

.PHONY: check-contract check-memcheck prove-memcheck check-asan check-tsan prove-tsan
check-contract: $(contract)/contract $(contract)/late $(contract)/secure_program \
		$(contract)/stress $(contract_constructor) $(preload) $(standin_libraries)
	$(Q)status=0; \
	test/contract/run $(abspath $(preload) $(standin) $(contract)) $(standin_generations) || \
		status=1; \
	echo "traced:"; traces=$$(mktemp -d) && chmod 1777 "$$traces" && \
	CONTRACT_WRAPPER="env IBVBUF_TRACE=$$traces/%e-%p IBVBUF_TRACE_LIMIT=64K IBVBUF_TRACE_STACK=4" \
		test/contract/run $(abspath $(preload) $(standin) $(contract)) \
		$(traced_generations) || status=1; \
	rm -rf "$$traces"; \
	echo "stress over libibverbs of rdma-core 34:"; \
	LD_LIBRARY_PATH=$(abspath $(standin))/34 LD_PRELOAD=$(abspath $(preload)) \
		$(contract)/stress 4 1000000 || status=1; \
	exit $$status

$(contract)/%.o: test/contract/%.c $(standin)/functions.def
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) $(contract_cflags) $(CPPFLAGS) $(DEPENDENCIES) -c -o $@ $<

$(contract)/contract: $(addprefix $(contract)/,$(contract_objects)) $(standin)/link/libibverbs.so
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $^ -lcriterion -ldl

$(contract_constructor): test/contract/constructor.c $(standin)/link/libibverbs.so
	@mkdir -p $(@D)
	@echo '  LINK    $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) $(LDFLAGS) -fPIC -shared -o $@ $^

$(contract)/late: $(contract)/late.o
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcriterion -ldl

# Where secure.c puts its libibverbs.
$(contract)/secure_program: $(contract)/secure_program.o $(standin)/link/libibverbs.so
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,-rpath,/mnt -o $@ $^

$(contract)/stress: $(contract)/stress.o $(standin)/link/libibverbs.so
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $^

# The same tests with the small runner, for the tools.
memcheck := $(contract)/memcheck
runner_cflags := -Itest/contract/runner -DREPEATS_DIVISOR=25 $(contract_cflags)
small_objects := $(contract_objects) runner.o

$(memcheck)/%.o: test/contract/%.c $(standin)/functions.def
	@mkdir -p $(@D)
	@echo '  CC      $< (small runner)'
	$(Q)$(CC) $(ALL_CFLAGS) $(runner_cflags) $(CPPFLAGS) $(DEPENDENCIES) -c -o $@ $<

$(memcheck)/runner.o: test/contract/runner/runner.c
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) $(runner_cflags) $(CPPFLAGS) $(DEPENDENCIES) -c -o $@ $<

$(memcheck)/contract: $(addprefix $(memcheck)/,$(small_objects)) $(standin)/link/libibverbs.so
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $^ -ldl

$(memcheck)/late: $(memcheck)/late.o $(memcheck)/runner.o
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -ldl

# Left out: limits of the address space, which would be the tool's; programs that are started, which
# it does not follow; a child that lacks a thread of its parent, whose memory would be lost in it.
check-memcheck: memcheck_generations := 59 64
prove-memcheck: memcheck_generations := 17 59 64

memcheck_command := valgrind -q --error-exitcode=99 --leak-check=full \
	--show-leak-kinds=definite,indirect,possible --errors-for-leak-kinds=definite,indirect,possible

check-memcheck prove-memcheck: $(memcheck)/contract $(memcheck)/late $(contract_constructor) \
		$(preload) $(standin_libraries)
	$(Q)CONTRACT_SMALL_RUNNER=1 CONTRACT_WITHOUT='supplied_limits/* supplied_secure/* any_linker/a_child_*' \
		CONTRACT_WRAPPER='$(memcheck_command)' \
		test/contract/run $(abspath $(preload) $(standin) $(memcheck)) \
		$(memcheck_generations)

# The shim, the stand-in and the tests, each with the sanitizers in it.
asan := $(contract)/asan
# More optimization takes longer than it saves.
asan_cflags := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
asan_generations := 17 59 64
sanitized_shim = -Ishim -fPIC -fvisibility=hidden -DIBVBUF_VERSION='"$(VERSION)"' \
	-DIBVBUF_SYSCONFDIR='"$(SYSCONFDIR)"'

$(asan)/shim/%.o: shim/%.c
	@mkdir -p $(@D)
	@echo '  CC      $< (address sanitizer)'
	$(Q)$(CC) $(ALL_CFLAGS) $(asan_cflags) $(sanitized_shim) $(CPPFLAGS) $(DEPENDENCIES) \
		-c -o $@ $<

$(asan)/libibvbuf-preload.so: $(shim_sources:%.c=$(asan)/%.o) $(B)/preload.map
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(asan_cflags) $(LDFLAGS) -shared -Wl,-soname,libibvbuf-preload.so \
		-Wl,--version-script,$(B)/preload.map -Wl,-z,nodelete \
		-o $@ $(filter %.o,$^) -ldl

asan_standins := $(asan_generations:%=$(asan)/standin/%/libibverbs.so.1)
$(asan_standins): $(asan)/standin/%/libibverbs.so.1: $(standin_sources) test/standin/standin.h \
		test/standin/log.h $(standin)/functions.def $(standin)/%/version-script
	$(call standin_library,$*,$(standin)/$*/version-script,$(asan_cflags))
	$(Q)ln -sf libibverbs.so.1 $(@D)/libibverbs.so

$(asan)/%.o: test/contract/%.c $(standin)/functions.def
	@mkdir -p $(@D)
	@echo '  CC      $< (address sanitizer)'
	$(Q)$(CC) $(ALL_CFLAGS) $(asan_cflags) $(runner_cflags) $(CPPFLAGS) $(DEPENDENCIES) \
		-c -o $@ $<

$(asan)/runner.o: test/contract/runner/runner.c
	@mkdir -p $(@D)
	@echo '  CC      $< (address sanitizer)'
	$(Q)$(CC) $(ALL_CFLAGS) $(asan_cflags) $(runner_cflags) $(CPPFLAGS) $(DEPENDENCIES) \
		-c -o $@ $<

$(asan)/contract: $(addprefix $(asan)/,$(small_objects)) $(standin)/link/libibverbs.so
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(asan_cflags) $(LDFLAGS) -pthread -o $@ $^ -ldl

$(asan)/late: $(asan)/late.o $(asan)/runner.o
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(asan_cflags) $(LDFLAGS) -o $@ $^ -ldl

# The sanitizer has to be loaded before what is preloaded. Leaks are Valgrind's to find: this one
# does not look into mappings, where the handle tables are. Its allocator has locks, and a child may
# find one taken by a thread that it does not have.
check-asan: $(asan)/contract $(asan)/late $(contract_constructor) $(asan)/libibvbuf-preload.so \
		$(asan_standins)
	$(Q)CONTRACT_SMALL_RUNNER=1 \
		CONTRACT_WITHOUT='supplied_limits/* supplied_secure/* supplied_fork/in_the_middle_of_other_threads_work' \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
		test/contract/run "$$($(CC) -print-file-name=libasan.so):$(abspath $(asan))/libibvbuf-preload.so" \
		$(abspath $(asan)/standin $(asan)) $(asan_generations)

# The shim in the stress program itself: the thread sanitizer cannot be preloaded.
tsan := $(contract)/tsan
# gcc warns that its thread sanitizer does not see fences; the table that has them is all atomics.
tsan_cflags := -fsanitize=thread $(if $(findstring clang,$(CC)),,-Wno-tsan)

$(tsan)/shim/%.o: shim/%.c
	@mkdir -p $(@D)
	@echo '  CC      $< (thread sanitizer)'
	$(Q)$(CC) $(ALL_CFLAGS) $(tsan_cflags) $(sanitized_shim) $(CPPFLAGS) $(DEPENDENCIES) \
		-c -o $@ $<

$(tsan)/stress.o: test/contract/stress.c $(standin)/functions.def
	@mkdir -p $(@D)
	@echo '  CC      $< (thread sanitizer)'
	$(Q)$(CC) $(ALL_CFLAGS) $(tsan_cflags) $(contract_cflags) $(CPPFLAGS) $(DEPENDENCIES) \
		-c -o $@ $<

$(tsan)/standin/libibverbs.so.1: $(standin_sources) test/standin/standin.h test/standin/log.h \
		$(standin)/functions.def $(standin)/34/version-script
	$(call standin_library,34,$(standin)/34/version-script,$(tsan_cflags))

$(tsan)/stress: $(tsan)/stress.o $(shim_sources:%.c=$(tsan)/%.o) $(tsan)/standin/libibverbs.so.1
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(tsan_cflags) $(LDFLAGS) -rdynamic -pthread -o $@ $^ -ldl

check-tsan prove-tsan: $(tsan)/stress
	$(Q)LD_LIBRARY_PATH=$(abspath $(tsan))/standin TSAN_OPTIONS=halt_on_error=1 \
		$(tsan)/stress 4 $(if $(findstring prove,$@),1000000,100000)

# Those of the recorder, too.
shared_by_suites += $(asan)/libibvbuf-preload.so $(asan_standins) \
	$(shim_sources:%.c=$(tsan)/%.o) $(tsan)/standin/libibverbs.so.1

-include $(wildcard $(contract)/*.d $(contract)/*/*.d $(contract)/*/shim/*.d $(contract)/*/shim/trace/*.d)
endif
