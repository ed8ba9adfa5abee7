# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the scripts beside it: the cache, the list of kernels, and an apt
# of our own (sources, lists and packages in the cache) that uses the mirrors,
# proxy and keys of the system's apt and leaves the system's state alone.
# shellcheck shell=bash

VM_HERE=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
VM_CACHE=${WEFT_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/weft}/vm
VM_SKIP=77 # exit status: cannot be had here
VM_KEYS=/usr/share/keyrings/debian-archive-keyring.gpg

say() {
	echo "${0##*/}: $*" >&2
}

skip() {
	say "$*"
	exit $VM_SKIP
}

host_codename() {
	sed -n 's/^VERSION_CODENAME=//p' /etc/os-release
}

kernel_names() {
	grep -v '^#' "$VM_HERE/kernels" | cut -d' ' -f1
}

# NAME -> its line of the list
kernel_row() {
	grep -v '^#' "$VM_HERE/kernels" | grep -E "^${1//./\\.} " ||
		{ say "no kernel called $1 in tools/vm/kernels"; exit 2; }
}

# SUITE -> the URI under which the system's apt has suites of its kind
apt_mirror() {
	local own

	own=$(host_codename)
	case $1 in *-security) own+=-security ;; esac
	apt-get update --print-uris |
		sed -n "s#^'\(.*\)/dists/$own/InRelease'.*#\1#p" | head -1
}

# ARCH SUITES -> a folder with an apt.conf for them, its lists at most a day old
apt_root() {
	local arch=$1 suites=$2 suite uri root

	command -v apt-get >/dev/null || skip "no apt-get here to fetch $suites"
	[ -r $VM_KEYS ] || skip "no $VM_KEYS: install debian-archive-keyring"
	root=$VM_CACHE/apt/$arch-${suites// /+}
	mkdir -p "$root"/{lists/partial,archives/partial,none}
	: >"$root/status"
	for suite in $suites; do
		uri=$(apt_mirror "$suite")
		[ -n "$uri" ] || skip "the system's apt knows no mirror for $suite"
		echo "deb [arch=$arch target=Packages signed-by=$VM_KEYS] $uri $suite main"
	done >"$root/sources"
	cat >"$root/apt.conf" <<-END
		Dir::Etc::sourcelist "$root/sources";
		Dir::Etc::sourceparts "$root/none";
		Dir::Etc::preferences "$root/none/preferences";
		Dir::Etc::preferencesparts "$root/none";
		Dir::State "$root";
		Dir::State::lists "$root/lists";
		Dir::State::status "$root/status";
		Dir::Cache "$root";
		Dir::Cache::archives "$root/archives";
		APT::Architecture "$arch";
		APT::Architectures "$arch";
		APT::Sandbox::User "";
		APT::Install-Recommends "false";
		APT::Update::Error-Mode "any";
		Acquire::http::Timeout "20";
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear DPkg::Post-Invoke;
		#clear DPkg::Pre-Install-Pkgs;
	END
	[ -n "$(find "$root/updated" -mtime -1 2>/dev/null)" ] ||
		if apt-get -c "$root/apt.conf" -q update >&2; then
			touch "$root/updated"
		else
			skip "the mirror does not give $suites ($arch)"
		fi
	echo "$root"
}

# ROOT DIR PACKAGE...: they and all that they ask for are unpacked into DIR
apt_unpack_all() {
	local root=$1 dir=$2 package

	shift 2
	rm -f "$root"/archives/*.deb
	apt-get -c "$root/apt.conf" -qy --download-only install "$@" >&2 ||
		{ rm "$root/updated"; skip "could not download $* for ${root##*/}"; }
	for package in "$root"/archives/*.deb; do
		dpkg-deb -x "$package" "$dir"
	done
	rm -f "$root"/archives/*.deb
}

# ROOT REGEX DIR: the package of the highest version is unpacked into DIR
apt_unpack_newest() {
	local root=$1 regex=$2 dir=$3 package

	package=$(apt-cache -c "$root/apt.conf" pkgnames | grep -Ex "$regex" |
		sort -V | tail -1) || true
	[ -n "$package" ] || skip "no package like $regex in ${root##*/}"
	rm -f "$root"/archives/*.deb
	(cd "$root/archives" && apt-get -c "$root/apt.conf" -q download "$package") >&2 ||
		{ rm "$root/updated"; skip "could not download $package"; }
	dpkg-deb -x "$root"/archives/*.deb "$dir"
	rm -f "$root"/archives/*.deb
}
