# SPDX-License-Identifier: BSD-2-Clause
#
#   make mutants          lines that are spoilt on purpose (tests/mutants/table): do the
#                         tests notice? As root; MUTANTS='NAME…' only these

MUTANTS ?=

.PHONY: mutants
mutants: all build-host_bpf build-cfi build-truth build-e2e build-unit
	$(Q)tests/mutants/run $(B) $(MUTANTS)
