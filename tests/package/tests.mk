# SPDX-License-Identifier: BSD-2-Clause
#
#   make check-package    the Debian package is installed, upgraded and purged in a copy of
#                         this machine's files; what tools/deploy has runs there, too

.PHONY: build-package check-package
build-package: $(B)/weft

check-package: build-package
	$(Q)tests/package/run $(B)
