# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034 # for who reads it in
#
# The folders of user/, from the ground up, and what each sees besides itself and base;
# as docs/ARCHITECTURE.md has it.
declare -A sees=(
	[base]=''
	[obj]=''
	[unwind]='obj'
	[core]=''
	[proc]='core worker'
	[worker]='obj unwind'
	[sym]='obj unwind proc core worker'
	[kern]='core'
	[publish]='obj unwind proc core worker sym kern'
	[tape]='core'
	[format]='core'
	[pipeline]='core proc format'
	[report]='obj core worker proc unwind sym format'
	[record]='core proc worker unwind sym kern publish tape format pipeline report'
	[deliver]='obj worker core format'
	[agent]='core proc worker unwind sym kern publish tape format pipeline report record deliver'
	[doctor]='obj unwind proc core worker sym kern publish pipeline'
	[cli]='core format report record deliver agent doctor'
)
