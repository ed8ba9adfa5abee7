# SPDX-License-Identifier: BSD-2-Clause
.PHONY: check-headers
check-headers:
	$(Q)tests/headers/run $(B)
