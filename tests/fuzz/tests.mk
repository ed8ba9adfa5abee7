# SPDX-License-Identifier: BSD-2-Clause
#
#   make fuzz-in RUNS=10000000   readers and writers under clang's fuzzer
#
# Not a suite: how long it runs is for who runs it to say.

FUZZ_DIR := $(B)/tests/fuzz
FUZZ_SRC := $(wildcard user/base/*.c user/in/*.c user/out/*.c) $(filter-out \
            user/core/sample.c,$(wildcard user/core/*.c))
RUNS     ?= 100000

$(FUZZ_DIR)/fuzz_in: tests/fuzz/fuzz_in.c $(FUZZ_SRC)
	$(call say,FUZZ)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -g -O2 -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined $(CPPFLAGS) -std=gnu11 -o $@ $^ -lz

.PHONY: fuzz-in
fuzz-in: $(FUZZ_DIR)/fuzz_in
	$(Q)mkdir -p $(FUZZ_DIR)/corpus
	$(Q)tests/fuzz/seeds $(B)/weft $(FUZZ_DIR)/corpus
	$(Q)ASAN_OPTIONS=quarantine_size_mb=4:detect_leaks=1 \
		$(FUZZ_DIR)/fuzz_in -runs=$(RUNS) -max_len=4096 -print_final_stats=1 \
		-artifact_prefix=$(FUZZ_DIR)/ $(FUZZ_DIR)/corpus
