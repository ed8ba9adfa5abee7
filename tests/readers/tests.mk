# SPDX-License-Identifier: BSD-2-Clause
#
#   make check-readers    each format, read by the tools that it is for, and golden
#                         files; WEFT_READERS=folder of node_modules and cargo/bin
#   build/tests/readers/generate FILE CPUS HZ SECONDS

READERS_DIR := $(B)/tests/readers
READERS_BIN := $(READERS_DIR)/fixture $(READERS_DIR)/generate

$(READERS_DIR)/%: tests/readers/%.c $(B)/libweft.a
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(C_FLAGS) $(LD_FLAGS) -MMD -MP -o $@ $< \
		$(B)/libweft.a $(LIBS)

-include $(READERS_BIN:=.d)

.PHONY: build-readers check-readers
build-readers: $(B)/weft $(READERS_BIN)

check-readers: build-readers
	$(Q)WEFT=$(abspath $(B)/weft) READERS_BIN=$(abspath $(READERS_DIR)) \
		bats --tap tests/readers
