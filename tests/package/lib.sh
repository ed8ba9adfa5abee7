# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# Tests in TAP, and this machine's files below an overlay: what is written goes to $upper
# alone, and is gone with the mount namespace that the caller is in.

suite='' number=0 failed=0
work=$(mktemp -d) upper='' root=''
trap 'umount -Rl "$work/files" 2>/dev/null || true; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# NAME COMMAND…: one test; what it prints is shown where it fails
try() {
	local name=$1 words status=0
	shift

	number=$((number + 1))
	# no condition: bash would let the steps of a test fail in one
	set +e
	words=$(
		set -e
		"$@" 2>&1
	)
	status=$?
	set -e
	if [ $status -eq 0 ]; then
		echo "ok $number - $suite: $name"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $number - $suite: $name"
	printf '# %s\n' "${words//$'\n'/$'\n# '}" | head -60
}

skip() { # NAME WHY
	number=$((number + 1))
	echo "ok $number - $suite: $1 # skip $2"
}

finish() {
	echo "1..$number"
	[ $failed -eq 0 ]
	exit
}

# Without what weft may have left on this machine before.
lay_files() {
	mkdir "$work/files"
	mount -t tmpfs -o mode=755 tmpfs "$work/files"
	upper=$work/files/upper root=$work/files/root
	mkdir "$upper" "$work/files/work" "$root"
	mount -t overlay overlay \
		-o "lowerdir=/,upperdir=$upper,workdir=$work/files/work" "$root" &&
		[ -e "$root/var/lib/dpkg/status" ] || return
	mount --rbind /proc "$root/proc"
	rm -rf "$root"/{etc,var/lib,var/cache}/weft
}

inside() {
	chroot "$root" "$@"
}
