# SPDX-License-Identifier: BSD-2-Clause
#
# Programs stepped instruction by instruction, beside the native walker. Their
# switch of stacks is x86-64's; elsewhere this is a skip that says so.

ORACLE_DIR   := $(B)/tests/oracle
ORACLE_KINDS := gcc-O0 gcc-O2 gcc-O3 clang-O0 clang-O2 clang-O3
ORACLE_BIN   := $(ORACLE_KINDS:%=$(ORACLE_DIR)/steps-%)
ORACLE_SRC   := $(wildcard tests/oracle/*.c)
STEPS_SRC    := $(addprefix tests/oracle/,start.c threads.c fibers.c)
ORACLE_OBJ   := $(patsubst %.c,$(ORACLE_DIR)/%.o,$(filter-out $(STEPS_SRC), \
                $(ORACLE_SRC)) tests/host_bpf/walker.c tests/host_bpf/codes.c \
                bpf/walk.bpf.c bpf/table.bpf.c bpf/async.bpf.c bpf/splice.bpf.c \
                user/core/sample.c user/core/view.c)
ORACLE_FLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter \
                -Wno-sign-compare -fno-strict-aliasing -Itests/host_bpf -Ibpf
STEPS_FLAGS  := -std=gnu11 -g -Wall -Wextra -Iinclude -fno-omit-frame-pointer \
                -ffreestanding -nostdlib -static -fno-pie -fno-pic -fcf-protection=none \
                -fno-stack-protector -fno-asynchronous-unwind-tables

$(ORACLE_DIR)/%.o: %.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ORACLE_FLAGS) -MMD -MP -c $< -o $@

$(ORACLE_DIR)/oracle: $(ORACLE_OBJ) $(B)/libweft.a
	$(call say,LINK)
	$(Q)$(CC) -o $@ $^ $(LIBS)

$(ORACLE_BIN): $(ORACLE_DIR)/steps-%: $(STEPS_SRC) tests/oracle/program.h \
		tests/oracle/shadow.h $(wildcard include/weft/*.h include/weft/*/*.h)
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(if $(filter clang%,$*),$(CLANG),$(CC)) -$(lastword $(subst -, ,$*)) \
		$(STEPS_FLAGS) -o $@ $(STEPS_SRC)

-include $(ORACLE_OBJ:.o=.d)

.PHONY: check-oracle
ifeq ($(ARCH),x86_64)
check-oracle: $(ORACLE_DIR)/oracle $(ORACLE_BIN)
	$(Q)$< $(ORACLE_BIN)
else
check-oracle:
	@echo "1..1"
	@echo "ok 1 - oracle # skip steps x86-64 programs only"
endif
