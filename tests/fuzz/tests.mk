# SPDX-License-Identifier: BSD-2-Clause
#
# Mutated sections, under the sanitizers. Here for seconds; for a night:
#   make fuzz-cfi RUNS=100000000

FUZZ_DIR   := $(B)/tests/fuzz
FUZZ_SRC   := tests/fuzz/cfi.c tests/fuzz/sections.c \
              tests/cfi/image.c \
              $(wildcard user/base/*.c user/obj/*.c) \
              $(filter-out %/cache.c,$(wildcard user/unwind/*.c))
FUZZ_FLAGS := -std=gnu11 -O1 -g -Wall -Wextra -Wno-unused-parameter \
              -fno-omit-frame-pointer -fsanitize=address,undefined \
              -fno-sanitize-recover=undefined
FUZZ_FILES := $(foreach flags,-O0 -O2 -O2~-fno-omit-frame-pointer \
              -g~-fno-asynchronous-unwind-tables~-nostdlib,$(FUZZ_DIR)/shapes$(flags).so)
RUNS       ?= 300000
SEED       ?= 1

$(FUZZ_DIR)/cfi: $(FUZZ_SRC) $(wildcard tests/fuzz/*.h tests/cfi/*.h user/obj/*.h \
                     user/unwind/*.h)
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(FUZZ_FLAGS) -Wl,--wrap=fstat -Wl,--wrap=pread \
		-o $@ $(FUZZ_SRC) $(FILE_LIBS)

$(FUZZ_FILES): $(FUZZ_DIR)/shapes%.so: tests/cfi/shapes.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -w -shared -fPIC $(subst ~, ,$*) -o $@ $<

# Entries of the cache; for a night: make fuzz-entries RUNS=100000000
FUZZ_ENTRIES_SRC := tests/fuzz/entries.c \
              $(wildcard user/base/*.c user/obj/*.c user/unwind/*.c)

$(FUZZ_DIR)/entries: $(FUZZ_ENTRIES_SRC) $(wildcard user/unwind/*.h user/obj/*.h) \
		$(B)/unwind_builder.h
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(FUZZ_FLAGS) -o $@ $(FUZZ_ENTRIES_SRC) $(FILE_LIBS)

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
FUZZ_IN_SRC := $(wildcard user/base/*.c user/format/*.c user/format/*/*.c) $(filter-out \
            user/core/sample.c,$(wildcard user/core/*.c))

$(FUZZ_DIR)/fuzz_in: tests/fuzz/fuzz_in.c $(FUZZ_IN_SRC) | $(B)/page/page_head.inc
	$(call say,FUZZ)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -g -O2 -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined $(CPPFLAGS) -std=gnu11 -o $@ $^ -lz -lnettle

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
FUZZ_OBJ     := $(patsubst %.c,$(FUZZ_DIR)/obj/%.o,$(foreach folder,base obj unwind \
                core proc worker tape pipeline,$(wildcard user/$(folder)/*.c))) \
                $(patsubst %.c,$(FUZZ_DIR)/obj/%.o,$(wildcard user/deliver/otlp*.c user/deliver/pprof_part.c \
                user/deliver/split.c))
FUZZ_PARSERS := $(shell sed -n 's/^\t{ "\([a-z_]*\)", fuzz_.*/\1/p' tests/fuzz/parsers.c)
FUZZ_CLANG   := $(CLANG) -g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=undefined \
                $(CPPFLAGS) -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers

$(FUZZ_DIR)/obj/%.o: %.c | $(B)/unwind_builder.h
	$(call say,FUZZ)
	$(Q)mkdir -p $(@D)
	$(Q)$(FUZZ_CLANG) -fsanitize=fuzzer-no-link,address,undefined -MMD -MP -c $< -o $@

-include $(FUZZ_OBJ:.o=.d)

# an archive, so that what a target needs comes and the rest stays away
$(FUZZ_DIR)/parsers.a: $(FUZZ_OBJ)
	$(Q)rm -f $@ && ar rcs $@ $^

$(FUZZ_DIR)/parsers: $(addprefix tests/fuzz/,parsers.c replies.c delivered.c declared.c \
                       spelled.c) $(FUZZ_DIR)/parsers.a tests/fuzz/parsers.h
	$(call say,FUZZ)
	$(Q)$(FUZZ_CLANG) -fsanitize=fuzzer,address,undefined -Wl,--wrap=fstat \
		-Wl,--wrap=pread -Wl,--wrap=fork -o $@ $(filter-out %.h,$^) $(FILE_LIBS)

.PHONY: fuzz-parsers fuzz-parsers-briefly
fuzz-parsers: $(FUZZ_PARSERS:%=fuzz-parser-%)
fuzz-parser-%: $(FUZZ_DIR)/parsers $(FUZZ_FILES) $(B)/weft
	$(Q)tests/fuzz/parse $(FUZZ_DIR) $* $(RUNS) $(SEED)

fuzz-parsers-briefly: $(FUZZ_DIR)/parsers $(FUZZ_FILES) $(B)/weft
	$(if $(FUZZ_PARSERS),,$(error tests/fuzz/parsers.c names no target))
	$(Q)status=0; for t in $(FUZZ_PARSERS); do \
		tests/fuzz/parse $(FUZZ_DIR) $$t 5000 $(SEED) || status=1; done; exit $$status
