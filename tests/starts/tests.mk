# SPDX-License-Identifier: BSD-2-Clause
#
# Where functions start that have no symbol, beside the symbols of the same code: of
# installed libraries, of which some export nearly all, and of our own before they were
# stripped. All that are installed: make check-starts FILES="$(ls /usr/lib/*/*.so)"

STARTS_DIR := $(B)/tests/starts

$(STARTS_DIR)/starts: tests/starts/main.c $(B)/libweft.a
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(C_FLAGS) $(LD_FLAGS) -o $@ $< $(B)/libweft.a $(LIBS)

.PHONY: check-starts
check-starts: $(STARTS_DIR)/starts
	$(Q)tests/starts/run $(STARTS_DIR) $(FILES)
