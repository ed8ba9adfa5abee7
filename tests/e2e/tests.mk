# SPDX-License-Identifier: BSD-2-Clause
#
#   make check-e2e        recordings and faults, as root
#   make check-prompt     weft at the prompt, where no more is recorded than a test of
#                         words and files needs: beside whatever else runs

E2E_DIR   := $(B)/tests/e2e
E2E_FLAGS := -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -O1 -g -fno-omit-frame-pointer \
             -fno-optimize-sibling-calls -MMD -MP
# of one test; one that hangs fails alone
E2E_SECONDS ?= 300
E2E_BIN   := $(addprefix $(E2E_DIR)/,target moved corrupt alpha beta libspin.so windows ksyms storms brief turns stall jitdump compiled part)

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

# Nothing but code, so that a copy is cheap.
$(E2E_DIR)/brief: tests/e2e/brief.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(E2E_FLAGS) -nostdlib -static -o $@ $<

# A program whose profile is known.
$(E2E_DIR)/turns: tests/workloads/threads.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(E2E_FLAGS) -Iinclude -pthread -o $@ $<

# Of several threads.
$(E2E_DIR)/stall: tests/e2e/stall.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(E2E_FLAGS) -pthread -o $@ $<

# weft's own parts, put together in another way.
$(E2E_DIR)/windows $(E2E_DIR)/ksyms: $(E2E_DIR)/%: tests/e2e/%.c $(B)/libweft.a
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(C_FLAGS) $(LD_FLAGS) -MMD -MP -o $@ $< \
		$(B)/libweft.a $(LIBS)

$(E2E_DIR)/%: tests/e2e/%.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(E2E_FLAGS) -o $@ $<

-include $(E2E_BIN:=.d) $(E2E_DIR)/libspin.d

E2E_BATS := WEFT=$(abspath $(B)/weft) E2E_BIN=$(abspath $(E2E_DIR)) \
            BATS_TEST_TIMEOUT=$(E2E_SECONDS) bats --tap
E2E_PROMPT := $(patsubst %,tests/e2e/%.bats,cli debug doctor fleet lib limits names report terminal)

.PHONY: build-e2e check-e2e build-prompt check-prompt
build-e2e build-prompt: $(B)/weft $(E2E_BIN)

check-e2e: build-e2e
	$(Q)$(E2E_BATS) $(filter-out $(E2E_PROMPT),$(wildcard tests/e2e/*.bats))

check-prompt: build-prompt
	$(Q)$(E2E_BATS) $(E2E_PROMPT)
