# SPDX-License-Identifier: BSD-2-Clause
#
# Programs stepped instruction by instruction, beside the native walker: with
# frame pointers and nothing else, and without them by their unwind tables. Their
# switch of stacks is x86-64's; elsewhere this is a skip that says so.

ORACLE_DIR   := $(B)/tests/oracle
ORACLE_FP    := $(addprefix $(ORACLE_DIR)/steps-fp-,gcc-O0 gcc-O2 gcc-O3 clang-O0 \
                clang-O2 clang-O3)
ORACLE_TABLE := $(addprefix $(ORACLE_DIR)/steps-,gcc-O0 gcc-O2 gcc-O3 clang-O0 \
                clang-O2 clang-O3)
ORACLE_SRC   := $(wildcard tests/oracle/*.c)
STEPS_SRC    := $(addprefix tests/oracle/,start.c threads.c fibers.c ways.c)
ORACLE_OBJ   := $(patsubst %.c,$(ORACLE_DIR)/%.o,$(filter-out $(STEPS_SRC), \
                $(ORACLE_SRC)) tests/host_bpf/walker.c tests/host_bpf/codes.c \
                bpf/walk.bpf.c bpf/table.bpf.c bpf/async.bpf.c bpf/splice.bpf.c \
                user/core/sample.c user/core/view.c)
ORACLE_FLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter \
                -Wno-sign-compare -fno-strict-aliasing -Itests/host_bpf -Ibpf
STEPS_FLAGS  := -std=gnu11 -g -Wall -Wextra -Iinclude -D_GNU_SOURCE \
                -ffreestanding -nostdlib -static -fno-pie -fno-pic -fcf-protection=none \
                -fno-stack-protector
FP_FLAGS     := -DFRAME_POINTERS -fno-omit-frame-pointer -fno-asynchronous-unwind-tables \
                -DFRAME_POINTERS_ALONE
TABLE_FLAGS  := -fomit-frame-pointer -fasynchronous-unwind-tables

$(ORACLE_DIR)/%.o: %.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ORACLE_FLAGS) -MMD -MP -c $< -o $@

$(ORACLE_DIR)/oracle: $(ORACLE_OBJ) $(B)/libweft.a
	$(call say,LINK)
	$(Q)$(CC) -o $@ $^ $(LIBS)

$(ORACLE_FP) $(ORACLE_TABLE): $(ORACLE_DIR)/steps-%: $(STEPS_SRC) tests/oracle/program.h \
		tests/oracle/shadow.h $(wildcard include/weft/*.h include/weft/*/*.h)
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(if $(findstring clang,$*),$(CLANG),$(CC)) -$(lastword $(subst -, ,$*)) \
		$(STEPS_FLAGS) $(if $(filter fp-%,$*),$(FP_FLAGS),$(TABLE_FLAGS)) \
		-o $@ $(STEPS_SRC)

-include $(ORACLE_OBJ:.o=.d)

.PHONY: check-oracle
ifeq ($(ARCH),x86_64)
check-oracle: $(ORACLE_DIR)/oracle $(ORACLE_FP) $(ORACLE_TABLE)
	$(Q)$< --fp $(ORACLE_FP) --tables $(ORACLE_TABLE)
else
check-oracle:
	@echo "1..1"
	@echo "ok 1 - oracle # skip steps x86-64 programs only"
endif
