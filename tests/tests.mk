# SPDX-License-Identifier: BSD-2-Clause
# Included by the Makefile. A program tests/unit/test_X.c is a cmocka suite of
# its own; tests/*/tests.mk adds what its folder needs.

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:%.c=$(B)/%)

# What is tested is optimized, and not who tests: compiling that is most of the work.
$(B)/tests/unit/%: tests/unit/%.c $(B)/libweft.a
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(C_FLAGS) -O1 $(LD_FLAGS) -MMD -MP -o $@ $< \
		$(B)/libweft.a -lcmocka $(LIBS)

# What of bpf/ walks and splices, which tests also build natively.
WALK_BPF := $(addprefix bpf/,$(addsuffix .bpf.c,splice cross chain walk records bottom hotspot hotspot_code leaf table goroutine luajit hosted beam \
              roots chunk))

# What reads bytes that others wrote, once, under the sanitizers and to be driven by a
# fuzzer, for each suite that damages them. An archive, so that what a program needs
# comes and the rest stays away.
SANITIZED     := $(B)/tests/sanitized
SANITIZED_CC  := $(CLANG) -gline-tables-only -O1 -fno-omit-frame-pointer -fno-sanitize-recover=undefined \
                 $(CPPFLAGS) -std=gnu11 -Wall -Wextra -Wno-unused-parameter \
                 -Wno-missing-field-initializers
SANITIZED_OBJ := $(patsubst %.c,$(SANITIZED)/%.o,$(wildcard $(foreach folder,base obj unwind \
                 core proc worker tape pipeline format format/*,user/$(folder)/*.c) \
                 user/deliver/otlp*.c) $(addprefix user/,deliver/pprof_part.c deliver/split.c \
                 record/attribute_pairs.c))

$(SANITIZED)/%.o: %.c | $(B)/unwind_builder.h $(B)/page/page.html
	$(call say,FUZZ)
	$(Q)mkdir -p $(@D)
	$(Q)$(SANITIZED_CC) -fsanitize=fuzzer-no-link,address,undefined -MMD -MP -c $< -o $@

-include $(SANITIZED_OBJ:.o=.d)

$(SANITIZED)/weft.a: $(SANITIZED_OBJ)
	$(Q)rm -f $@ && ar rcs $@ $^

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
