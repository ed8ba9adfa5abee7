# SPDX-License-Identifier: BSD-2-Clause
#
#   make check-static     weft as one file, in a root that holds nothing else

.PHONY: build-static check-static
build-static: $(B)/weft-static $(B)/tests/e2e/alpha

check-static: build-static
	$(Q)tests/static/run $(B)
