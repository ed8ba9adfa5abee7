# SPDX-License-Identifier: BSD-2-Clause
#
#   make check-inlines      inlined functions and lines beside addr2line's, and damage
#                           under the sanitizers; RUNS= of it

INLINES_DIR   := $(B)/tests/inlines
INLINES_SRC   := $(wildcard user/base/*.c user/obj/*.c)
INLINES_FLAGS := -std=gnu11 -O1 -g -Wall -Wextra -Wno-unused-parameter \
                 -fno-omit-frame-pointer -fsanitize=address,undefined \
                 -fno-sanitize-recover=undefined

$(INLINES_DIR)/locations $(INLINES_DIR)/mutate: $(INLINES_DIR)/%: tests/inlines/%.c \
		$(INLINES_SRC) $(wildcard user/obj/*.h)
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(INLINES_FLAGS) -o $@ $< $(INLINES_SRC) $(FILE_LIBS)

.PHONY: build-inlines check-inlines
build-inlines: $(INLINES_DIR)/locations $(INLINES_DIR)/mutate $(B)/weft

check-inlines: build-inlines
	$(Q)tests/inlines/run $(abspath $(INLINES_DIR)) $(abspath $(B)/weft) \
		$(if $(filter command line,$(origin RUNS)),$(RUNS))
