# SPDX-License-Identifier: BSD-2-Clause
# The kernel matrix. vm-payload is what a guest needs; tests/vm/matrix makes it
# for arm64 too.

VM_BIN := $(B)/tests/vm/insns

$(VM_BIN): tests/vm/insns.c $(B)/libweft.a | $(B)/weft.skel.h
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(C_FLAGS) $(LD_FLAGS) -MMD -MP -o $@ $(filter %.c %.o %.a,$^) \
		$(LIBS)

-include $(VM_BIN:=.d)

# the thread-local variable not at the thread pointer, where an alignment matters
VM_TRACED := $(B)/tests/vm/traced

$(VM_TRACED): tests/e2e/traced.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O1 -g -DEARLIER=100 -static-pie -fPIE -pthread $(LD_FLAGS) \
		-Wl,--export-dynamic-symbol=otel_thread_ctx_v1 -o $@ $<

VM_ATTRIBUTES := $(B)/tests/vm/attributes

$(VM_ATTRIBUTES): tests/agent/attributes.c tests/agent/otel_ctx.h
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O1 -g -D_GNU_SOURCE -static-pie -fPIE -pthread $(LD_FLAGS) \
		-Wl,--export-dynamic-symbol=otel_thread_ctx_v1 -o $@ $<

VM_BEGINS := $(B)/tests/vm/begins

$(VM_BEGINS): tests/e2e/begins.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -static -pthread $(LD_FLAGS) -o $@ $<

.PHONY: vm-payload build-vm check-vm
vm-payload: $(VM_BIN) $(VM_TRACED) $(VM_ATTRIBUTES) $(VM_BEGINS) $(B)/weft truth-core

build-vm: vm-payload

check-vm: vm-payload
	$(Q)+tests/vm/matrix $(B)
