# SPDX-License-Identifier: BSD-2-Clause
#
#   make check-inlines      inlined functions and lines beside addr2line's, and damage
#                           under the sanitizers; RUNS= of it
#   make names-long         10,000 random addresses (ADDRESSES=) each of large programs
#                           and libraries: names and lines beside other tools'; where
#                           functions of stripped libraries start, beside debug symbols
#                           (downloads packages of Debian, and installs none)

INLINES_DIR   := $(B)/tests/inlines

$(INLINES_DIR)/locations $(INLINES_DIR)/symbols $(INLINES_DIR)/mutate: $(INLINES_DIR)/%: tests/inlines/%.c \
		$(SANITIZED)/weft.a
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(SANITIZED_CC) -fsanitize=address,undefined -o $@ $^ $(FILE_LIBS)

.PHONY: build-inlines check-inlines names-long
build-inlines: $(INLINES_DIR)/locations $(INLINES_DIR)/symbols $(INLINES_DIR)/mutate $(B)/weft

check-inlines: build-inlines
	$(Q)tests/inlines/run $(abspath $(INLINES_DIR)) $(abspath $(B)/weft) \
		$(if $(filter command line,$(origin RUNS)),$(RUNS))

names-long: build-inlines $(B)/tests/starts/starts
	$(Q)tests/inlines/long $(abspath $(INLINES_DIR)) $(ADDRESSES)
