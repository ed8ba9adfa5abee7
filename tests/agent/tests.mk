# SPDX-License-Identifier: BSD-2-Clause
#
#   make check-agent      weft agent and servers that take its profiles, or don't

.PHONY: build-agent check-agent
build-agent: $(B)/weft $(addprefix $(B)/tests/e2e/,turns jitdump otel_ctx attributes intrude mild)
check-agent: build-agent
	$(Q)WEFT=$(abspath $(B)/weft) E2E_BIN=$(abspath $(B)/tests/e2e) bats --tap tests/agent

$(B)/tests/e2e/otel_ctx $(B)/tests/e2e/attributes: $(B)/tests/e2e/%: tests/agent/%.c \
		tests/agent/otel_ctx.h tests/agent/mild.h
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O1 -Wall -Wextra -D_GNU_SOURCE -fno-omit-frame-pointer -pthread -o $@ $< \
		-Wl,--export-dynamic-symbol=otel_thread_ctx_v1

$(B)/tests/e2e/intrude $(B)/tests/e2e/mild: $(B)/tests/e2e/%: tests/agent/%.c \
		tests/agent/mild.h
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O1 -Wall -Wextra -D_GNU_SOURCE -o $@ $<
