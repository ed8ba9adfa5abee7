# SPDX-License-Identifier: BSD-2-Clause
DEB_VERSION ?= $(VERSION)

.PHONY: deb
deb: all
	$(Q)tools/package/deb $(B) $(DEB_VERSION)
