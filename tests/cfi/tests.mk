# SPDX-License-Identifier: BSD-2-Clause
#
# Unwind tables beside what readelf says of the same files: those that are
# installed, and our own by every compiler and level that is there; and x86-64
# instructions beside objdump, and code read as if it had no such information beside what
# it has. What is not there is a skip.

CFI_DIR   := $(B)/tests/cfi
CFI_SRC   := $(wildcard tests/cfi/*.c)
CFI_BIN_SRC := $(filter-out tests/cfi/shapes.c,$(CFI_SRC))

$(CFI_DIR)/compare: $(CFI_BIN_SRC) $(wildcard tests/cfi/*.h) $(B)/libweft.a
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(C_FLAGS) $(LD_FLAGS) -o $@ $(CFI_BIN_SRC) \
		$(B)/libweft.a $(LIBS)

$(CFI_DIR)/calls $(CFI_DIR)/flow: $(CFI_DIR)/%: tests/cfi/%/main.c tests/cfi/image.c \
		tests/cfi/image.h $(B)/libweft.a
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(C_FLAGS) $(LD_FLAGS) -o $@ $(filter %.c,$^) \
		$(B)/libweft.a $(LIBS)

.PHONY: build-cfi check-cfi
build-cfi: $(addprefix $(CFI_DIR)/,compare calls flow)

check-cfi: build-cfi
	$(Q)tests/cfi/run $(CFI_DIR)
