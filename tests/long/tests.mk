# SPDX-License-Identifier: BSD-2-Clause
#
#   make long-run         weft agent for 4 h, LONG_SECONDS= for less: memory, descriptors
#                         and threads stay, each window's ledger is exact. As root
#   make long-run-20      20 min of it, as in the long form of the tests
#   make long-kills       weft agent killed at 200 random moments: no profile is lost
#   make long-spool       its spool damaged at each byte: told, and the rest arrives

LONG_SECONDS ?= 14400

.PHONY: long-run long-run-20 long-kills long-spool
long-run: all build-e2e workloads $(B)/tests/long/crowd
	$(Q)tests/long/run $(B) $(LONG_SECONDS)

$(B)/tests/long/crowd: tests/long/crowd.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O1 -Wall -Wextra -D_GNU_SOURCE -o $@ $<

long-kills: all build-e2e
	$(Q)tests/long/kills $(B)

long-spool: all build-e2e $(B)/tests/unit/test_spool_damage
	$(Q)tests/long/spool $(B)

long-run-20:
	$(Q)$(MAKE) --no-print-directory long-run LONG_SECONDS=1200
