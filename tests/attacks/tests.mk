# SPDX-License-Identifier: BSD-2-Clause
#
#   make check-attacks    what an ordinary user may do to a recording of the machine,
#                         and lies for weft report

#   make attack-costs     what each of them by itself costs others, as a table; 15 min,
#                         as root, on a machine that does nothing else

.PHONY: build-attacks check-attacks attack-costs
attack-costs: build-attacks
	$(Q)tests/attacks/costs $(B)

build-attacks: $(B)/weft $(B)/tests/e2e/alpha $(B)/tests/e2e/beta

check-attacks: build-attacks
	$(Q)tests/attacks/run $(B)
