# SPDX-License-Identifier: BSD-2-Clause
#
#   make check-crosscheck   weft's stacks beside libdwfl's, of the same ticks, on
#                           real programs

CROSS_DIR  := $(B)/tests/crosscheck
CROSS_OBJ  := $(patsubst %.c,$(B)/%.o,$(wildcard tests/crosscheck/*.c))
# these calls of the recording come by the capture first
CROSS_WRAP := -Wl,--wrap=tick_open,--wrap=sampler_start,--wrap=sampler_read

# the judge's witness of waits, too
CROSS_OBJ  += $(CROSS_DIR)/witness.o

$(CROSS_DIR)/witness.o: tests/truth/witness.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(C_FLAGS) -MMD -MP -c $< -o $@

$(CROSS_DIR)/%.o: tests/crosscheck/%.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(C_FLAGS) -Itests/truth -MMD -MP -c $< -o $@

$(CROSS_DIR)/crosscheck: $(CROSS_OBJ) $(B)/libweft.a
	$(call say,LINK)
	$(Q)$(CC) $(LD_FLAGS) $(CROSS_WRAP) -o $@ $^ -ldw $(LIBS)

# Whether the comparison sees what is wrong, on stacks made by hand.
$(CROSS_DIR)/test_compare: $(CROSS_DIR)/unit/test_compare.o $(CROSS_DIR)/compare.o
	$(call say,LINK)
	$(Q)$(CC) $(LD_FLAGS) -o $@ $^ -lcmocka

UNIT_BIN += $(CROSS_DIR)/test_compare

-include $(CROSS_OBJ:.o=.d) $(CROSS_DIR)/unit/test_compare.d

.PHONY: build-crosscheck check-crosscheck
build-crosscheck: $(CROSS_DIR)/crosscheck workloads

check-crosscheck: build-crosscheck
	$(Q)tests/crosscheck/run $(B)
