// SPDX-License-Identifier: BSD-2-Clause
//
// The trees that are shown: the recording read one way, and who calls, and who
// is called by, one function of it.

// Frames beyond the recording's own stand for processes, threads, containers.
class Labels {
	constructor(recording, group) {
		const { processes, threads, containers } = recording;

		this.first = recording.n_frames;
		this.of_thread = threads.map(() => -1);
		this.names = [];
		if (group === "process")
			this.use(
				threads.map((t) => t.process),
				processes.map((p) => p.name)
			);
		if (group === "thread")
			this.use(
				threads.map((t, i) => i),
				threads.map((t) => t.name)
			);
		if (group === "container")
			this.use(
				threads.map((t) => processes[t.process].container + 1),
				["no container", ...containers]
			);
	}

	// Those of one name are one: a fork a request must not be a cell each.
	use(of_thread, names) {
		const ids = new Map();

		this.of_thread = of_thread.map((item) => {
			const name = names[item];

			if (!ids.has(name)) {
				ids.set(name, this.names.length);
				this.names.push(name);
			}
			return this.first + ids.get(name);
		});
	}
}

class Shape {
	// look: {view, kernel, inline, group}
	constructor(recording, look) {
		this.recording = recording;
		this.labels = new Labels(recording, look.group);
		this.leaves = this.leavesOf(look.view);
		this.hidden = recording.kind.map(
			(kind) =>
				(kind === KERNEL && !look.kernel) ||
				(kind === INLINED && !look.inline)
		);
		this.build();
	}

	leavesOf(view) {
		const { stacks } = this.recording,
			which = view === "async" ? 0 : 1;
		const leaves = new Int32Array(stacks.length / 2);

		for (let i = 0; i < leaves.length; i++) leaves[i] = stacks[2 * i + which];
		return leaves;
	}

	// Each label's uses in a row, so that a memo of nodes serves them all: memo is a
	// recorded node's place, and is meant where stamp names the label at hand.
	build() {
		const { recording: r, labels } = this;
		const builder = new Builder(r.n_nodes, !this.hidden.includes(1));

		this.way = [];
		this.memo = new Int32Array(r.n_nodes);
		this.stamp = new Int32Array(r.n_nodes);
		this.leaf_of = new Int32Array(r.n_uses);
		for (const [label, uses] of this.usesByLabel()) {
			this.base = label < 0 ? 0 : builder.child(0, label);
			for (const use of uses) {
				const leaf = this.leaves[r.stack_of[use]];

				this.leaf_of[use] = this.copy(builder, leaf, label + 2);
			}
		}
		this.tree = new Tree(builder, Shape.order(r, labels));
		for (let i = 0; i < r.n_uses; i++)
			this.leaf_of[i] = this.tree.place[this.leaf_of[i]];
		this.way = this.memo = this.stamp = null;
	}

	usesByLabel() {
		const { recording: r, labels } = this;
		const uses = new Map();

		for (let use = 0; use < r.n_uses; use++) {
			const label = labels.of_thread[r.thread_of[use]];

			if (!uses.has(label)) uses.set(label, []);
			uses.get(label).push(use);
		}
		return uses;
	}

	// A recorded node's place in the tree that is built.
	copy(builder, node, label) {
		const { parent, frame } = this.recording;
		const { way, memo, stamp, hidden } = this;
		let n = 0;

		for (; node && stamp[node] !== label; node = parent[node])
			way[n++] = node;
		let at = node ? memo[node] : this.base;
		while (n) {
			const next = way[--n];

			if (!hidden[frame[next]]) at = builder.child(at, frame[next]);
			memo[next] = at;
			stamp[next] = label;
		}
		return at;
	}

	static order(recording, labels) {
		const more = labels.names.map((_, i) => i);

		more.sort((a, b) => (labels.names[a] < labels.names[b] ? -1 : 1));
		return Int32Array.from([
			...recording.by_name,
			...more.map((i) => i + labels.first),
		]);
	}

	// Sets the weights: of uses that pass, in the cells from..to; null: at any time.
	weigh(ok, range) {
		const { leaf_of, tree, recording: r } = this;
		const [from, to] = range || [NO_CELL, Infinity];

		tree.self.fill(0);
		for (let i = 0; i < r.n_samples; i++)
			if (ok[r.use[i]] && r.cell[i] >= from && r.cell[i] <= to)
				tree.self[leaf_of[r.use[i]]] += r.weight[i];
		tree.sum();
	}

	// Each sample of a time that passes, below a node of the tree.
	eachTimed(ok, node, act) {
		const { leaf_of, tree, recording: r } = this;

		for (let i = 0; i < r.n_samples; i++) {
			const leaf = leaf_of[r.use[i]];

			if (
				ok[r.use[i]] &&
				leaf >= node &&
				leaf < tree.end[node] &&
				r.cell[i] !== NO_CELL
			)
				act(i);
		}
	}

	// What passes in each cell: a row of all threads.
	overTime(ok, node) {
		const { recording: r } = this;
		const cells = new Float64Array(r.n_cells);

		this.eachTimed(ok, node, (i) => {
			cells[r.cell[i]] += r.weight[i];
		});
		return [{ thread: -1, n: 0, cells }];
	}

	// A row a thread, the heaviest first; the last of the most is all others'.
	threadsOverTime(ok, node, most) {
		const { recording: r } = this,
			weights = new Float64Array(r.threads.length);
		const thread = (i) => r.thread_of[r.use[i]];

		this.eachTimed(ok, node, (i) => {
			weights[thread(i)] += r.weight[i];
		});
		const ran = [...r.threads.keys()]
			.filter((i) => weights[i])
			.sort((a, b) => weights[b] - weights[a]);
		const alone = ran.length > most ? most - 1 : ran.length;
		const rows = ran.slice(0, most).map((id, i) => ({
			thread: i < alone ? id : -1,
			n: i < alone ? 1 : ran.length - alone,
			cells: new Float64Array(r.n_cells),
		}));
		const row = new Int32Array(r.threads.length);

		ran.forEach((id, i) => {
			row[id] = Math.min(i, alone);
		});
		this.eachTimed(ok, node, (i) => {
			rows[row[thread(i)]].cells[r.cell[i]] += r.weight[i];
		});
		return rows;
	}

	name(frame) {
		const { recording: r, labels } = this;

		return frame < r.n_frames
			? r.names[frame]
			: labels.names[frame - labels.first];
	}
}

// A weight for each of the builder's nodes, brought to their places.
function finish(builder, weights, by_name) {
	const tree = new Tree(builder, by_name);

	weights.forEach((weight, i) => {
		tree.self[tree.place[i]] = weight;
	});
	return tree.sum();
}

// Everything below the outermost nodes of one frame, as one tree.
function callees(tree, frame, by_name) {
	const builder = new Builder(1024),
		weights = [0];

	for (const top of tree.outermost((f) => f === frame)) {
		const at = new Map([[tree.parent[top], 0]]);

		for (let i = top; i < tree.end[top]; i++) {
			if (!tree.total[i]) {
				i = tree.end[i] - 1;
				continue;
			}
			const node = builder.child(at.get(tree.parent[i]), tree.frame[i]);

			at.set(i, node);
			weights[node] = (weights[node] || 0) + tree.self[i];
		}
	}
	return finish(builder, weights, by_name);
}

// The ways from one frame to the root, as one tree.
function callers(tree, frame, by_name) {
	const builder = new Builder(1024),
		weights = [0];

	for (const top of tree.outermost((f) => f === frame)) {
		let node = 0;

		for (let i = top; i > 0; i = tree.parent[i])
			node = builder.child(node, tree.frame[i]);
		weights[node] = (weights[node] || 0) + tree.total[top];
	}
	return finish(builder, weights, by_name);
}

// Each frame's self and total; of a recursion the outermost call counts.
function functions(tree, n_frames) {
	const self = new Float64Array(n_frames),
		total = new Float64Array(n_frames);
	const until = new Int32Array(n_frames);

	for (let i = 1; i < tree.n; i++) {
		const f = tree.frame[i];

		if (f >= n_frames) continue;
		self[f] += tree.self[i];
		if (i >= until[f]) {
			total[f] += tree.total[i];
			until[f] = tree.end[i];
		}
	}
	return { self, total };
}
