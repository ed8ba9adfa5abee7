// SPDX-License-Identifier: BSD-2-Clause
//
// What the recording holds, as user/format/html/html_write.c writes it into the page.
// Flat lists of numbers: a string is an index into strings, and so on.
//
//   format     1
//   meta       title, host, kernel, command, version, event, start_s, seconds,
//              rate_hz, value, unit, period_ns, view, one_view, was_cut, left_out
//   cell_s     seconds in a cell of time
//   strings    [text …]
//   modules    [path, build id …], both strings
//   frames     [string, module, kind, file …]: functions and marks, by KINDS
//   whole      [string …], by frame: names of frames may be shortened; or none
//   nodes      [up, frame …] of a tree of paths, root to leaf, that both views
//              share: node i, counted from 1, lies under node i - up; 0 is the root;
//              a node has one child of a frame
//   stacks     [async leaf, thread's leaf …], nodes
//   containers [string …]
//   processes  [pid, string, container or 0, host …], containers counted from 1
//   threads    [tid, string, process …]
//   uses       [stack, thread …]: who ran which stack
//   cells      [[cell, use, count, …] …], each use as the distance from the one
//              before it; a cell may come in several pieces, and in any order
//   undated    [use, count …] of what has no time
//   ledger     [[group, text, count] …], groups as in ledger.js
//
// Everything in it is hostile text and may only ever become a text node.

const UNKNOWN = 0,
	NATIVE = 1,
	KERNEL = 2,
	JIT = 3,
	INLINED = 4,
	ASKED = 5,
	WAITS = 6,
	OTHER_THREAD = 7,
	GAP = 8,
	CUT = 9,
	LABEL = 10,
	RESUMED = 11;
const isBoundary = (kind) =>
	(kind >= ASKED && kind <= OTHER_THREAD) || kind === RESUMED;
const NO_CELL = -1;

// Letters that can't be seen, break lines or turn what follows around are shown as
// their numbers.
const UNSEEN = /[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function visible(text) {
	return text.replace(UNSEEN, (letter) => {
		const number = letter.charCodeAt(0).toString(16);

		return "\\u" + number.padStart(4, "0");
	});
}

class Recording {
	constructor(json) {
		if (json.format !== 1) throw new Error("a page of format " + json.format);
		json.strings = json.strings.map(visible);
		this.meta = json.meta;
		for (const key of ["title", "host", "kernel", "command", "event"])
			this.meta[key] = visible(this.meta[key]);
		this.cell_s = json.cell_s;
		this.ledger = json.ledger.map(([of, text, n]) => [of, visible(text), n]);
		this.readFrames(json);
		this.readNodes(json.nodes);
		this.stacks = Int32Array.from(json.stacks);
		this.readTasks(json);
		this.readSamples(json);
	}

	readFrames({ strings, modules, frames, whole }) {
		this.n_frames = frames.length / 4;
		this.modules = [];
		for (let i = 0; i < modules.length; i += 2) {
			const path = strings[modules[i]];

			this.modules.push({
				path,
				name: path.replace(/^.*\/(?=.)/, ""),
				build_id: strings[modules[i + 1]],
			});
		}
		this.names = new Array(this.n_frames);
		this.whole = new Array(this.n_frames);
		this.files = new Array(this.n_frames);
		this.module = new Int32Array(this.n_frames);
		this.kind = new Uint8Array(this.n_frames);
		for (let i = 0; i < this.n_frames; i++) {
			this.names[i] = strings[frames[4 * i]];
			this.whole[i] = whole ? strings[whole[i]] : this.names[i];
			this.module[i] = frames[4 * i + 1];
			this.kind[i] = frames[4 * i + 2];
			this.files[i] = strings[frames[4 * i + 3]];
		}
		this.sortFrames();
	}

	// Siblings lie in the order of their names, so that the same calls lie at
	// the same place in both views.
	sortFrames() {
		const order = Array.from(this.names.keys()),
			{ names } = this;

		order.sort((a, b) =>
			names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b
		);
		this.by_name = Int32Array.from(order);
	}

	readNodes(nodes) {
		this.n_nodes = nodes.length / 2 + 1;
		this.parent = new Int32Array(this.n_nodes);
		this.frame = new Int32Array(this.n_nodes).fill(-1);
		for (let i = 1; i < this.n_nodes; i++) {
			this.parent[i] = i - nodes[2 * i - 2];
			this.frame[i] = nodes[2 * i - 1];
		}
	}

	readTasks({ strings, containers, processes, threads }) {
		this.containers = containers.map((id) => strings[id]);
		this.processes = [];
		for (let i = 0; i < processes.length; i += 4)
			this.processes.push({
				pid: processes[i],
				name: strings[processes[i + 1]],
				container: processes[i + 2] - 1,
				host: strings[processes[i + 3]],
			});
		this.threads = [];
		for (let i = 0; i < threads.length; i += 3)
			this.threads.push({
				tid: threads[i],
				name: strings[threads[i + 1]],
				process: threads[i + 2],
			});
	}

	readSamples({ uses, cells, undated }) {
		const n_uses = uses.length / 2;
		const entries = cells.reduce((sum, cell) => sum + cell.length - 1, 0);
		const n = (entries + undated.length) / 2;

		this.stack_of = new Int32Array(n_uses);
		this.thread_of = new Int32Array(n_uses);
		for (let i = 0; i < n_uses; i++) {
			this.stack_of[i] = uses[2 * i];
			this.thread_of[i] = uses[2 * i + 1];
		}
		this.n_uses = n_uses;
		this.n_samples = n;
		this.use = new Int32Array(n);
		this.cell = new Int32Array(n);
		this.weight = new Float64Array(n);
		this.n_cells = 0;
		this.fillSamples(cells, undated);
	}

	fillSamples(cells, undated) {
		let at = 0;

		for (const cell of cells) {
			let use = 0;

			this.n_cells = Math.max(this.n_cells, cell[0] + 1);
			for (let i = 1; i < cell.length; i += 2, at++) {
				use += cell[i];
				this.use[at] = use;
				this.weight[at] = cell[i + 1];
				this.cell[at] = cell[0];
			}
		}
		for (let i = 0; i < undated.length; i += 2, at++) {
			this.use[at] = undated[i];
			this.weight[at] = undated[i + 1];
			this.cell[at] = NO_CELL;
		}
	}

	// One byte a use: does it pass? filter: {process, thread, container}, -1
	// where any will do.
	passing(filter) {
		const ok = new Uint8Array(this.n_uses),
			threads = this.threads.map((t, i) =>
				(filter.thread < 0 || filter.thread === i) &&
				(filter.process < 0 || filter.process === t.process) &&
				(filter.container < 0 ||
					filter.container ===
						this.processes[t.process].container)
					? 1
					: 0
			);

		for (let i = 0; i < this.n_uses; i++) ok[i] = threads[this.thread_of[i]];
		return ok;
	}
}
