# SPDX-License-Identifier: BSD-2-Clause
#
# Programs stepped instruction by instruction, beside the native walker: with
# frame pointers and nothing else, as if they were generated code, and without frame
# pointers by their unwind tables. What is x86-64's is stepped natively; arm64's by what
# emulates it, so on x86-64 too.

ORACLE_DIR   := $(B)/tests/oracle
ORACLE_SRC   := $(addprefix tests/oracle/,oracle.c judge.c tables.c tracer.c truth.c)
STEPS_SRC    := $(addprefix tests/oracle/,start.c threads.c fibers.c ways.c \
                bare.c)
ORACLE_WALK  := tests/host_bpf/walker.c tests/host_bpf/codes.c $(WALK_BPF) \
                user/core/sample.c user/core/view.c
ORACLE_FLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter \
                -Wno-sign-compare -fno-strict-aliasing -Itests/host_bpf -Ibpf
STEPS_FLAGS  := -std=gnu11 -g -Wall -Wextra -Iinclude -D_GNU_SOURCE \
                -fno-builtin -nostdlib -static -fno-pie -fno-pic -fno-stack-protector
FP_FLAGS     := -DFRAME_POINTERS -fno-omit-frame-pointer -fno-asynchronous-unwind-tables \
                -DFRAME_POINTERS_ALONE
TABLE_FLAGS  := -fomit-frame-pointer -fasynchronous-unwind-tables

STEPS_GCC    := gcc-O0 gcc-O2 gcc-O3
STEPS_CLANG  := clang-O0 clang-O2 clang-O3

STEPS_x86_64_TABLE := $(STEPS_GCC) $(STEPS_CLANG)
# to clang 14's tables for arm64 a prologue begins with its end
STEPS_arm64_TABLE  := $(STEPS_GCC)
STEPS_x86_64_FLAGS := -fcf-protection=none
STEPS_x86_64_gcc   := $(CC)
STEPS_x86_64_clang := $(CLANG)
# a step ends a load that is to be exclusive, so none are used
STEPS_arm64_FLAGS  := -march=armv8-a+lse
STEPS_arm64_gcc    := aarch64-linux-gnu-gcc
STEPS_arm64_clang  := $(CLANG) --target=aarch64-linux-gnu \
                      -isystem /usr/aarch64-linux-gnu/include
EMULATOR           := qemu-aarch64-static

# $(1): the machine that is stepped
define oracle_rules
ORACLE_$(1)_OBJ   := $$(patsubst %.c,$$(ORACLE_DIR)/$(1)/%.o,$$(ORACLE_SRC) $$(ORACLE_WALK) \
                     tests/oracle/machine_$(1).c)
ORACLE_$(1)_FP    := $$(addprefix $$(ORACLE_DIR)/$(1)/steps-fp-,$$(STEPS_GCC) $$(STEPS_CLANG))
ORACLE_$(1)_TABLE := $$(addprefix $$(ORACLE_DIR)/$(1)/steps-,$$(STEPS_$(1)_TABLE))

$$(ORACLE_DIR)/$(1)/%.o: %.c
	$$(call say,TEST)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CPPFLAGS) $$(ORACLE_FLAGS) -D__TARGET_ARCH_$$(subst x86_64,x86,$(1)) \
		-DEMULATOR='"$$(EMULATOR)"' -MMD -MP -c $$< -o $$@

$$(ORACLE_DIR)/$(1)/oracle: $$(ORACLE_$(1)_OBJ) $$(B)/libweft.a
	$$(call say,LINK)
	$$(Q)$$(CC) -o $$@ $$^ $$(LIBS)

$$(ORACLE_$(1)_FP) $$(ORACLE_$(1)_TABLE): $$(ORACLE_DIR)/$(1)/steps-%: $$(STEPS_SRC) \
		tests/oracle/asm_$(1).c tests/oracle/program.h tests/oracle/shadow.h \
		$$(wildcard include/weft/*.h include/weft/*/*.h)
	$$(call say,TEST)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(STEPS_$(1)_$$(if $$(findstring clang,$$*),clang,gcc)) \
		-$$(lastword $$(subst -, ,$$*)) $$(STEPS_FLAGS) $$(STEPS_$(1)_FLAGS) \
		$$(if $$(filter fp-%,$$*),$$(FP_FLAGS),$$(TABLE_FLAGS)) \
		-o $$@ $$(filter %.c,$$^)

-include $$(ORACLE_$(1)_OBJ:.o=.d)

.PHONY: oracle-$(1)
oracle-$(1): $$(ORACLE_DIR)/$(1)/oracle $$(ORACLE_$(1)_FP) $$(ORACLE_$(1)_TABLE)
	$$(Q)$$< --fp $$(ORACLE_$(1)_FP) --code $$(filter %-O2,$$(ORACLE_$(1)_FP)) \
		--tables $$(ORACLE_$(1)_TABLE)
endef

$(eval $(call oracle_rules,x86_64))
$(eval $(call oracle_rules,arm64))

ORACLE_ARM64 := $(if $(shell command -v $(STEPS_arm64_gcc)),$(shell command -v $(EMULATOR)))
ORACLES      := x86_64 $(if $(ORACLE_ARM64),arm64)

.PHONY: build-oracle check-oracle
ifeq ($(ARCH),x86_64)
build-oracle: $(foreach m,$(ORACLES),$(ORACLE_DIR)/$(m)/oracle $(ORACLE_$(m)_FP) \
                $(ORACLE_$(m)_TABLE))

check-oracle:
	$(if $(ORACLE_ARM64),,@echo "ok 1 - arm64 # skip no $(STEPS_arm64_gcc) or no $(EMULATOR)")
	$(Q)$(MAKE) --no-print-directory -j2 -Oline $(ORACLES:%=oracle-%)
else
check-oracle:
	@echo "ok 1 - oracle # skip steps x86-64 natively, arm64 beside it"
endif
