# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The drop-in: the shim's own objects and the newer calls, in an object that the loader takes for
# libibverbs.so.1, and that needs the real one under another name, beside it.
#
# Wanted of a Makefile that includes this: B, Q, the compiler's variables, shim_objects, and the rules
# for $(B)/shim/%.o and $(B)/exported.

dropin := $(B)/dropin/libibverbs.so.1
dropin_link := $(B)/dropin/libibverbs.so
dropin_sources := $(sort $(wildcard shim/dropin/*.c))
dropin_objects := $(dropin_sources:shim/%.c=$(B)/shim/%.o)

all: $(dropin) $(dropin_link)

# The needs are named first, and kept though nothing asks for them. DT_RPATH, not DT_RUNPATH: the
# real library beside this file is meant, whatever LD_LIBRARY_PATH has under that name.
$(dropin): $(shim_objects) $(dropin_objects) $(B)/dropin/stub/libibverbs-real.so.1 $(B)/dropin/dropin.map
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -nostartfiles -Wl,-soname,libibverbs.so.1 \
		-Wl,--version-script,$(B)/dropin/dropin.map -Wl,--no-undefined-version \
		-Wl,-z,defs,-z,text,-z,lazy,-z,nodelete \
		-Wl,--disable-new-dtags,-rpath,'$$ORIGIN' -o $@ \
		-Wl,--no-as-needed $(B)/dropin/stub/libibverbs-real.so.1 -Wl,--as-needed \
		$(shim_objects) $(dropin_objects) -ldl

$(dropin_link): $(dropin)
	$(Q)ln -sf libibverbs.so.1 $@

# Only its name counts. It has no symbol and no version, so the drop-in asks for none.
$(B)/dropin/stub/libibverbs-real.so.1:
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -nostdlib -Wl,-soname,libibverbs-real.so.1 -o $@ -x c /dev/null

# "name node release", a line a call; and "node release", a line a node, in their order.
$(B)/dropin/newer: shim/dropin/newer_calls.def
	@mkdir -p $(@D)
	$(Q)$(CC) -E -P -x c -D'NEWER(n,v,r,t,p,a,d)=@ n v r' -D'WATCHED(n,v,r)=@ n v r' $< | \
		tr -d '"\n' | tr '@' '\n' | awk 'NF == 3' > $@
	$(Q)test -s $@

$(B)/dropin/exported: $(B)/exported $(B)/dropin/newer
	$(Q)cat $^ > $@

$(B)/dropin/nodes: shim/dropin/version_nodes.def
	@mkdir -p $(@D)
	$(Q)$(CC) -E -P -x c -D'PUBLIC_NODE(v,r)=@ v r' -D'PRIVATE_NODE(v,r)=@ v r' $< | \
		tr -d '"\n' | tr '@' '\n' | awk 'NF == 2' > $@
	$(Q)test -s $@

$(B)/dropin/dropin.map: $(B)/dropin/exported $(B)/dropin/nodes shim/dropin/rules.mk
	$(Q)awk 'NR == FNR { names[$$2] = names[$$2] "\t\t" $$1 ";\n"; next } \
	     { printf "%s {\n", $$1; if ($$1 in names) printf "\tglobal:\n%s", names[$$1]; \
	       if (FNR == 1) printf "\tlocal:\n\t\t*;\n"; print "};" }' $(filter $(B)/%,$^) > $@

-include $(dropin_objects:.o=.d)
