#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# weft agent beside servers that take its profiles, and servers that don't
# (tests/agent/receiver.py holds what it is sent to the rules of the real ones). Each
# profile that was made is delivered, waits, or is told as lost, and never comes twice.
# shellcheck disable=SC2154 # set by run

load lib

@test "a known program: shares as they are, both views, both servers, and what is kept" {
	start_server pyro
	local pyro=$port
	start_server parca
	"$E2E_BIN/turns" 600000 >/dev/null 3>&- &
	pids+=($!)
	start_agent -F 999 --view both --push "pyroscope=http://127.0.0.1:$pyro" \
		--push "parca=http://127.0.0.1:$port/" --keep "$PWD/kept" \
		--label team=a --label service_name=turns
	wait_for has_taken pyro 8
	wait_for has_had "${pids[-2]}" 2500 # on a busy machine that takes longer
	stop_agent
	cat said
	adds_up pyroscope
	adds_up parca
	is_orderly pyro
	is_orderly parca
	# names and labels, by which these servers tell profiles apart
	for folder in pyro parca; do
		jq -es 'map(.labels.__name__) | unique ==
			["process_cpu", "process_cpu_thread"]' "$folder"/*.json
		jq -es 'all(.labels.team == "a" and .labels.service_name == "turns" and
			(.labels.hostname | length > 0))' "$folder"/*.json
	done
	# what was sampled is what is kept and what was sent, in the windows that arrived
	local sent=() samples
	mapfile -t sent < <(grep -l '"process_cpu"' pyro/*.json | sed 's/json$/pb.gz/')
	samples=$(find kept -name '*.weft' | sort | head -${#sent[@]} |
		xargs "$WEFT" report --json | jq .total)
	[ "$(weft report --json "${sent[@]}" | jq .total)" = "$samples" ]
	[ "$(weft report --json kept/* | jq .total)" = \
		"$(sed -nE 's/.* ([0-9]+) samples.*/\1/p' said)" ]
	weft report -o - --view thread kept/* | grep '^turns' >folded
	# 4 : 3 : 2 : 1, within 4 standard errors
	awk '{ n = $NF }
		/do_a/ { a += n } /do_b/ { b += n } /do_c/ { c += n } /do_d/ { d += n }
		function far(x, p) {
			x = x / all - p
			return x * x > 16 * p * (1 - p) / all
		}
		END {
			all = a + b + c + d
			print a, b, c, d
			exit all < 1000 || far(a, .4) || far(b, .3) || far(c, .2) || far(d, .1)
		}' folded
}

@test "a server that is busy, resets, answers a page or never: all come, once, in order" {
	start_server got 503,reset,html,429/1,hang,500,401,ok
	cat >agent.ini <<-end
		[agent]
		freq = 49
		[receiver main]
		kind = pyroscope
		url = http://127.0.0.1:$port
		timeout = 1s
	end
	start_agent --config agent.ini
	wait_for has_taken got 4
	stop_agent
	cat said got/requests
	adds_up main
	is_orderly got
	is_in_order got
	grep -q 'receiver main: takes profiles again' said
	# it asked for a second of peace, and got it
	awk '$2 == "429/1" { at = $1; next } at && !after { after = $1 - at }
		END { exit after < 1 }' got/requests
}

@test "what a server does not want for good is not tried again, and told" {
	start_server got 400,422,ok
	start_agent --push "pyroscope=http://127.0.0.1:$port"
	wait_for has_taken got 2
	stop_agent
	cat said
	adds_up pyroscope
	[ "$(grep -c 'was refused for good: HTTP 4' said)" = 2 ]
	is_orderly got
}

@test "servers don't wait for each other" {
	start_server slow hang
	local slow=$port
	start_server got
	start_agent --push "parca=http://127.0.0.1:$slow" \
		--push "pyroscope=http://127.0.0.1:$port" --push otlp=http://nobody.invalid:4318
	wait_for has_taken got 5
	wait_for grep -q 'receiver otlp: try 1 failed' said
	stop_agent
	cat said
	adds_up pyroscope
	adds_up parca
	adds_up otlp # a name that the DNS does not have
	[ "$(taken slow)" = 0 ]
	grep -E '^  otlp +0 delivered' said
}

@test "a server that is away: profiles wait, and are delivered first by the next agent" {
	start_server got
	kill -9 "$server"
	wait "$server" || true
	start_agent --push "pyroscope=http://127.0.0.1:$port"
	wait_for are_waiting 3
	stop_agent
	cat said
	adds_up pyroscope
	local waiting
	waiting=$(find spool -name '*.pb.gz' | wc -l)
	start_server got
	start_agent --push "pyroscope=http://127.0.0.1:$port"
	wait_for has_taken got $((waiting + 1))
	wait_for has_all pyroscope
	stop_agent
	cat said
	adds_up pyroscope
	grep -qE "and $waiting found" said
	is_orderly got
	is_in_order got
}

@test "a window without a sample is kept, and no server is bothered with it" {
	root=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
	[ -n "$root" ] || skip "no cgroup v2 here"
	nobody=$root/weft-test-$$
	mkdir "$nobody" || skip "no cgroup can be made here"
	start_server got
	start_agent --push "pyroscope=http://127.0.0.1:$port" --cgroup "$nobody" --keep kept
	wait_for are_kept 2
	stop_agent
	rmdir "$nobody"
	cat said
	grep -q 'pyroscope *0 delivered.* 0 refused.* of 0 made' said
	[ "$(taken got)" -eq 0 ]
}

@test "a spool that is full: the oldest goes, and is told" {
	start_agent --push pyroscope=http://127.0.0.1:9 --spool-size 40K -F 199
	wait_for grep -q 'dropped undelivered' said
	stop_agent
	cat said
	adds_up pyroscope
	[ "$(find spool -name '*.pb.gz' -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }')" \
		-le 40960 ]
	# the newest are what stays
	local dropped
	dropped=$(sed -nE 's|.*dropped undelivered: .*/(0[0-9]*)-.*|\1|p' said | sort | tail -1)
	[[ $(basename "$(find spool -name '*.pb.gz' | sort | head -1)") > $dropped ]]
}

@test "a disk that is full: told, nothing half, and it goes on" {
	mkdir small
	mount -t tmpfs -o size=64k tmpfs small
	cat /dev/zero >small/filler 2>/dev/null || true # all of it
	start_server got
	spool=$PWD/small/spool start_agent --push "pyroscope=http://127.0.0.1:$port"
	wait_for grep -q 'a profile is lost' said
	rm small/filler
	wait_for has_taken got 2
	stop_agent
	cat said
	grep -qE 'lost +[0-9]+ of [0-9]+ profiles' said
	adds_up pyroscope
	is_orderly got
}

# Only what is not its own is left in the spool.
is_all_gone() {
	[ "$(ls spool/pyroscope)" = README ]
}

@test "what was damaged while it waited is refused, the rest arrives" {
	start_agent --push pyroscope=http://127.0.0.1:9
	wait_for are_waiting 3
	stop_agent
	local first second waiting
	waiting=$(find spool -name '*.pb.gz' | wc -l)
	first=$(find spool -name '*.pb.gz' | sort | head -1)
	second=$(find spool -name '*.pb.gz' | sort | sed -n 2p)
	printf 'xxxxxxxx' | dd of="$first" bs=1 seek=200 conv=notrunc status=none
	truncate -s -9 "$second"
	echo leftover >spool/pyroscope/000000000777-x.pb.gz.1.part
	echo not ours >spool/pyroscope/README
	start_server got
	start_agent --push "pyroscope=http://127.0.0.1:$port"
	wait_for has_taken got $((waiting - 1))
	wait_for is_all_gone
	stop_agent
	cat said
	adds_up pyroscope
	[ "$(grep -c 'refused for good: the file is damaged' said)" = 2 ]
	is_orderly got
}

@test "killed at any moment: what was written is delivered, once" {
	start_server got
	for i in 1 2 3 4 5 6; do
		start_agent --push "pyroscope=http://127.0.0.1:$port" -F 99
		wait_for has_taken got $((i * 2))
		sleep "0.$((RANDOM % 1000))"
		kill -9 "$agent"
		wait "$agent" || true
	done
	start_agent --push "pyroscope=http://127.0.0.1:$port"
	wait_for has_taken got 14
	wait_for has_all pyroscope
	stop_agent
	cat said
	adds_up pyroscope
	[ ! -e got/broken ]
	# a server that took one whose agent then died hears of it again, by the same name
	jq -r .id got/*.json | sort -u >ids
	[ "$(wc -l <ids)" -ge $(($(taken got) - 6)) ]
}

@test "the process that has the network has nothing else" {
	start_server got hang
	start_agent --push "pyroscope=http://127.0.0.1:$port"
	wait_for grep -qs hang got/requests
	local sender
	for sender in $(pgrep -P "$(pgrep -P "$agent" -x weft-keeper)" -x weft-sender); do
		grep -E '^(Uid|Gid|Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' \
			"/proc/$sender/status" >status
		cat status
		grep -qE '^Uid:(\s+65534){4}$' status
		grep -qE '^CapEff:\s+0+$' status
		grep -qE '^CapBnd:\s+0+$' status
		grep -qE '^NoNewPrivs:\s+1$' status
		grep -qE '^Seccomp:\s+2$' status
		# the profile, its socket, and what libcurl opens; no BPF, no perf event
		! find "/proc/$sender/fd" -printf '%l\n' | grep -E 'bpf|perf_event' || return 1
		found=1
	done
	[ "${found-}" ]
	kill -9 "$agent"
}

@test "credentials come from files that are not everybody's, and arrive" {
	start_server got
	echo s3cret >token
	cat >agent.ini <<-end
		[receiver main]
		kind = pyroscope
		url = http://127.0.0.1:$port
		header = X-Scope-OrgID: tenant-1
		bearer-token-file = $PWD/token
	end
	chmod 644 token
	refused 'everybody may read' agent --config agent.ini --check-config
	chmod 600 token
	start_agent --config agent.ini
	wait_for has_taken got 1
	stop_agent
	jq -es 'all(.headers.Authorization == "Bearer s3cret" and
		.headers["X-Scope-OrgID"] == "tenant-1")' got/*.json
	! tr '\0' ' ' <"/proc/self/cmdline" | grep s3cret || return 1
}

# key.pem and cert.pem, of this machine
make_certificate() {
	command -v openssl >/dev/null || skip "no openssl"
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 \
		-subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2>/dev/null
}

@test "a server that asks for a certificate gets it" {
	make_certificate
	mkdir -m 700 private
	cp key.pem private
	TLS_CERT=$PWD/cert.pem TLS_KEY=$PWD/key.pem TLS_CA=$PWD/cert.pem start_server got
	cat >agent.ini <<-end
		[receiver stranger]
		kind = pyroscope
		url = https://127.0.0.1:$port
		ca-file = $PWD/cert.pem
		[receiver known]
		kind = pyroscope
		url = https://127.0.0.1:$port
		ca-file = $PWD/cert.pem
		cert-file = $PWD/cert.pem
		key-file = $PWD/private/key.pem
	end
	chmod 644 private/key.pem
	refused 'everybody may read' agent --config agent.ini --check-config
	chmod 600 private/key.pem
	grep -v cert-file agent.ini >half.ini
	refused 'go together' agent --config half.ini --check-config
	start_agent --config agent.ini
	wait_for has_taken got 2
	wait_for grep -q 'receiver stranger: try 1 failed' said
	stop_agent
	cat said
	adds_up known
	adds_up stranger
	grep -E '^  stranger +0 delivered' said
	is_orderly got
}

@test "a certificate that nobody vouches for is not believed" {
	make_certificate
	TLS_CERT=$PWD/cert.pem TLS_KEY=$PWD/key.pem start_server got
	cat >agent.ini <<-end
		[receiver unknown]
		kind = pyroscope
		url = https://127.0.0.1:$port
		[receiver known]
		kind = pyroscope
		url = https://127.0.0.1:$port
		ca-file = $PWD/cert.pem
	end
	start_agent --config agent.ini
	wait_for has_taken got 2
	wait_for grep -q 'receiver unknown: try 1 failed' said
	stop_agent
	cat said
	adds_up known
	adds_up unknown
	grep -E 'receiver unknown: try 1 failed.*[Cc]ertificate' said
	grep -E '^  unknown +0 delivered' said
}

@test "a configuration that is wrong is told by its line" {
	printf '[agent]\nfreq = 19\nwindwo = 10s\n' >a.ini
	refused 'a.ini: line 3: unknown key .windwo' agent --config a.ini
	[[ $stderr == *'did you mean window?'* ]]
	printf '[agent]\nwindow = soon\n' >b.ini
	refused 'b.ini: line 2: .*not a duration' agent --config b.ini
	printf '[receiver x]\nurl = localhost\nkind = pyroscope\n' >c.ini
	refused "receiver x: 'localhost' is no URL" agent --config c.ini
	printf '[nobody]\na = b\n' >d.ini
	refused 'd.ini: line 2: unknown section' agent --config d.ini
	[[ $stderr == *'can be [agent], [receiver], [relabel]'* ]]
	printf 'window = 10s\n' >no.ini
	refused "no.ini: line 1: 'window' is in no section" agent --config no.ini
	printf '[receiver x]\nkind = ftp\nurl = http://h\n' >e.ini
	refused 'receiver x: it needs a kind' agent --config e.ini
	[[ $stderr == *'can be pyroscope, otlp, parca'* ]]
	refused 'cannot read none.ini' agent --config none.ini
	refused 'nobody would get a profile' agent
	refused 'not KIND=URL' agent --push http://localhost:4040
	refused 'window' agent --window 1ms --keep x
	# the command line goes before the file
	printf '[agent]\nfreq = 1000000\nkeep = x\n' >f.ini
	refused 'freq' agent --config f.ini --check-config
	run -0 weft agent --config f.ini --check-config -F 19
}

@test "two agents and one spool: the second one says so" {
	start_agent --push pyroscope=http://127.0.0.1:9
	wait_for test -d spool/pyroscope
	run --separate-stderr weft agent --push pyroscope=http://127.0.0.1:9 --spool "$PWD/spool"
	[ "$status" -eq 1 ]
	[[ $stderr == *'is used by another process'* ]]
	stop_agent
}

@test "it ends within five seconds of being told to, whoever hangs" {
	start_server got hang
	start_agent --push "pyroscope=http://127.0.0.1:$port"
	wait_for grep -qs hang got/requests
	kill -TERM "$agent"
	# the server still hangs when it has ended
	wait "$agent"
	kill -0 "$server"
	cat said
	adds_up pyroscope
	are_waiting 1
}
