// SPDX-License-Identifier: BSD-2-Clause
#include "world.h"

int main(void)
{
	int failed = run_walk_cases() + run_root_cases() + run_chain_cases() +
		     run_wait_cases() + run_fiber_cases() + run_bottom_cases() +
		     run_crossing_cases() + run_table_cases() + run_register_cases() +
		     run_leaf_cases() + run_signal_cases() + run_run_cases() +
		     run_mapping_table_cases() + run_table_root_cases() +
		     run_record_cases() + run_goroutine_cases() + run_hotspot_cases() +
		     run_hotspot_call_cases() + run_hotspot_arm64_cases() +
		     run_copy_cases() + run_luajit_cases() + run_hosted_cases() +
		     run_beam_cases() + run_byte_cases() + run_storm();

	return failed ? 1 : 0;
}
