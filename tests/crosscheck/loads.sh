# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by run
#
# The programs of the cross-check, each under a load of its own.

# What a load asks of the tool beside what all are asked; see `crosscheck` alone.
own=()

# PORT: is there a server?
answers() {
	(: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# NAME COMMAND…: one that runs for ever, after its start
check_program() {
	local name=$1
	shift

	start "$@"
	runs_for 500 "${pids[0]}"
	check "$name" ${own[@]+"${own[@]}"} -p "${pids[0]}"
}

load_redis() {
	local port

	needs redis redis-server redis-benchmark || return
	port=$(free_port 26479)
	start redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no \
		--dir "$work"
	wait_for answers "$port"
	local server=${pids[0]}
	start redis-benchmark -p "$port" -c 20 -l -q -t set,get,lpush,lrange_100,zadd
	runs_for 200 "$server"
	check redis -p "$server"
}

load_nginx() {
	local port root=$work/www

	needs nginx nginx wrk || return
	port=$(free_port 28180)
	mkdir -p "$root"
	seq 10000 >"$root/index.html"
	cat >"$work/nginx.conf" <<-end
		master_process off; daemon off; pid $work/nginx.pid;
		error_log $work/nginx.err;
		events { worker_connections 256; }
		http { access_log off; gzip on; gzip_types text/html; gzip_min_length 100;
		  client_body_temp_path $work/body; proxy_temp_path $work/proxy;
		  fastcgi_temp_path $work/fastcgi; uwsgi_temp_path $work/uwsgi;
		  scgi_temp_path $work/scgi;
		  server { listen 127.0.0.1:$port; root $root; } }
	end
	start nginx -p "$work/" -c "$work/nginx.conf"
	wait_for answers "$port"
	local server=${pids[0]}
	start wrk -t1 -c8 -d1h -H 'Accept-Encoding: gzip' "http://127.0.0.1:$port/"
	runs_for 200 "$server"
	check nginx -p "$server"
}

load_postgres() {
	local bin dir=$work/pg port

	bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | tail -1)
	needs postgres "$bin/initdb" pgbench || return
	port=$(free_port 25532)
	install -d -o postgres -m 700 "$dir"
	su postgres -c "$bin/initdb -D '$dir' -A trust -N" >/dev/null 2>&1
	start setpriv --reuid postgres --regid postgres --clear-groups \
		"$bin/postgres" -D "$dir" -p "$port" -c listen_addresses=127.0.0.1 \
		-c unix_socket_directories= -c fsync=off
	local on=(-h 127.0.0.1 -p "$port" -U postgres postgres)
	wait_for pgbench -i -q -s 2 "${on[@]}" >/dev/null 2>&1
	start pgbench -S -c 2 -T 3600 "${on[@]}"
	runs_for 200 "${pids[1]}"
	check postgres --comm postgres
}

load_python() {
	local python

	needs python python3 || return
	# not a wrapper of it
	python=$(python3 -c 'import sys; print(sys.executable)') || return
	check_program python "$python" "$here/loads/mixed.py"
}

load_node() {
	needs node node || return
	check_program node "$(command -v node)" "$here/loads/mixed.js"
}

load_clang() {
	local clang=${CLANG:-clang} resolved

	# itself, and no compiler cache before it
	resolved=$("$clang" -print-prog-name=clang 2>/dev/null) && clang=$resolved

	needs clang "$clang" || return
	awk 'BEGIN { for (i = 0; i < 300; i++) {
		printf "int f%d(int *a, int n) { int s = %d;", i, i
		printf " for (int i = 0; i < n; i++) s += a[i] * (i ^ s) %% %d;", i + 3
		print " return s; }" } }' >"$work/big.c"
	# shellcheck disable=SC2016 # the inner shell's
	local again=(bash -c 'while [ -e "$2" ]; do "$1" -O2 -c "$2" -o "$2.o"; done' - "$clang"
		"$work/big.c")
	# its libraries' tables take 0.3 s, and seconds while their 160 MB come from a
	# slow disk
	"$tool" --seconds 4 --samples 4000 -- "${again[@]}" >/dev/null 2>&1
	# a second each, and a table that was made before takes milliseconds; until then
	# a sample says so
	# Its calls are bound when they are first made: the dynamic linker's frame there
	# ends by a register that no caller's frame knows, and ours is cut, and says so.
	check clang --awaited 5 --agree 99.5 -- "${again[@]}"
}

load_rust() {
	needs rust rustc || return
	rustc -O -o "$work/rust" "$here/loads/mixed.rs" || return
	# a panic is caught by writing over the frame that looked for who catches it; a
	# sample then is cut, and says so, where libdwfl goes on
	own=(--agree 99.5)
	check_program rust "$work/rust"
	own=()
}

load_go() {
	needs go go || return
	GOFLAGS=-mod=mod GOCACHE=$build/tests/go-cache \
		go build -o "$work/go" "$here/loads/mixed.go" || return
	# what runs on its system stack libdwfl loses there, by a rule that leads to no
	# code or to another's start, more often the more garbage is collected; ours goes
	# on to the goroutine (docs/decisions/go.md), or ends at mcall and clone
	own=(--gave-up 25 --agree 70)
	check_program go "$work/go"
	own=()
}

# PIDs as the tool wants them
list() {
	local IFS=,

	echo "$*"
}

# By both compilers, with and without frame pointers, all at once.
load_mixed() {
	local cc flag name flags

	for cc in "${CC:-gcc}" "${CLANG:-clang}"; do
		for flag in omit no-omit; do
			name=$work/mixed-${cc##*/}-$flag
			flags=(-O2 "-f$flag-frame-pointer" -pthread)
			"$cc" "${flags[@]}" -o "$name" "$here/loads/mixed.c" || return
			start "$name"
		done
	done
	runs_for 100 "${pids[@]}"
	check mixed --samples "$((4 * samples))" --least "$samples" -p "$(list "${pids[@]}")"
}

# Roots, waits and fibers of the ground truth, whose stacks are all its own.
load_async() {
	local kind program

	for kind in gcc-O2 clang-O0; do
		for program in 'chain plain 60000 50' 'roots driven 60000 4' \
			'wait pool 60000' 'moves migrate 60000' 'folly-weak plain 60000'; do
			# shellcheck disable=SC2086 # words
			start "$workloads/$kind/"$program
		done
		runs_for 100 "${pids[@]}"
		check "async, $kind" --samples "$((3 * samples))" --least "$samples" -p "$(list "${pids[@]}")"
	done
}

load_controls() {
	"${CC:-gcc}" -O2 -fomit-frame-pointer -pthread -o "$work/mixed" \
		"$here/loads/mixed.c" || return
	start "$work/mixed"
	runs_for 100 "${pids[0]}"
	check_fails 'all by frame pointer' --unwind fp -p "${pids[0]}"
	start "$work/mixed"
	runs_for 100 "${pids[0]}"
	check_fails 'the sampled frame by frame pointer' --fp-leaf -p "${pids[0]}"
}
