# SPDX-License-Identifier: BSD-2-Clause
#
#   make check-attacks    what an ordinary user may do to a recording of the machine,
#                         and lies for weft report

.PHONY: build-attacks check-attacks
build-attacks: $(B)/weft $(B)/tests/e2e/alpha $(B)/tests/e2e/beta

check-attacks: build-attacks
	$(Q)tests/attacks/run $(B)
