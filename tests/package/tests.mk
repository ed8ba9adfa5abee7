# SPDX-License-Identifier: BSD-2-Clause
#
#   make check-package    the Debian package is installed, upgraded and purged below an
#                         overlay of this machine's files, and so is tools/deploy's container

#   make long-unit        weft-agent.service under Debian's systemd in a guest, KERNEL= of
#                         tools/vm/kernels: starts, delivers, is reloaded, watched, stopped

.PHONY: build-package check-package long-unit
build-package: $(B)/weft $(B)/tests/e2e/turns

KERNEL ?= 6.12

long-unit: all
	$(Q)tests/package/systemd $(B) $(KERNEL)

check-package: build-package
	$(Q)status=0; tests/package/run $(B) || status=1; \
	tests/package/deploy $(B) || status=1; exit $$status
