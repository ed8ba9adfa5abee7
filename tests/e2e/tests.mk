# SPDX-License-Identifier: BSD-2-Clause
#
#   make check-e2e        weft at the prompt; as root also recordings

.PHONY: check-e2e
check-e2e: $(B)/weft
	$(Q)WEFT=$(abspath $(B)/weft) bats --tap tests/e2e
