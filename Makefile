# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# make            the preload library, the drop-in, ibvbuf-run, ibvbuf-trace, the link stub, the example
# make demo       show it working, on this machine's RDMA device or in a virtual machine
# make check      all tests
# make check-NAME one suite: a folder of test/, or asan, tsan, memcheck
# make prove-NAME the long form of a suite: backings, lint, memcheck, table, trace, tsan, upstream, vm;
#                 and dmabuf
# make bench      benchmarks; make bench-full takes longer
# make install    PREFIX, SYSCONFDIR and DESTDIR are honoured; make uninstall takes it away

VERSION := 0.1.0

PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
B ?= build
# make V=1 shows each command.
Q := $(if $(V),,@)

CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wformat=2 $(WERROR)
ALL_CFLAGS := -std=gnu11 $(WARNINGS) -Iinclude $(CFLAGS)
DEPENDENCIES = -MMD -MP

# What is installed is listed with colons, and in words.
empty :=
ifneq ($(findstring $(empty) $(empty),$(PREFIX)),)
$(error PREFIX has a space, which cannot be: '$(PREFIX)')
endif
ifneq ($(findstring :,$(PREFIX)),)
$(error PREFIX has a colon, which cannot be: '$(PREFIX)')
endif

# What is left of a file whose making failed would count as made. The status of a pipe is that of its
# last command, so what comes out of one is looked at.
.DELETE_ON_ERROR:

shim_sources := $(sort $(wildcard shim/*.c shim/trace/*.c))
shim_objects := $(shim_sources:shim/%.c=$(B)/shim/%.o)

preload := $(B)/libibvbuf-preload.so
stub := $(B)/libibvbuf.so

.PHONY: all
all: $(preload) $(stub)

# Each test/*/rules.mk adds its suites, and what several of them need; the long ones start first.
SUITES :=
shared_by_suites :=
long_suites := build contract upstream memcheck trace table lint vm header recorder backings

include $(wildcard shim/dropin/rules.mk launcher/rules.mk trace/rules.mk examples/rules.mk test/*/rules.mk test/rules.mk bench/rules.mk)

# The library. Most processes that load it never use it: so nothing of it is bound before, and it
# has not even the constructors and destructors that the compiler gives to all, which do nothing in
# C and would have the pages brought in that they are in.
$(B)/shim/%.o: shim/%.c
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) -Ishim -fPIC -fvisibility=hidden -DIBVBUF_VERSION='"$(VERSION)"' \
		-DIBVBUF_SYSCONFDIR='"$(SYSCONFDIR)"' $(CPPFLAGS) $(DEPENDENCIES) -c -o $@ $<

$(preload): $(shim_objects) $(B)/preload.map
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -nostartfiles -Wl,-soname,libibvbuf-preload.so \
		-Wl,--version-script,$(B)/preload.map -Wl,--no-undefined-version \
		-Wl,-z,defs,-z,text,-z,lazy,-z,nodelete,--as-needed -o $@ $(shim_objects) -ldl

# Made from the table of calls: "name node release", a line a call.
$(B)/exported: shim/verbs_calls.def Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) -E -P -x c -D'EXPORTED(n,v,r,t,p)=@ n v r' -D'CALLED(n,v,r,t,p)=' $< | \
		tr -d '"\n' | tr '@' '\n' | awk 'NF == 3' > $@
	$(Q)test -s $@

$(B)/preload.map: $(B)/exported Makefile
	$(Q)awk '{ names[$$2] = names[$$2] "\t\t" $$1 ";\n" } \
	     END { hidden = "\tlocal:\n\t\t*;\n"; for (node in names) { \
		   printf "%s {\n\tglobal:\n%s%s};\n", node, names[node], hidden; hidden = "" } }' $< > $@

# What a program links with where the system's own libibverbs lacks the calls: all that library
# offers at its version nodes, and the new calls without a version, so that any libibverbs or
# preload that has them serves. It stands in for -libverbs at link time; nothing in it is ever run.
libibverbs = $(shell $(CC) -print-file-name=libibverbs.so)

$(B)/stub.symbols: $(B)/exported Makefile
	$(Q)readelf --dyn-syms -W $(libibverbs) > $@.read
	$(Q)awk ' \
		NR == FNR { if ($$3 >= 59) { print $$1, "-"; new[$$1] = 1 } next } \
		$$4 == "FUNC" && split($$8, part, "@@") == 2 && !(part[1] in new) { print part[1], part[2] } \
	' $(B)/exported $@.read > $@
	$(Q)test -s $@

$(B)/stub.c: $(B)/stub.symbols
	$(Q)awk '{ printf "void %s(void);\nvoid %s(void)\n{\n}\n", $$1, $$1 }' $< > $@

$(B)/stub.map: $(B)/stub.symbols
	$(Q)awk '$$2 != "-" { names[$$2] = names[$$2] "\t\t" $$1 ";\n" } \
	     END { for (node in names) printf "%s {\n\tglobal:\n%s};\n", node, names[node] }' $< > $@

$(stub): $(B)/stub.c $(B)/stub.map
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -fno-builtin -shared -fPIC -Wl,-soname,libibverbs.so.1 \
		-Wl,--version-script,$(B)/stub.map -o $@ $<

# Installed where no linker finds it by accident.
libdir := $(PREFIX)/lib/ibvbuf
includedir := $(PREFIX)/include/ibvbuf
mandir := $(PREFIX)/share/man

# What is compiled or written in changes when these do.
$(B)/settings: FORCE
	@mkdir -p $(@D)
	@echo '$(PREFIX) $(SYSCONFDIR) $(VERSION)' | cmp -s - $@ || echo '$(PREFIX) $(SYSCONFDIR) $(VERSION)' > $@

.PHONY: FORCE
FORCE:

$(B)/shim/config.o $(B)/shim/report.o $(B)/shim/trace/trace_file.o $(B)/launcher/options.o \
$(B)/trace/main.o $(B)/ibvbuf.pc: $(B)/settings

$(B)/ibvbuf.pc: shim/ibvbuf.pc.in Makefile
	$(Q)sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' $< > $@

# "file directory mode", a line a file; man pages are added below.
installed := \
	$(launcher):$(PREFIX)/bin:755 $(tracer):$(PREFIX)/bin:755 \
	$(preload):$(libdir):755 $(stub):$(libdir):755 $(dropin):$(libdir)/dropin:755 \
	include/infiniband/verbs.h:$(includedir)/infiniband:644 include/ibvbuf/trace.h:$(includedir)/ibvbuf:644 \
	$(B)/ibvbuf.pc:$(PREFIX)/lib/pkgconfig:644 \
	$(foreach page,$(wildcard man/*.[1-8]),$(page):$(mandir)/man$(subst .,,$(suffix $(page))):644)

.PHONY: install uninstall
install: all $(B)/ibvbuf.pc
	$(Q)set -e; for entry in $(installed); do \
		IFS=:; set -- $$entry; unset IFS; \
		echo "  INSTALL $(DESTDIR)$$2/$${1##*/}"; \
		install -D -m "$$3" "$$1" "$(DESTDIR)$$2/$${1##*/}"; \
	done
	$(Q)ln -sf libibverbs.so.1 "$(DESTDIR)$(libdir)/dropin/libibverbs.so"
	$(Q)conf="$(DESTDIR)$(SYSCONFDIR)/ibvbuf-preload.conf"; \
	if [ -e "$$conf" ]; then echo "  KEPT    $$conf"; \
	elif [ -n "$(DESTDIR)" ] || [ -w "$(SYSCONFDIR)" ]; then \
		echo "  INSTALL $$conf"; install -D -m 644 ibvbuf-preload.conf "$$conf"; \
	elif [ ! -e "$(SYSCONFDIR)" ] && install -D -m 644 ibvbuf-preload.conf "$$conf" 2>/dev/null; then \
		echo "  INSTALL $$conf"; \
	else echo "  SKIPPED $$conf (cannot be written; it holds comments only)"; fi

# The configuration stays: it may be the administrator's.
uninstall:
	$(Q)set -e; for entry in $(installed); do \
		IFS=:; set -- $$entry; unset IFS; \
		echo "  REMOVE  $(DESTDIR)$$2/$${1##*/}"; \
		rm -f "$(DESTDIR)$$2/$${1##*/}"; \
	done; \
	rm -f "$(DESTDIR)$(libdir)/dropin/libibverbs.so"; \
	rmdir "$(DESTDIR)$(libdir)/dropin" "$(DESTDIR)$(libdir)" "$(DESTDIR)$(includedir)/infiniband" "$(DESTDIR)$(includedir)/ibvbuf" "$(DESTDIR)$(includedir)" \
		2>/dev/null || true

.PHONY: demo
demo:
	$(Q)test/deps build vm
	$(Q)$(MAKE) --no-print-directory all
	$(Q)examples/demo $(B)

.PHONY: check
check:
	$(Q)test/deps build check vm
	$(Q)$(MAKE) --no-print-directory -j$(shell nproc) all $(shared_by_suites)
	$(Q)MAKE='$(MAKE)' B='$(B)' test/run-suites $(long_suites) $(filter-out $(long_suites),$(sort $(SUITES)))

.PHONY: help
help:
	@sed -n '3,/^$$/s/^# \?//p' Makefile

.PHONY: clean
clean:
	rm -rf $(B)

-include $(shim_objects:.o=.d)
