# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The launcher, as it is installed, on programs of every kind.
SUITES += launcher

launcher_test := $(B)/test/launcher

# Files that lie are read under the sanitizers.
hostile_sources := test/launcher/hostile.c $(addprefix launcher/,elf_file.c elf_symbols.c \
	findings.c json.c library_facts.c library_search.c loader_cache.c loader_model.c \
	message.c paths.c string_list.c utf8.c)

$(launcher_test)/hostile: $(hostile_sources) $(wildcard launcher/*.h) shim/verbs_calls.def
	@mkdir -p $(@D)
	@echo '  CC      $@'
	$(Q)$(CC) $(ALL_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all -Ishim \
		-Ilauncher -o $@ $(hostile_sources) -ldl

.PHONY: check-launcher
check-launcher: $(B)/ibvbuf-run $(B)/ibvbuf-trace $(preload) $(stub) $(B)/dropin/libibverbs.so.1 $(launcher_test)/hostile
	CC='$(CC)' test/launcher/check $(B) $(launcher_test)
