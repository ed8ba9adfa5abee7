# SPDX-License-Identifier: BSD-2-Clause
#
# Mutated sections, under the sanitizers. Here for seconds; for a night:
#   make fuzz-cfi RUNS=100000000

FUZZ_DIR   := $(B)/tests/fuzz
FUZZ_FILES := $(foreach flags,-O0 -O2 -O2~-fno-omit-frame-pointer \
              -g~-fno-asynchronous-unwind-tables~-nostdlib,$(FUZZ_DIR)/shapes$(flags).so)
RUNS       ?= 300000
SEED       ?= 1

$(FUZZ_DIR)/cfi: $(addprefix tests/,fuzz/cfi.c fuzz/sections.c cfi/image.c) $(SANITIZED)/weft.a \
		$(wildcard tests/fuzz/*.h tests/cfi/*.h)
	$(call say,FUZZ)
	$(Q)mkdir -p $(@D)
	$(Q)$(SANITIZED_CC) -fsanitize=address,undefined -Wl,--wrap=fstat -Wl,--wrap=pread \
		-o $@ $(filter-out %.h,$^) $(FILE_LIBS)

$(FUZZ_FILES): $(FUZZ_DIR)/shapes%.so: tests/cfi/shapes.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -w -shared -fPIC $(subst ~, ,$*) -o $@ $<

# Entries of the cache; for a night: make fuzz-entries RUNS=100000000
$(FUZZ_DIR)/entries: tests/fuzz/entries.c $(SANITIZED)/weft.a
	$(call say,FUZZ)
	$(Q)mkdir -p $(@D)
	$(Q)$(SANITIZED_CC) -fsanitize=address,undefined -o $@ $^ $(FILE_LIBS)

.PHONY: build-fuzz check-fuzz fuzz-cfi fuzz-entries
build-fuzz: $(addprefix $(FUZZ_DIR)/,cfi entries fuzz_in parsers) $(FUZZ_FILES) $(B)/weft

check-fuzz: fuzz-cfi fuzz-entries fuzz-in-briefly fuzz-parsers-briefly
fuzz-entries: $(FUZZ_DIR)/entries $(FUZZ_FILES)
	$(Q)$< $(RUNS) $(SEED) $(FUZZ_FILES) /bin/true

fuzz-cfi: $(FUZZ_DIR)/cfi $(FUZZ_FILES)
	$(Q)$< $(RUNS) $(SEED) $(FUZZ_FILES) /bin/true \
		$(wildcard /lib64/ld-linux-x86-64.so.2 /usr/aarch64-linux-gnu/lib/libm.so.6)

# Readers and writers under clang's fuzzer, as long as one likes:
#   make fuzz-in RUNS=10000000
$(FUZZ_DIR)/fuzz_in: tests/fuzz/fuzz_in.c $(SANITIZED)/weft.a
	$(call say,FUZZ)
	$(Q)mkdir -p $(@D)
	$(Q)$(SANITIZED_CC) -fsanitize=fuzzer,address,undefined -o $@ $^ $(FILE_LIBS)

FUZZ_IN_RUN := ASAN_OPTIONS=quarantine_size_mb=4:detect_leaks=1 \
            $(FUZZ_DIR)/fuzz_in -max_len=4096 -entropic=0 -artifact_prefix=$(FUZZ_DIR)/

.PHONY: fuzz-in fuzz-in-briefly
fuzz-in: $(FUZZ_DIR)/fuzz_in $(B)/weft
	$(Q)mkdir -p $(FUZZ_DIR)/corpus
	$(Q)tests/fuzz/seeds $(B)/weft $(FUZZ_DIR)/corpus
	$(Q)$(FUZZ_IN_RUN) -runs=$(RUNS) -print_final_stats=1 $(FUZZ_DIR)/corpus

# the same from the seeds alone, so that a new writer is not the first to know
fuzz-in-briefly: $(FUZZ_DIR)/fuzz_in $(B)/weft
	$(Q)rm -rf $(FUZZ_DIR)/seeds && mkdir -p $(FUZZ_DIR)/seeds
	$(Q)tests/fuzz/seeds $(B)/weft $(FUZZ_DIR)/seeds
	$(Q)$(FUZZ_IN_RUN) -runs=50000 -seed=$(SEED) $(FUZZ_DIR)/seeds >$(FUZZ_DIR)/in.log 2>&1 && \
		echo "fuzz-in: 1 passed, 0 failed" || \
		{ tail -40 $(FUZZ_DIR)/in.log; echo "fuzz-in: 0 passed, 1 failed"; exit 1; }

# What else reads bytes that others wrote, a target each (tests/fuzz/targets):
#   make fuzz-parsers RUNS=10000000; or one of them:
#   make fuzz-parser-demangle RUNS=100000000
FUZZ_PARSERS := $(shell sed -n 's/^\t{ "\([a-z_]*\)", fuzz_.*/\1/p' tests/fuzz/parsers.c)

$(FUZZ_DIR)/parsers: $(addprefix tests/fuzz/,parsers.c replies.c delivered.c declared.c \
                       spelled.c inflated.c rules.c played.c) $(SANITIZED)/weft.a \
                       tests/fuzz/parsers.h
	$(call say,FUZZ)
	$(Q)mkdir -p $(@D)
	$(Q)$(SANITIZED_CC) -fsanitize=fuzzer,address,undefined -Wl,--wrap=fstat \
		-Wl,--wrap=pread -Wl,--wrap=fork -o $@ $(filter-out %.h,$^) $(FILE_LIBS)

.PHONY: fuzz-parsers fuzz-parsers-briefly
fuzz-parsers: $(FUZZ_PARSERS:%=fuzz-parser-%)
fuzz-parser-%: $(FUZZ_DIR)/parsers $(FUZZ_FILES) $(B)/weft
	$(Q)tests/fuzz/parse $(FUZZ_DIR) $* $(RUNS) $(SEED)

fuzz-parsers-briefly: $(FUZZ_DIR)/parsers $(FUZZ_FILES) $(B)/weft
	$(if $(FUZZ_PARSERS),,$(error tests/fuzz/parsers.c names no target))
	$(Q)status=0; for t in $(FUZZ_PARSERS); do \
		tests/fuzz/parse $(FUZZ_DIR) $$t 5000 $(SEED) || status=1; done; exit $$status
