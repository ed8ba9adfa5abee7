# SPDX-License-Identifier: BSD-2-Clause
# What `make demo` runs: a service of callbacks, and somebody to use it.
DEMO_SERVICE := $(patsubst %,$(B)/demo/%.o,service http routes store sha256 loop)
DEMO_LOAD    := $(B)/demo/load.o

$(B)/demo/%.o: tools/demo/%.c
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE -Iinclude $(C_FLAGS) -MMD -MP -c $< -o $@

$(B)/demo/service: $(DEMO_SERVICE)
	$(call say,LINK)
	$(Q)$(CC) $(LD_FLAGS) -o $@ $^ -lz

$(B)/demo/load: $(DEMO_LOAD)
	$(call say,LINK)
	$(Q)$(CC) $(LD_FLAGS) -o $@ $^

-include $(DEMO_SERVICE:.o=.d) $(DEMO_LOAD:.o=.d)

.PHONY: demo-programs
demo-programs: $(B)/demo/service $(B)/demo/load
