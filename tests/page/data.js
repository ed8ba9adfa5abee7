// SPDX-License-Identifier: BSD-2-Clause
//
// Made-up recordings for the page. The samples are the truth: plain lists of
// names, from which a test takes its expectations; encode() turns them into
// what the page reads, as page/data.js says.
"use strict";
const fs = require("fs");
const path = require("path");

const KINDS = [
	"unknown",
	"native",
	"kernel",
	"jit",
	"inlined",
	"asked",
	"waits",
	"other_thread",
	"gap",
	"cut",
];

// Numbers that look random and are the same in every run.
function dice(seed) {
	let state = seed >>> 0;

	return (below) => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return Math.floor((state / 4294967296) * below);
	};
}

function interner() {
	const ids = new Map(),
		list = [];

	return {
		list,
		id(key, value) {
			if (!ids.has(key)) {
				ids.set(key, list.length);
				list.push(value === undefined ? key : value);
			}
			return ids.get(key);
		},
	};
}

class Encoder {
	constructor() {
		this.strings = interner();
		this.strings.id("");
		this.modules = interner();
		this.frames = interner();
		this.nodes = interner();
		this.stacks = interner();
		this.containers = interner();
		this.processes = interner();
		this.threads = interner();
		this.seen = new Map();
		this.uses = interner();
		this.undated = [];
		this.cells = [];
	}

	frame(text) {
		if (!this.seen.has(text)) this.seen.set(text, this.newFrame(text));
		return this.seen.get(text);
	}

	newFrame(text) {
		const [name, module = "", kind = "native"] = text.split("|");
		const m = this.modules.id(module, [this.strings.id(module), 0]);

		return this.frames.id(text, [
			this.strings.id(name),
			m,
			KINDS.indexOf(kind),
			0,
		]);
	}

	leaf(path) {
		let parent = 0;

		for (const text of path) {
			const frame = this.frame(text),
				next = this.nodes.list.length + 1;
			parent =
				this.nodes.id(parent * 65536 + frame, [
					next - parent,
					frame,
				]) + 1;
		}
		return parent;
	}

	thread(s) {
		const c = s.container
			? this.containers.id(s.container, this.strings.id(s.container)) +
				1
			: 0;
		const p = this.processes.id("p" + s.pid, [
			s.pid,
			this.strings.id(s.process),
			c,
			0,
		]);

		return this.threads.id("t" + s.tid, [
			s.tid,
			this.strings.id(s.thread),
			p,
		]);
	}

	add(s) {
		const a = this.leaf(s.asked),
			b = this.leaf(s.on_thread);
		const stack = this.stacks.id(a * 2 ** 26 + b, [a, b]),
			thread = this.thread(s);
		const use = this.uses.id(stack + " " + thread, [stack, thread]);

		if (s.second === undefined) this.undated.push(use, s.weight);
		else (this.cells[s.second] ||= []).push([use, s.weight]);
	}

	// By use, each as the distance from the one before it.
	cell(second) {
		let last = 0;
		const entries = (this.cells[second] || []).sort((a, b) => a[0] - b[0]);

		return [
			second,
			...entries.flatMap(([use, weight]) => {
				const distance = use - last;

				last = use;
				return [distance, weight];
			}),
		];
	}
}

function encode(recording) {
	const e = new Encoder();

	recording.samples.forEach((s) => e.add(s));
	return {
		format: 1,
		meta: recording.meta,
		cell_s: 1,
		strings: e.strings.list,
		modules: e.modules.list.flat(),
		frames: e.frames.list.flat(),
		nodes: e.nodes.list.flat(),
		stacks: e.stacks.list.flat(),
		containers: e.containers.list,
		processes: e.processes.list.flat(),
		threads: e.threads.list.flat(),
		uses: e.uses.list.flat(),
		cells: e.cells.map((_, second) => e.cell(second)),
		undated: e.undated,
		ledger: (recording.ledger || []).map((line) => line.slice(1)),
	};
}

const META = {
	title: "the whole machine",
	host: "box",
	kernel: "6.1.0-weft",
	version: "0.1.0",
	command: "weft record -a -F 199 -d 8s -o page.html",
	event: "cpu-clock",
	start_s: 1760000000,
	seconds: 8,
	rate_hz: 199,
	value: "samples",
	unit: "count",
	period_ns: 5025126,
	view: "async",
	one_view: false,
	was_cut: false,
	left_out: 0,
};

// What a list that both halves share calls one of its names.
function words(name) {
	const lists = ["record.h", "losses.h"]
		.map((file) => path.join(__dirname, "../../include/shared", file))
		.map((file) => fs.readFileSync(file, "utf8"))
		.join("\n")
		.replace(/^#define FRAME_KINDS[^]*?\n\n/m, "");

	return lists.match(new RegExp(`X\\(${name}, (?:\\d, )?"([^"]*)"`))[1];
}

// As a reading has it, and as the page groups it.
const LEDGER = [
	["oncpu.entered", "ticks", "ticks of the sampler", 3184],
	["oncpu.outcome.idle", "left_out", "idle", 210],
	["oncpu.outcome.kept", "kept", "kept", 2950],
	["oncpu.outcome.ring_full", "lost", words("RING_FULL"), 24],
	["oncpu.ending.start", "ending", words("START"), 2700],
	["oncpu.ending.broken", "ending", words("BROKEN"), 250],
	["samples.unproven", "sample", words("UNPROVEN"), 1200],
	["weather.rain", "other", "weather.rain", 3],
];

/*
 * Few stacks, all known: a service of callbacks beside a program without any.
 * Leaf last. The async view has the callers that asked for the work.
 */
function service() {
	const loop = ["main|service", "run_loop|service"];
	const accept = [
		"server_listen|service",
		"on_acceptable|service",
		"on_readable|service",
	];
	const boundary = "--||asked";
	const work = [
		[
			40,
			[
				"handle_digest|service",
				"sha256|service",
				"hash_round|service|inlined",
			],
		],
		[
			22,
			[
				"handle_pack|service",
				"deflate|libz.so.1",
				"longest_match|libz.so.1",
			],
		],
		[14, ["handle_pack|service", "deflate|libz.so.1", "crc32_z|libz.so.1"]],
		[10, ["on_housekeeping|service", "store_expire|service"]],
		[
			12,
			[
				"handle_get|service",
				"write|libc.so.6",
				"entry_SYSCALL_64|[kernel]|kernel",
				"ksys_write|[kernel]|kernel",
				"tcp_sendmsg|[kernel]|kernel",
			],
		],
		[4, ["handle_get|service", "[missing frames]||gap", "memcpy|libc.so.6"]],
	];
	const plain = [
		"_start|redis-server",
		"main|redis-server",
		"aeMain|redis-server",
		"processCommand|redis-server",
	];
	const commands = [
		[18, ["lrangeCommand|redis-server", "addReplyBulk|redis-server"]],
		[11, ["getCommand|redis-server", "dictFind|redis-server"]],
		[9, ["setCommand|redis-server", "je_malloc|libjemalloc.so.2"]],
	];
	const samples = [];

	for (let second = 0; second < 8; second++) {
		for (const [weight, tail] of work) {
			const asker = tail[0].startsWith("on_house")
				? [
						"server_listen|service",
						"timer_arm|service",
						"--||asked",
					]
				: [...accept, boundary];

			samples.push({
				pid: 100,
				process: "service",
				tid: 100,
				thread: "service",
				container: "web.service",
				second,
				weight: weight + ((second * 3) % 5),
				on_thread: [...loop, ...tail],
				asked: [...asker, ...tail],
			});
		}
		for (const [weight, tail] of commands)
			samples.push({
				pid: 200,
				process: "redis-server",
				tid: 200 + (second & 1),
				container: "",
				thread: second & 1 ? "bio_lazy_free" : "redis-server",
				second,
				weight: weight * (second > 4 ? 2 : 1),
				on_thread: [...plain, ...tail],
				asked: [...plain, ...tail],
			});
	}
	return { meta: META, ledger: LEDGER, samples };
}

// Names that a program may give itself, each of which some page has obeyed.
const EVIL = [
	"</script><img src=x onerror=window.evil=1>",
	"<!--<script>window.evil=1",
	"\u2028window.evil=1\u2029",
	"${window.evil=1}",
	"&lt;b&gt;",
	"__proto__",
	"constructor",
	"\"'`;alert(1)//",
	"\u202egnp.exe",
	"javascript:window.evil=1",
	"]]>",
];

function hostile() {
	const samples = EVIL.map((name, i) => ({
		pid: 10 + i,
		process: name,
		tid: 10 + i,
		thread: name,
		container: name,
		second: i % 4,
		weight: 1,
		on_thread: ["main|" + name.replace("|", ""), name + "|" + name],
		asked: ["main|" + name, name + "||asked", name + "|" + name],
	}));
	const meta = { ...META, title: EVIL[0], host: EVIL[1], command: EVIL[2] };

	return { meta, samples, ledger: EVIL.map((name) => [name, "other", name, 1]) };
}

const LONG = "a::Klass_of_a_name_that_has_more_letters_than_its_cell_has_room::next";

// Modules with the names that the legend has for what is no module.
function namesakes() {
	const names = ["label", "kernel", "missing frames", "async boundary"];
	const samples = names.map((name) => ({
		pid: 7,
		process: name,
		tid: 7,
		thread: name,
		container: "",
		second: 0,
		weight: 1,
		on_thread: ["main|" + name, LONG + "|" + name],
		asked: ["main|" + name, LONG + "|" + name],
	}));

	return { meta: { ...META, title: "namesakes" }, samples, ledger: [] };
}

// A server whose time goes 25 calls from its start, and a little as far again beyond.
function deep() {
	const calls = (s) => [...Array(25).keys()].map((i) => s.replace("|", i + "|"));
	const task = { pid: 7, process: "server", tid: 7, thread: "server" };
	const sample = (weight, beyond) => {
		const path = [...calls("serve|server"), ...beyond];

		return { ...task, second: 0, weight, on_thread: path, asked: path };
	};
	const there = sample(84, ["compress|libz.so.1"]);
	const beyond = sample(16, calls("send|libnet.so"));

	return { meta: META, samples: [there, beyond], ledger: [] };
}

// n distinct stacks of a program with many functions, over 60 seconds.
function big(n) {
	const roll = dice(7),
		samples = [],
		seen = new Set(),
		names = [];
	const module = (f) => (f % 97 ? "lib" + ((f * 31) % 40) + ".so" : "[kernel]");
	const name = (f) =>
		(names[f] ||=
			`ns${f % 61}::Klass${f % 977}::method_${f}|${module(f)}|` +
			(f % 97 ? (f % 13 ? "native" : "inlined") : "kernel"));

	while (seen.size < n) {
		const path = [],
			depth = 20 + roll(30);
		let f = roll(4),
			key = 1;

		// few ways near the root and many near the leaf, as calls are
		for (let d = 0; d < depth; d++) {
			const way = roll(d > 0.75 * depth ? 1 : 30) ? 0 : roll(5);

			path.push(name(f));
			key = ((key + f) * 48271) % 137438953481;
			f = (f * 7 + 11 + way * 131) % 9973;
		}
		if (seen.has(key)) continue;
		seen.add(key);
		samples.push({
			pid: 1000 + (seen.size % 9),
			process: "proc" + (seen.size % 9),
			tid: 2000 + (seen.size % 50),
			thread: "worker",
			container: "",
			second: roll(60),
			weight: 1 + roll(4),
			on_thread: path,
			asked:
				seen.size % 3
					? path
					: [
							...path.slice(0, 6),
							"--||asked",
							...path.slice(8),
						],
		});
	}
	return { meta: { ...META, title: "big", seconds: 60 }, samples, ledger: LEDGER };
}

// What every thread does: one waits for itself, another for a third, one is cut.
function kinds() {
	const end = ["work|prog", "add|prog|inlined", "memset|[kernel]|kernel"];
	const of = (name, pid, mark) => ({
		pid,
		process: name,
		tid: pid,
		thread: name,
		container: "",
		weight: 10,
		on_thread: ["start|prog", ...end],
		asked: ["start|prog", `--||${mark}`, ...end],
	});
	const samples = [
		of("asks", 1, "asked"),
		of("waits", 2, "waits"),
		of("others", 3, "other_thread"),
		of("cut", 4, "cut"),
		of("gap", 5, "gap"),
		of("resumes", 6, "resumed"),
	];

	samples[0].second = 2;
	return { meta: { ...META, title: "kinds" }, ledger: [], samples };
}

// So long that a cell is more than a second, and of something else than samples.
function long() {
	const samples = [];

	for (let second = 0; second < 5000; second += 1 + (second % 3))
		samples.push({
			pid: 1, process: "p", tid: 1, thread: "t", container: "", second,
			weight: 1 + (second % 7), on_thread: ["a|m", `b${second % 5}|m`],
			asked: ["a|m", `b${second % 5}|m`],
		});
	const meta = { ...META, title: "long", view: "thread", one_view: true };

	return { meta, ledger: [], samples };
}

function empty() {
	return { meta: { ...META, title: "empty" }, ledger: [], samples: [] };
}

// As tests/page/write reads it.
function lines(recording) {
	const clean = (text) => String(text).replace(/[\t\n\x1f]/g, "?");
	const of = (s) =>
		[
			s.second === undefined ? "-" : s.second,
			s.weight,
			s.pid,
			s.process,
			s.tid,
			s.thread,
			s.container ? `/system.slice/${s.container}` : "",
			s.on_thread.map(clean).join("\x1f"),
			s.asked.map(clean).join("\x1f"),
		]
			.map((field, i) => (i < 7 ? clean(field) : field))
			.join("\t");

	return (
		[
			`title\t${recording.meta.title}`,
		`view\t${recording.meta.view}`,
		`one_view\t${recording.meta.one_view}`,
			...recording.ledger.map(
				([key, , , count]) => `ledger\t${clean(key)}\t${count}`
			),
			...recording.samples.map(of),
		].join("\n") + "\n"
	);
}

module.exports = {
	...{ encode, lines, kinds, long, empty, service, hostile, big, deep, namesakes },
	EVIL,
};
