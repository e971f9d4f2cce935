# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# make prove-dmabuf    buffers in DMA-bufs, on a device that registers these: ../vm/dmabuf_rxe. Not in
#                      make check: the first time, it compiles a module of the kernel

dmabuf_test := $(B)/test/dmabuf
dmabuf_objects := $(patsubst %,$(dmabuf_test)/%.o,attachments dmabuf writer)

.PHONY: prove-dmabuf
prove-dmabuf: all $(dmabuf_test)/dmabuf $(dmabuf_test)/provider.so
	$(Q)test/dmabuf/check $(abspath $(B))

$(dmabuf_test)/%.o: test/dmabuf/%.c
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(ALL_CFLAGS) -Itest/contract/runner -Itest/backings -Iexamples $(CPPFLAGS) $(DEPENDENCIES) \
		-c -o $@ $<

# Over the real library.
$(dmabuf_test)/dmabuf: $(dmabuf_objects) $(filter-out $(backings)/rdma.o,$(rdma_objects)) $(stub)
	@echo '  LINK    $@'
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,-z,lazy -o $@ $^ -libverbs -ldl

$(dmabuf_test)/provider.so: test/vm/dmabuf_rxe/provider.c test/vm/dmabuf_rxe/provider.map
	@mkdir -p $(@D)
	@echo '  LINK    $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) $(LDFLAGS) -fPIC -shared -Wl,-soname,provider.so \
		-Wl,--version-script,test/vm/dmabuf_rxe/provider.map -o $@ $< -ldl

-include $(dmabuf_objects:.o=.d)
