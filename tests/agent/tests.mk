# SPDX-License-Identifier: BSD-2-Clause
#
#   make check-agent      weft agent and servers that take its profiles, or don't

.PHONY: build-agent check-agent
build-agent: $(B)/weft $(B)/tests/e2e/turns $(B)/tests/e2e/otel_ctx
check-agent: build-agent
	$(Q)WEFT=$(abspath $(B)/weft) E2E_BIN=$(abspath $(B)/tests/e2e) bats --tap tests/agent

$(B)/tests/e2e/otel_ctx: tests/agent/otel_ctx.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O1 -Wall -Wextra -D_GNU_SOURCE -o $@ $<
