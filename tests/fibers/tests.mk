# SPDX-License-Identifier: BSD-2-Clause
#
#   make long-fibers      programs whose runtimes make stacks by hand, 100,000 samples
#                         each, FIBERS_SAMPLES= for less: no false caller; those that are
#                         not installed are skipped. First, that false callers and
#                         stacks without an end make it fail. As root

FIBERS_SAMPLES ?= 100000

.PHONY: long-fibers
long-fibers: all workloads
	$(Q)tests/fibers/run $(B) --samples 1000 --inject-fault false-caller makecontext
	$(Q)tests/fibers/run $(B) --samples 1000 --inject-fault no-tables makecontext
	$(Q)tests/fibers/run $(B) --samples $(FIBERS_SAMPLES)
