# SPDX-License-Identifier: BSD-2-Clause
# What `make bench` measures with.
BENCH := $(B)/bench

$(BENCH)/%.o: tools/bench/%.c
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(C_FLAGS) -fno-optimize-sibling-calls -MMD -MP \
		-c $< -o $@

$(BENCH)/peer.bpf.o: tools/bench/peer.bpf.c
	$(call say,BPF)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) --target=bpf -mcpu=v3 -O2 -g $(BPF_FLAGS) -MMD -MP -c $< -o $@

$(BENCH)/peer.skel.h: $(BENCH)/peer.bpf.o
	$(call say,SKEL)
	$(Q)$(BPFTOOL) gen skeleton $< name peer_bpf > $@.new
	$(Q)mv $@.new $@

$(BENCH)/peer.o: | $(BENCH)/peer.skel.h

$(BENCH)/deep: $(BENCH)/deep.o
$(BENCH)/peer: $(BENCH)/peer.o
$(BENCH)/meter: $(BENCH)/meter.o $(BENCH)/procs.o $(BENCH)/progs.o

BENCH_BIN := $(patsubst %,$(BENCH)/%,deep peer meter)
$(BENCH_BIN):
	$(call say,LINK)
	$(Q)$(CC) $(LD_FLAGS) -o $@ $^ $(LIBS)

-include $(wildcard $(BENCH)/*.d)

.PHONY: bench-programs
bench-programs: $(BENCH_BIN)
bench: bench-programs
