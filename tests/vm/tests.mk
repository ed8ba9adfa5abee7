# SPDX-License-Identifier: BSD-2-Clause
# The kernel matrix. vm-payload is what a guest needs; tests/vm/matrix makes it
# for arm64 too.

VM_BIN := $(B)/tests/vm/insns

$(VM_BIN): tests/vm/insns.c $(B)/user/kern/arch.o | $(B)/weft.skel.h
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(C_FLAGS) $(LD_FLAGS) -MMD -MP -o $@ $(filter %.c %.o,$^) \
		$(LIBS)

-include $(VM_BIN:=.d)

.PHONY: vm-payload build-vm check-vm
vm-payload: $(VM_BIN) $(B)/weft truth-core

build-vm: vm-payload

check-vm: vm-payload
	$(Q)+tests/vm/matrix $(B)
