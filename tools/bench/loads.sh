# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by run
#
# Programs under load, as many as are installed, all at once; servers on the
# loopback with folders of their own. They are ended by the pids kept here.

load_pids=()
load_names=

keep_load() {
	load_pids+=("$!")
}

# A command again and again, until this is told to end.
again() {
	local child=

	trap '[ -z "$child" ] || kill "$child" 2>/dev/null; exit' TERM
	while :; do
		"$@" &
		child=$!
		wait "$child" || sleep 0.2
	done
}

free_port() {
	local port

	for port in $(seq "$1" "$(($1 + 50))"); do
		if ! (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
			echo "$port"
			return
		fi
	done
	return 1
}

load_redis() {
	local port

	has redis-server && has redis-benchmark && port=$(free_port 26379) || return
	redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no \
		--dir "$work" &
	keep_load
	sleep 0.5
	redis-benchmark -p "$port" -c 20 -l -q -t set,get,lpush,lrange_100 &
	keep_load
}

load_nginx() {
	local port root=$work/www

	has nginx && has wrk && port=$(free_port 28080) || return
	mkdir -p "$root"
	seq 10000 >"$root/index.html"
	chmod 755 "$work" "$root"
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
	nginx -p "$work/" -c "$work/nginx.conf" &
	keep_load
	sleep 0.5
	wrk -t1 -c8 -d1h -H 'Accept-Encoding: gzip' "http://127.0.0.1:$port/index.html" &
	keep_load
}

load_python() {
	local python

	# not a wrapper: it is profiled under its own name
	python=$(python3 -c 'import sys; print(sys.executable)') || return
	"$python" -c '
def depth(n):
    return sum(i * i for i in range(40)) if n == 0 else depth(n - 1)
while True:
    depth(30)' &
	keep_load
}

# [N]: so many at once
load_clang() {
	local i

	has "${CLANG:-clang}" || return
	awk 'BEGIN { for (i = 0; i < 400; i++) {
		printf "int f%d(int *a, int n) { int s = %d;", i, i
		printf " for (int i = 0; i < n; i++) s += a[i] * (i ^ s) %% %d;", i + 3
		print " return s; }" } }' >"$work/big.c"
	for i in $(seq "${1-1}"); do
		again "${CLANG:-clang}" -O2 -c "$work/big.c" -o "$work/big$i.o" &
		keep_load
	done
}

load_node() {
	has node || return
	node -e '
const data = [...Array(200).keys()].map((i) => ({ i, text: String(i) }));
const depth = (n, then) => (n === 0 ? then() : depth(n - 1, then));
const work = () => JSON.parse(JSON.stringify(data)).sort((a, b) => b.i - a.i).length;
for (;;) depth(20, work);' &
	keep_load
}

load_postgres() {
	local bin port dir=$work/postgres

	bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | tail -1)
	[ -x "$bin/initdb" ] && has pgbench && port=$(free_port 25432) || return
	chmod 755 "$work"
	install -d -o postgres -m 700 "$dir"
	su postgres -c "$bin/initdb -D '$dir' -A trust -N" || return
	setpriv --reuid postgres --regid postgres --clear-groups "$bin/postgres" -D "$dir" \
		-p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
		-c fsync=off &
	keep_load
	sleep 1
	pgbench -i -q -s 2 -h 127.0.0.1 -p "$port" -U postgres postgres
	pgbench -S -c 2 -T 36000 -h 127.0.0.1 -p "$port" -U postgres postgres &
	keep_load
}

load_deep() {
	"$bin/deep" 3600000 100 64 whole &
	keep_load
}

# NAME…: those that do not run yet
start_loads() {
	local load

	for load; do
		[[ " $load_names " != *" $load "* ]] || continue
		if "load_$load" >"$work/load.$load" 2>&1; then
			load_names+=" $load"
		else
			say "without $load: not installed"
		fi
	done
	sleep 1
}

stop_loads() {
	local pid

	for pid in "${load_pids[@]}"; do
		kill "$pid" 2>/dev/null
	done
	for pid in "${load_pids[@]}"; do
		wait "$pid" 2>/dev/null
	done
	load_pids=()
	load_names=
}
