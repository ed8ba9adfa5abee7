#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What weft agent --print-config says: each setting, where it comes from, and no secret.
# shellcheck disable=SC2154 # set by run

load lib

# KEY VALUE SOURCE: a row of the output
has_row() {
	grep -qE "^$1 = $2 +; $3\$" printed || { cat printed; return 1; }
}

@test "each setting is printed with its source, and none of its secrets" {
	echo s3cret-token >token
	echo s3cret-password >password
	chmod 600 token password
	cat >agent.ini <<-end
		[agent]
		freq = 49
		window = 90s
		hosts-sampled = 12.5%
		keep-size = 3G
		view = both
		by-service = yes
		label = team=a
		[receiver main]
		kind = pyroscope
		url = https://me:s3cret-url@localhost:4040
		bearer-token-file = token
		header = X-Key: s3cret-header
		proxy = http://us:s3cret-proxy@localhost:3128
		[receiver other]
		kind = parca
		url = http://localhost:7070
		user = me
		password-file = password
		[relabel none]
		action = drop
		source-labels = a,b
		regex = x
	end
	weft agent --config agent.ini -F 99 --push otlp=http://localhost:4318 \
		--spool "$PWD/spool" --print-config >printed
	run ! grep -n s3cret printed
	has_row freq 99 'command line'
	has_row spool "$PWD/spool" 'command line'
	has_row window 90s file
	has_row hosts-sampled '12[.]5%' file
	has_row keep-size 3G file
	has_row view both file
	has_row by-service yes file
	has_row label team=a file
	has_row label service_name=weft default
	has_row cpu-budget '0[.]5%' default
	has_row memory-budget 80M default
	has_row kernel-memory-budget '[0-9]+[MK]' default
	has_row spool-age 24h default
	has_row quiet no default
	has_row url 'https://…@localhost:4040' file
	has_row proxy 'http://…@localhost:3128' file
	has_row header 'X-Key: …' file
	has_row bearer-token-file token file
	has_row url 'http://localhost:4318' 'command line'
	has_row timeout 15s default
	has_row action drop file
	has_row regex x file
	grep -qx '\[receiver otlp\]' printed
	grep -qx '# stop-file is not set' printed
	# nothing was begun
	[ ! -e spool ]
	# it can be read again, and comes to the same
	sed -E '/^header/d; s/…@//' printed >again.ini
	weft agent --config again.ini --print-config | sed 's/ *;.*//' >second
	sed -E '/^header/d; s/…@//; s/ *;.*//' printed | diff - second
}

@test "variables go before the file, and options before them" {
	printf '[agent]\nfreq = 49\nwindow = 90s\nview = both\nlabel = team=file\n' >agent.ini
	WEFT_AGENT_CONFIG=agent.ini WEFT_AGENT_FREQ=97 WEFT_AGENT_WINDOW=30s WEFT_AGENT_SPOOL='' \
		WEFT_AGENT_PUSH=otlp=http://a:4318,parca=http://b:7070 \
		WEFT_AGENT_LABEL=team=a,region=eu WEFT_AGENT_BY_SERVICE=yes \
		weft agent -F 199 --print-config >printed
	has_row freq 199 'command line'
	has_row window 30s environment
	has_row by-service yes environment
	has_row view both file
	has_row spool /var/lib/weft/spool default
	has_row label team=a environment
	has_row label region=eu environment
	has_row url http://a:4318 environment
	has_row url http://b:7070 environment
	run ! grep -q team=file printed
	WEFT_AGENT_PUSH=otlp=http://a:4318 weft agent --push parca=http://b:7070 \
		--print-config >printed
	has_row url http://b:7070 'command line'
	run ! grep -q http://a printed
	WEFT_AGENT_WINDOW=soon run -2 --separate-stderr weft agent --keep x --check-config
	[[ $stderr == *"WEFT_AGENT_WINDOW: --window 'soon': not a duration"* ]]
	WEFT_AGENT_BY_SERVICE=maybe run -2 --separate-stderr weft agent --keep x --check-config
	[[ $stderr == *"WEFT_AGENT_BY_SERVICE: by-service: neither yes nor no"* ]]
}

@test "what is wrong is told, and nothing printed" {
	printf '[agent]\nfreq = often\nkeep = x\n' >agent.ini
	run -2 --separate-stderr weft agent --config agent.ini --print-config
	[ -z "$output" ]
	[[ $stderr == *"line 2"* ]]
}

@test "a server that would make a series of each trace is warned of" {
	run --separate-stderr weft agent --push pyroscope=http://localhost:4040 \
		--push otlp=http://localhost:4318 --spool "$PWD/spool" --trace-ids --check-config
	[ "$status" -eq 0 ]
	[[ $stderr == *"receiver pyroscope would make a series of each trace"* ]]
	[[ $stderr != *"receiver otlp"* ]]
}
