# SPDX-License-Identifier: BSD-2-Clause
#
#   make check-package    the Debian package is installed, upgraded and purged below an
#                         overlay of this machine's files, and so is tools/deploy's container

.PHONY: build-package check-package
build-package: $(B)/weft $(B)/tests/e2e/turns

check-package: build-package
	$(Q)status=0; tests/package/run $(B) || status=1; \
	tests/package/deploy $(B) || status=1; exit $$status
