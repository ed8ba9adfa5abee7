# SPDX-License-Identifier: BSD-2-Clause
#
# The walk and the splice of bpf/ as a native program, under the sanitizers,
# with the parts of user/ that read a record.

HOST_DIR   := $(B)/tests/host_bpf
HOST_SRC   := $(wildcard tests/host_bpf/*.c) $(WALK_BPF) user/core/sample.c \
              user/core/view.c user/pipeline/translate.c
HOST_OBJ   := $(HOST_SRC:%.c=$(HOST_DIR)/%.o)
HOST_SAN   := -fsanitize=address,undefined -fno-sanitize-recover=undefined
# the programs put bytes into structs, as BPF may; their chunk is such a place
HOST_FLAGS := -std=gnu11 -O1 -g -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare \
              -fno-omit-frame-pointer -fno-strict-aliasing $(HOST_SAN) \
              -Itests/host_bpf -Ibpf

# as both machines have it: java.c says which is acted
HOTSPOT_AS = -Dhotspot_try_code=$(1)_try_code -Dhotspot_check_frame=$(1)_check_frame
HOST_ARM64 := $(addprefix $(HOST_DIR)/arm64/,hotspot.o hotspot_code.o)
HOST_OBJ   += $(HOST_DIR)/arm64/hotspots.o

$(HOST_DIR)/bpf/hotspot.bpf.o: HOST_FLAGS += $(call HOTSPOT_AS,x86)
$(HOST_ARM64): HOST_FLAGS += $(call HOTSPOT_AS,arm64) -D__TARGET_ARCH_arm64

$(HOST_DIR)/arm64/%.o: bpf/%.bpf.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(HOST_FLAGS) -MMD -MP -c $< -o $@

$(HOST_DIR)/arm64/hotspots.o: $(HOST_ARM64)
	$(call say,LINK)
	$(Q)$(LD) -r -o $@ $^
	$(Q)objcopy -G arm64_try_code -G arm64_check_frame $@

$(HOST_DIR)/%.o: %.c
	$(call say,TEST)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(HOST_FLAGS) -MMD -MP -c $< -o $@

$(HOST_DIR)/host_bpf: $(HOST_OBJ) $(B)/libweft.a
	$(call say,LINK)
	$(Q)$(CC) $(HOST_SAN) -o $@ $^ -lcmocka $(LIBS)

-include $(HOST_OBJ:.o=.d) $(HOST_ARM64:.o=.d)

.PHONY: build-host_bpf check-host_bpf
build-host_bpf: $(HOST_DIR)/host_bpf

check-host_bpf: build-host_bpf
	$(Q)CMOCKA_MESSAGE_OUTPUT=TAP $(HOST_DIR)/host_bpf
