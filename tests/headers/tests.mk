# SPDX-License-Identifier: BSD-2-Clause
.PHONY: check-headers
check-headers:
	$(Q)tests/headers/run $(B)

# Also profiled: what docs/ shows. Needs root.
.PHONY: build-profiles check-profiles
build-profiles: $(B)/weft

check-profiles: build-profiles
	$(Q)tests/headers/profiles $(B)
