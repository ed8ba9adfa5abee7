// SPDX-License-Identifier: BSD-2-Clause
//
// A tree of calls in flat arrays: nodes in depth-first order, siblings by name,
// so that what is below node i are the nodes i + 1 … end[i] - 1, and sums, places
// and searches are single loops. Built once for a shape (view, hidden frames,
// grouping); its weights are set anew for each choice of samples.

class Builder {
	// is_new: no child will be asked for twice, so none has to be found again.
	constructor(room, is_new = false) {
		this.n = 1;
		this.room = 1024;
		while (this.room < room) this.room *= 2;
		this.parent = new Int32Array(this.room);
		this.frame = new Int32Array(this.room);
		this.parent[0] = this.frame[0] = -1;
		this.slots = is_new ? null : new Int32Array(2 * this.room);
	}

	slot(parent, frame) {
		const a = Math.imul(parent, 0x9e3779b1);
		const hash = a ^ Math.imul(frame + 7, 0x85ebca6b);

		return (hash ^ (hash >>> 15)) & (this.slots.length - 1);
	}

	// The child of a node by its frame, made when it is not there.
	child(parent, frame) {
		const { slots } = this;

		if (!slots) return this.add(parent, frame);
		const mask = slots.length - 1;

		for (let at = this.slot(parent, frame); ; at = (at + 1) & mask) {
			const node = slots[at];

			if (!node) {
				slots[at] = this.n;
				return this.add(parent, frame);
			}
			if (this.parent[node] === parent && this.frame[node] === frame)
				return node;
		}
	}

	add(parent, frame) {
		const node = this.n++;

		this.parent[node] = parent;
		this.frame[node] = frame;
		if (this.n === this.room) this.grow();
		return node;
	}

	grow() {
		const larger = (old) => {
			const array = new Int32Array(2 * this.room);

			array.set(old);
			return array;
		};

		this.parent = larger(this.parent);
		this.frame = larger(this.frame);
		this.room *= 2;
		if (!this.slots) return;
		this.slots = new Int32Array(2 * this.room);
		for (let node = 1; node < this.n; node++) {
			let at = this.slot(this.parent[node], this.frame[node]);

			while (this.slots[at]) at = (at + 1) & (this.slots.length - 1);
			this.slots[at] = node;
		}
	}
}

class Tree {
	// by_name: frames in the order of their names; place[] is where each of the
	// builder's nodes came to lie.
	constructor(builder, by_name) {
		const { n } = builder;

		this.n = n;
		this.place = Tree.order(builder, by_name);
		this.parent = new Int32Array(n);
		this.frame = new Int32Array(n);
		this.depth = new Int32Array(n);
		this.end = new Int32Array(n);
		for (let i = 0; i < n; i++) {
			const at = this.place[i];

			this.parent[at] = i ? this.place[builder.parent[i]] : -1;
			this.frame[at] = builder.frame[i];
		}
		this.measure();
		this.total = new Float64Array(n);
		this.self = new Float64Array(n);
		this.x = new Float64Array(n);
	}

	// Frames are gone through by name, so each node's children come out sorted.
	static order({ n, parent, frame }, by_name) {
		const next = new Int32Array(n).fill(-1);
		const first = new Int32Array(by_name.length + 1).fill(-1);
		const child = new Int32Array(n).fill(-1),
			sibling = new Int32Array(n);
		const size = new Int32Array(n).fill(1),
			place = new Int32Array(n);

		for (let i = 1; i < n; i++) {
			next[i] = first[frame[i]];
			first[frame[i]] = i;
		}
		for (let r = by_name.length - 1; r >= 0; r--)
			for (let i = first[by_name[r]]; i >= 0; i = next[i]) {
				sibling[i] = child[parent[i]];
				child[parent[i]] = i;
			}
		// a parent's number is below its children's
		for (let i = n - 1; i > 0; i--) size[parent[i]] += size[i];
		for (let i = 0; i < n; i++) {
			let at = place[i] + 1;

			for (let c = child[i]; c >= 0; c = sibling[c]) {
				place[c] = at;
				at += size[c];
			}
		}
		return place;
	}

	measure() {
		const { n, parent, depth, end } = this;

		end.fill(1);
		for (let i = n - 1; i > 0; i--) end[parent[i]] += end[i];
		for (let i = 1; i < n; i++) {
			end[i] += i;
			depth[i] = depth[parent[i]] + 1;
		}
	}

	// From self: what is at and below each node, and where it begins.
	sum() {
		const { n, parent, total, self, x } = this,
			at = new Float64Array(n);

		total.set(self);
		for (let i = n - 1; i > 0; i--) total[parent[i]] += total[i];
		x[0] = 0;
		for (let i = 1; i < n; i++) {
			const p = parent[i];

			x[i] = at[i] = at[p];
			at[p] += total[i];
		}
		return this;
	}

	// Nodes for which is(frame) and that lie below no other such node.
	outermost(is) {
		const found = [];

		for (let i = 1; i < this.n;) {
			if (this.total[i] > 0 && is(this.frame[i])) {
				found.push(i);
				i = this.end[i];
			} else {
				i++;
			}
		}
		return found;
	}

	// The frames from the root to a node.
	path(node) {
		const frames = [];

		for (; node > 0; node = this.parent[node]) frames.push(this.frame[node]);
		return frames.reverse();
	}

	childOf(node, frame) {
		for (let c = node + 1; c < this.end[node]; c = this.end[c])
			if (this.frame[c] === frame && this.total[c] > 0) return c;
		return -1;
	}

	// As far as a path leads here.
	find(path) {
		let node = 0;

		for (const frame of path) {
			const next = this.childOf(node, frame);

			if (next < 0) break;
			node = next;
		}
		return node;
	}
}
