# SPDX-License-Identifier: BSD-2-Clause
#
#   make check-truth      every workload, by both compilers, and the negative controls
#                         (the same suite must fail with a part of the splice gone)
#   make truth-long       an application of coroutines (tests/workloads/app), recorded
#                         until SAMPLES=1000000 stacks are judged whole, in both views
#   make truth-core       what `truth --core` needs, in a virtual machine for one:
#                         tests/truth/truth and tests/workloads/core

TRUTH_SRC := $(wildcard tests/truth/*.c) user/base/error.c user/base/str.c
TRUTH_HDR := $(wildcard tests/truth/*.h user/base/*.h)
TRUTH_CC   = $(CC) $(CPPFLAGS) $(C_FLAGS) -Itests/truth $(LD_FLAGS)
TRUTH_RUN  = $(B)/tests/truth/truth --weft $(B)/weft --dir $(WORK_DIR)

$(B)/tests/truth/truth: $(TRUTH_SRC) $(TRUTH_HDR)
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(TRUTH_CC) -o $@ $(TRUTH_SRC) -ljansson

# Whether the judge sees what is wrong, on profiles made by hand.
$(B)/tests/truth/test_judge: tests/truth/unit/test_judge.c $(TRUTH_SRC) $(TRUTH_HDR)
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(TRUTH_CC) -o $@ $< $(filter-out %/main.c,$(TRUTH_SRC)) -ljansson -lcmocka

UNIT_BIN += $(B)/tests/truth/test_judge

.PHONY: build-truth check-truth truth-long truth-core
build-truth: $(B)/weft $(B)/tests/truth/truth workloads

check-truth: build-truth
	$(Q)tests/truth/run $(TRUTH_RUN)

SAMPLES ?= 1000000
LONG_HZ ?= 9999

truth-long: $(B)/weft $(B)/tests/truth/truth workloads-app
	$(Q)$(TRUTH_RUN) --only 'app/*' --hz $(LONG_HZ) --all-ms 10000 --samples $(SAMPLES)

truth-core: $(B)/tests/truth/truth workloads-core
