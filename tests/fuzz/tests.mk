# SPDX-License-Identifier: BSD-2-Clause
#
# Mutated sections, under the sanitizers. Here for seconds; for a night:
#   make fuzz-cfi RUNS=100000000

FUZZ_DIR   := $(B)/tests/fuzz
FUZZ_SRC   := $(wildcard tests/fuzz/*.c) tests/cfi/image.c user/base/error.c \
              $(wildcard user/obj/cfi*.c user/obj/unwind*.c) \
              user/obj/elf_file.c user/obj/x86_insn.c
FUZZ_FLAGS := -std=gnu11 -O1 -g -Wall -Wextra -Wno-unused-parameter \
              -fno-omit-frame-pointer -fsanitize=address,undefined \
              -fno-sanitize-recover=undefined
FUZZ_FILES := $(foreach flags,-O0 -O2 -O2~-fno-omit-frame-pointer \
              -g~-fno-asynchronous-unwind-tables~-nostdlib,$(FUZZ_DIR)/shapes$(flags).so)
RUNS       ?= 300000
SEED       ?= 1

$(FUZZ_DIR)/cfi: $(FUZZ_SRC) $(wildcard tests/fuzz/*.h tests/cfi/*.h user/obj/*.h)
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(FUZZ_FLAGS) -o $@ $(FUZZ_SRC) -lz

$(FUZZ_FILES): $(FUZZ_DIR)/shapes%.so: tests/cfi/shapes.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -w -shared -fPIC $(subst ~, ,$*) -o $@ $<

.PHONY: check-fuzz fuzz-cfi
check-fuzz: fuzz-cfi
fuzz-cfi: $(FUZZ_DIR)/cfi $(FUZZ_FILES)
	$(Q)$< $(RUNS) $(SEED) $(FUZZ_FILES) /bin/true \
		$(wildcard /lib64/ld-linux-x86-64.so.2 /usr/aarch64-linux-gnu/lib/libm.so.6)
