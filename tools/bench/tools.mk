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

$(BENCH)/churn: $(BENCH)/churn.o $(BENCH)/procs.o
$(BENCH)/headers: $(BENCH)/headers.o
$(BENCH)/echo: $(BENCH)/echo_main.o $(BENCH)/echo.o $(BENCH)/echo-without.o

# beside boost.context, where it is installed
BOOST := $(wildcard /usr/lib/*/libboost_context.so /usr/lib/libboost_context.so)
$(BENCH)/headers.o: CPPFLAGS += $(if $(BOOST),-DBOOST)
$(BENCH)/headers: BENCH_LIBS := $(if $(BOOST),-lboost_context)

$(BENCH)/echo.o: CPPFLAGS += -DSERVE=serve_with
$(BENCH)/echo-without.o: tools/bench/echo.c
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(C_FLAGS) -DWEFT_DISABLED -DSERVE=serve_without -MMD -MP -c $< -o $@

BENCH_BIN := $(patsubst %,$(BENCH)/%,deep peer meter churn headers echo)
$(BENCH_BIN):
	$(call say,LINK)
	$(Q)$(CC) $(LD_FLAGS) -o $@ $^ $(BENCH_LIBS) $(LIBS)

-include $(wildcard $(BENCH)/*.d)

.PHONY: bench-programs
bench-programs: $(BENCH_BIN) $(B)/tests/readers/generate $(B)/tools/unwind-census
bench: bench-programs
