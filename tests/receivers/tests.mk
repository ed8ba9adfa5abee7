# SPDX-License-Identifier: BSD-2-Clause
#
#   make check-receivers  weft agent beside the OpenTelemetry Collector and a sink of its
#                         library, which are fetched as Go modules; minutes the first time.
#                         Other receivers that can be had are asked by check-agent

.PHONY: check-receivers
check-receivers: all $(B)/tests/e2e/turns
	$(Q)tests/receivers/run $(B)
