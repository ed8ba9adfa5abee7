# SPDX-License-Identifier: BSD-2-Clause
# Included by the Makefile. A program tests/unit/test_X.c is a cmocka suite of
# its own; tests/*/tests.mk adds what its folder needs.

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:%.c=$(B)/%)

$(B)/tests/unit/%: tests/unit/%.c $(B)/libweft.a
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(C_FLAGS) $(LD_FLAGS) -MMD -MP -o $@ $< \
		$(B)/libweft.a -lcmocka $(LIBS)

# What of bpf/ walks and splices, which tests also build natively.
WALK_BPF := $(addprefix bpf/,$(addsuffix .bpf.c,splice cross chain walk records bottom leaf table \
              roots chunk))

-include $(UNIT_BIN:=.d)
-include $(wildcard tests/*/tests.mk) $(wildcard tools/*/tools.mk)

.PHONY: build-unit check-unit build-lint check-lint check-quick check
build-unit: $(UNIT_BIN)

check-unit: build-unit
	$(Q)status=0; for t in $(UNIT_BIN); do \
		CMOCKA_MESSAGE_OUTPUT=TAP $$t || status=1; done; exit $$status

build-lint: all

check-lint:
	$(Q)status=0; B=$(B) tools/lint || status=1; \
	tests/lint/planted || status=1; exit $$status

# What must be installed is installed first, so make itself starts anew.
check:
	$(Q)tools/setup --check
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) all
	$(Q)tests/run $(B)

check-quick: all
	$(Q)tests/run $(B) unit headers host_bpf
