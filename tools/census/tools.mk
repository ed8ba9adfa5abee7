# SPDX-License-Identifier: BSD-2-Clause

CENSUS_SRC := $(wildcard tools/census/*.c)

$(B)/tools/unwind-census: $(CENSUS_SRC) tools/census/forms.h $(B)/libweft.a
	$(call say,TOOL)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(C_FLAGS) $(LD_FLAGS) -Itools/census -o $@ $(CENSUS_SRC) \
		$(B)/libweft.a $(LIBS)
