# SPDX-License-Identifier: BSD-2-Clause
#
# Unwind tables beside what readelf says of the same files: those that are
# installed, and our own by every compiler and level that is there; and x86-64
# instructions beside objdump. What is not there is a skip.

CFI_DIR   := $(B)/tests/cfi
CFI_SRC   := $(wildcard tests/cfi/*.c)
CFI_BIN_SRC := $(filter-out tests/cfi/shapes.c,$(CFI_SRC))

$(CFI_DIR)/compare: $(CFI_BIN_SRC) $(wildcard tests/cfi/*.h) $(B)/libweft.a
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(C_FLAGS) $(LD_FLAGS) -o $@ $(CFI_BIN_SRC) \
		$(B)/libweft.a $(LIBS)

$(CFI_DIR)/calls: tests/cfi/calls/main.c tests/cfi/image.c tests/cfi/image.h \
		$(B)/libweft.a
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(C_FLAGS) $(LD_FLAGS) -o $@ $(filter %.c,$^) \
		$(B)/libweft.a $(LIBS)

.PHONY: build-cfi check-cfi
build-cfi: $(CFI_DIR)/compare $(CFI_DIR)/calls

check-cfi: build-cfi
	$(Q)tests/cfi/run $(CFI_DIR)
