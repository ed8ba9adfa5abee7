# SPDX-License-Identifier: BSD-2-Clause
#
#   make workloads         all of the ground truth's programs, in build/tests/workloads:
#                          <compiler>-<optimization>[-omit]/<program>, without frame
#                          pointers where it says omit; and static, static-pie,
#                          musl, musl-static, stripped, where the machine can build
#                          them
#   make workloads-core    those that the core needs: core/<program>, all static
#
# Tail calls would take true callers off the stack, so there are none.

WORK_DIR   := $(B)/tests/workloads
WORK_CLANG := $(CLANG)$(if $(filter aarch64,$(ARCH)),$(if $(filter aarch64,$(shell \
              uname -m)),, --target=aarch64-linux-gnu))
WORK_FLAGS := -std=gnu11 -Wall -Wextra -g -Iinclude -fno-optimize-sibling-calls \
              -pthread -Wl,-z,now -MMD -MP
WITH_FP    := -fno-omit-frame-pointer
WORK_PLAIN := nest threads storm chain label levels roots wait moves late skip held \
              contain plugins reopen fiber byhand stub probed cloned \
              copied stowed \
              $(if $(filter x86_64,$(ARCH)),jump kept probe generated entered \
              dead reload)
WORK_FOLLY := folly-weak folly-unique folly-local folly-global
WORK_PLUGS := $(foreach n,0 1 2 3 4 5 6 7 8 9,libplug$(n).so)
WORK_LIBS  := liblate.so liblive.so libdead.so $(WORK_PLUGS)
WORK_LINKS := nest threads storm chain roots wait moves contain folly-weak folly-local
WORK_KINDS := gcc-O2 clang-O0 gcc-O3-omit clang-O2-omit
APP_KINDS  := gcc-O2 clang-O2 gcc-O3-omit clang-O2-omit
WORK_MUSL  := $(if $(filter x86_64,$(ARCH)),$(shell command -v musl-gcc))

gcc-O2_CC        := $(CC) -O2 $(WITH_FP)
gcc-O3-omit_CC   := $(CC) -O3 -fomit-frame-pointer
clang-O0_CC      := $(WORK_CLANG) -O0 $(WITH_FP)
clang-O2-omit_CC := $(WORK_CLANG) -O2 -fomit-frame-pointer
clang-O2_CC      := $(WORK_CLANG) -O2 $(WITH_FP)
static_CC        := $(CC) -O2 -static -DNO_LIBRARIES $(WITH_FP)
static-pie_CC    := $(CC) -O2 -static-pie -DNO_LIBRARIES $(WITH_FP)
musl_CC          := $(WORK_MUSL) -O2 -fomit-frame-pointer
musl-static_CC   := $(WORK_MUSL) -O2 -static $(WITH_FP)
stripped_CC      := $(CC) -O2 -Wl,--dynamic-list=tests/workloads/stripped.list -s
# arm64: return addresses are signed, also while they are in the register
core_aarch64     := -mbranch-protection=pac-ret+leaf+bti
# gcc leaves out of a static program what all others have, so that functions are found
core_CC          := $(CC) -O2 -static -fomit-frame-pointer -Wl,--eh-frame-hdr $(core_$(ARCH))

# A program's own flags.
folly-weak_FLAGS   := -DKEY_WEAK
folly-unique_FLAGS := -DKEY_UNIQUE
folly-local_FLAGS  := -DKEY_LOCAL
folly-global_FLAGS := -DKEY_GLOBAL -rdynamic
libdead.so_FLAGS   := -DKEY_GLOBAL
liblive.so_FLAGS   := -DKEY_LOCAL
# half of the plugins' keys are hidden ones, the others static
$(foreach n,0 2 4 6 8,$(eval libplug$(n).so_FLAGS := -DKEY_GLOBAL -fvisibility=hidden))
$(foreach n,1 3 5 7 9,$(eval libplug$(n).so_FLAGS := -DKEY_LOCAL))
swap-decoy_FLAGS   := -DDECOY
swap_LINK          := -static -no-pie -Wl,--section-start=.swapkey=0x10000000

work_in = $(addprefix $(WORK_DIR)/$(1)/,$(2))

WORKLOADS := $(foreach k,$(WORK_KINDS),\
                 $(call work_in,$(k),$(WORK_PLAIN) $(WORK_FOLLY) $(WORK_LIBS))) \
             $(foreach k,static static-pie,$(call work_in,$(k),$(WORK_LINKS))) \
             $(call work_in,static,swap swap-decoy) \
             $(call work_in,stripped,chain) \
             $(if $(WORK_MUSL),$(foreach k,musl musl-static,\
                 $(call work_in,$(k),$(WORK_LINKS))))
CORE_WORKLOADS := $(call work_in,core,nest threads storm chain roots wait moves skip \
                      stub probed fiber byhand stowed cloned swap swap-decoy \
                      $(if $(filter x86_64,$(ARCH)),entered))

# $(1) kind/program, $(2) source, $(3) flags
define work_rule
$(WORK_DIR)/$(1): tests/workloads/$(2)
	$$(call say,WORK)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$($(firstword $(subst /, ,$(1)))_CC) $$(WORK_FLAGS) $(3) -o $$@ $$<
endef
work_rules = $(foreach p,$(2),$(eval $(call work_rule,$(1)/$(p),$(3),$($(p)_FLAGS) $(4))))

$(foreach k,$(WORK_KINDS) static static-pie musl musl-static stripped core,\
  $(foreach p,$(WORK_PLAIN),$(call work_rules,$(k),$(p),$(p).c)) \
  $(call work_rules,$(k),$(WORK_FOLLY),folly.c) \
  $(call work_rules,$(k),liblate.so,liblate.c,-shared -fPIC) \
  $(call work_rules,$(k),liblive.so libdead.so,follylib.c,-shared -fPIC) \
  $(foreach n,0 1 2 3 4 5 6 7 8 9,\
    $(call work_rules,$(k),libplug$(n).so,plugin.c,-shared -fPIC -DPLUGIN=$(n))) \
  $(call work_rules,$(k),swap swap-decoy,swap.c,$(swap_LINK)))

# The application of coroutines. gcc leaves a coroutine for another by a tail call,
# so here these are wanted; what else could be one has something to do behind it.
WORK_APP  := $(foreach k,$(APP_KINDS),$(call work_in,$(k),app))
APP_FLAGS := $(subst -std=gnu11,-std=gnu++20,$(filter-out -fno-optimize-%,$(WORK_FLAGS)))

$(WORK_APP): $(WORK_DIR)/%/app: tests/workloads/app/main.cpp
	$(call say,WORK)
	$(Q)mkdir -p $(@D)
	$(Q)$($*_CC) $(APP_FLAGS) -o $@ $< -lstdc++

-include $(addsuffix .d,$(basename $(WORKLOADS) $(CORE_WORKLOADS)) $(WORK_APP))

.PHONY: workloads workloads-core workloads-app
workloads: $(WORKLOADS) $(WORK_APP)
workloads-core: $(CORE_WORKLOADS)
workloads-app: $(WORK_APP)
