# SPDX-License-Identifier: BSD-2-Clause
#
#   make check-page       the page in a headless Chromium, driven by node

PAGE_DIR   := $(B)/tests/page

$(PAGE_DIR)/write: tests/page/write.c $(B)/libweft.a
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(C_FLAGS) $(LD_FLAGS) -MMD -MP -o $@ $< $(B)/libweft.a $(LIBS)

-include $(PAGE_DIR)/write.d

.PHONY: build-page check-page
build-page: $(PAGE_DIR)/write $(B)/page/page.html

check-page: build-page
	$(Q)tests/page/run $(B)
