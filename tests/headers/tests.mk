# SPDX-License-Identifier: BSD-2-Clause
.PHONY: check-headers
check-headers:
	$(Q)tests/headers/run $(B)

# Also profiled: what docs/ shows. Needs root.
.PHONY: check-profiles
check-profiles: $(B)/weft
	$(Q)tests/headers/profiles $(B)
