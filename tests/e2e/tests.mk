# SPDX-License-Identifier: BSD-2-Clause
#
#   make check-e2e        weft at the prompt; as root also recordings and faults

E2E_DIR   := $(B)/tests/e2e
E2E_FLAGS := -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -O1 -g -fno-omit-frame-pointer \
             -fno-optimize-sibling-calls -MMD -MP
E2E_BIN   := $(addprefix $(E2E_DIR)/,target moved corrupt alpha beta libspin.so)

# Two programs at the same addresses.
$(E2E_DIR)/alpha $(E2E_DIR)/beta: tests/e2e/image.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(E2E_FLAGS) -DNAME=$(@F) -static -no-pie -o $@ $<

# Compact, so that what comes after its first page is not code.
$(E2E_DIR)/libspin.so: tests/e2e/libspin.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(E2E_FLAGS) -shared -fPIC -nostdlib -Wl,-z,noseparate-code \
		-Wl,--build-id -Wl,--hash-style=gnu -o $@ $<

$(E2E_DIR)/%: tests/e2e/%.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(E2E_FLAGS) -o $@ $<

-include $(E2E_BIN:=.d) $(E2E_DIR)/libspin.d

.PHONY: check-e2e
check-e2e: $(B)/weft $(E2E_BIN)
	$(Q)WEFT=$(abspath $(B)/weft) E2E_BIN=$(abspath $(E2E_DIR)) bats --tap tests/e2e
