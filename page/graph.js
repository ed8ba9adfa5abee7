// SPDX-License-Identifier: BSD-2-Clause
//
// One tree on a canvas as large as what can be seen of it: cells narrower than a
// pixel are never visited one by one, so it draws as fast for a million nodes as
// for a thousand. Mouse and keys name nodes to whoever made it (the host):
//   host.name(frame), host.style(frame) -> {fill, ink, kind}, host.colours
//   host.zoom(node, graph), host.pick(frame), host.point(node | -1, event, graph)
//   host.say(node, graph)

const ROW_MIN = 20,
	ROW_MAX = 26,
	LEAST = 0.6,
	PAD = 7,
	LETTERS_MAX = 400;
const BOUNDARY_WORDS = {
	[ASKED]: ["⇢ asked for", "⇠ asked for by"],
	[WAITS]: ["⇢ waits for", "⇠ this thread waits for it"],
	[OTHER_THREAD]: ["⇢ another thread waits for", "⇠ another thread waits for it"],
	[RESUMED]: ["⇢ resumed", "⇠ resumed by"],
};

// The first n letters or one less: half of a surrogate pair is none.
function beginning(text, n) {
	const last = text.charCodeAt(n - 1);

	return text.slice(0, last >= 0xd800 && last < 0xdc00 ? n - 1 : n);
}

// What follows each :: that is not in brackets, with it, the longest first.
function endings(name) {
	const found = [];
	let depth = 0;

	for (let i = name.length - 1; i > 0; i--) {
		if (")>".includes(name[i])) depth++;
		if ("(<".includes(name[i])) depth--;
		if (depth <= 0 && name[i] === ":" && name[i - 1] === ":")
			found.unshift(name.slice(i - 1));
	}
	return found;
}

class Graph {
	constructor(section, host) {
		this.section = section;
		this.host = host;
		this.scroller = section.querySelector(".scroller");
		this.canvas = section.querySelector("canvas");
		this.spacer = section.querySelector(".spacer");
		this.beyond = [...section.querySelectorAll(".beyond")]; /* above, below */
		this.widths = new Map();
		this.zoom = this.focus = 0;
		this.hover = -1;
		this.listen();
	}

	listen() {
		const { canvas } = this;

		this.scroller.addEventListener("scroll", () => this.draw());
		this.beyond.forEach((button, below) =>
			button.addEventListener("click", () => {
				this.scroller.scrollTop = below ? this.height : 0;
			})
		);
		canvas.addEventListener("mousemove", (event) => this.point(event));
		canvas.addEventListener("mouseleave", () => this.point(null));
		canvas.addEventListener("click", (event) => {
			const node = this.at(event);

			if (node < 0) return;
			this.focus = node;
			if (event.shiftKey) this.host.pick(this.tree.frame[node]);
			else this.host.zoom(node, this);
		});
		canvas.addEventListener("keydown", (event) => this.key(event));
		canvas.addEventListener("focus", () => {
			this.draw();
			this.host.say(this.focus, this);
		});
		canvas.addEventListener("blur", () => this.draw());
	}

	// how: {up: is the root below, inverted: do callers lie further from the root,
	// skip: 1 where the root is no part of it, match: null or a byte a frame}
	show(tree, zoom, how) {
		const moved =
			tree !== this.tree || how.up !== this.up || zoom !== this.zoom;

		if (tree !== this.tree) this.hover = -1;
		if (moved) this.focus = zoom;
		Object.assign(this, { tree, zoom, ...how });
		this.fit(moved);
		this.draw();
	}

	// Rows that the zoomed node's part needs, and what of them can be seen.
	fit(moved) {
		const { tree, zoom } = this;
		let deepest = tree.depth[zoom];

		for (let i = zoom; i < tree.end[zoom]; i++)
			if (tree.total[i] > 0 && tree.depth[i] > deepest)
				deepest = tree.depth[i];
		this.rows = deepest + 1 - this.skip;
		this.resize();
		if (!moved) return;
		const first = zoom ? tree.depth[zoom] - this.skip - 3 : this.firstRow();

		this.scroller.scrollTop = this.up
			? this.height - this.seen - first * this.row
			: first * this.row;
	}

	// Of a whole tree that does not fit, the part is shown where the time goes: the
	// one nearest to the root in which half as much ends as in any part of that size.
	firstRow() {
		const { tree, rows } = this;
		const shown = Math.max(Math.floor(this.seen / this.row) - 2, 1);
		const ends = new Float64Array(rows + 1);
		const part = (from) => ends[Math.min(from + shown, rows)] - ends[from];
		let most = 0,
			first = 0;

		for (let i = 0; i < tree.n; i++)
			if (tree.self[i] > 0) ends[tree.depth[i] + 1] += tree.self[i];
		for (let row = 0; row < rows; row++) ends[row + 1] += ends[row];
		for (let row = 0; row < rows; row++) most = Math.max(most, part(row));
		while (2 * part(first) < most) first++;
		return first;
	}

	resize() {
		const room = this.scroller.clientHeight;

		this.row = Math.max(
			ROW_MIN,
			Math.min(ROW_MAX, Math.floor(room / this.rows))
		);
		this.height = this.rows * this.row;
		this.width = this.scroller.clientWidth;
		this.seen = this.full ? this.height : Math.min(this.height, room);
		this.canvas.style.marginTop =
			this.up && !this.full
				? Math.max(0, room - this.height) + "px"
				: "0";
		this.spacer.style.height = this.height - this.seen + "px";
		this.canvas.style.height = this.seen + "px";
		this.dots = Math.max(window.devicePixelRatio || 1, this.full ? 2 : 1);
		this.canvas.width = Math.round(this.width * this.dots);
		this.canvas.height = Math.round(this.seen * this.dots);
	}

	top(depth) {
		const at = depth - this.skip;

		return (
			(this.up ? this.height - (at + 1) * this.row : at * this.row) -
			(this.full ? 0 : this.scroller.scrollTop)
		);
	}

	scale() {
		return this.width / (this.tree.total[this.zoom] || 1);
	}

	draw() {
		if (!this.tree || !this.width) return;
		const ctx = (this.ctx = this.canvas.getContext("2d")),
			{ tree, zoom } = this;

		ctx.setTransform(this.dots, 0, 0, this.dots, 0, 0);
		ctx.clearRect(0, 0, this.width, this.seen);
		ctx.font = "12px " + getComputedStyle(document.body).fontFamily;
		ctx.textBaseline = "middle";
		for (let i = tree.parent[zoom]; i >= this.skip; i = tree.parent[i])
			this.cell(i, 0, this.width, true);
		this.drawBelow(zoom);
		this.drawFocus();
		this.tellBeyond();
	}

	// How many rows don't fit on either side; a click scrolls to their end.
	tellBeyond() {
		const { scrollTop } = this.scroller;
		const hidden = [scrollTop, this.height - this.seen - scrollTop];

		this.beyond.forEach((button, below) => {
			const rows = this.full
				? 0
				: Math.ceil(hidden[below] / this.row - 0.5);

			button.hidden = rows <= 0;
			button.textContent = beyondWords(rows, !below);
		});
	}

	// Siblings that are too narrow to see are one grey cell together.
	drawBelow(zoom) {
		const { tree, seen } = this,
			k = this.scale(),
			x0 = tree.x[zoom];
		const { end, total, x, depth } = tree,
			last = end[zoom];
		let from = -1,
			to = -1,
			row = -1;

		for (let i = zoom; i < last;) {
			const w = total[i] * k,
				y = this.top(depth[i]);
			const beyond = this.up ? y < -this.row : y > seen;

			if (w >= LEAST && !beyond) {
				if (y > -this.row && y < seen)
					this.cell(i, (x[i] - x0) * k, w, false);
				i++;
				continue;
			}
			if (w > 0 && !beyond) {
				const at = (x[i] - x0) * k;

				if (row === depth[i] && at - to < 0.01) {
					to = at + w;
				} else {
					this.crumbs(row, from, to);
					[row, from, to] = [depth[i], at, at + w];
				}
			}
			i = end[i];
		}
		this.crumbs(row, from, to);
	}

	crumbs(row, from, to) {
		if (to - from < LEAST) return;
		this.ctx.fillStyle = this.host.colours.dim;
		this.ctx.fillRect(from, this.top(row), to - from, this.row - 1);
	}

	cell(node, x, w, above) {
		const { ctx, tree } = this;
		const frame = tree.frame[node];
		const box = { x, y: this.top(tree.depth[node]), w: w > 3 ? w - 1 : w };
		const style = this.styleOf(frame);

		ctx.globalAlpha = above ? 0.55 : 1;
		this.fill(box, style.fill);
		if (style.shade) this.fill(box, style.shade);
		if (node === this.hover) this.fill(box, this.host.colours.glow);
		if (style.kind >= ASKED && style.kind !== LABEL && w > 4)
			this.hatch(box, isBoundary(style.kind) ? 0.2 : 0.35);
		ctx.globalAlpha = above ? 0.75 : 1;
		if (w > 26) this.label(frame, style, box);
		ctx.globalAlpha = 1;
	}

	// What was searched for stands out, and what was not, or is not in the legend's
	// chosen colour, steps back. Neighbours of one colour differ by a shade.
	styleOf(frame) {
		const { match, host } = this;
		const { colours } = host;
		const style = host.style(frame);

		if (match && frame >= 0 && match[frame])
			return { ...style, fill: colours.mark, ink: colours.mark_ink };
		if (match || host.isFaded(frame))
			return { ...style, fill: colours.dim, ink: colours.dim_ink };
		if (style.kind < ASKED && frame >= 0)
			style.shade = colours.shades[(frame * 7) % 3];
		return style;
	}

	fill({ x, y, w }, colour) {
		const { ctx } = this;

		ctx.fillStyle = colour;
		ctx.beginPath();
		if (w > 6) ctx.roundRect(x, y, w, this.row - 1, 2.5);
		else ctx.rect(x, y, w, this.row - 1);
		ctx.fill();
	}

	// So that what is no function is told without its colour, too.
	hatch({ x, y, w }, alpha) {
		const { ctx } = this;

		ctx.save();
		ctx.clip();
		ctx.strokeStyle = `rgb(${this.host.colours.hatch} / ${alpha})`;
		ctx.lineWidth = 1.5;
		ctx.beginPath();
		for (
			let at = x - this.row;
			at < Math.min(x + w, this.width) + this.row;
			at += 6
		) {
			ctx.moveTo(at, y + this.row);
			ctx.lineTo(at + this.row, y);
		}
		ctx.stroke();
		ctx.restore();
	}

	text(frame) {
		if (frame < 0) return this.host.rootName();
		const { kind } = this.host.style(frame);

		return isBoundary(kind)
			? BOUNDARY_WORDS[kind][this.inverted ? 1 : 0]
			: this.host.name(frame);
	}

	// As much of a name as there is room for.
	label(frame, style, { x, y, w }) {
		const { ctx } = this;
		const left = Math.max(x, 0) + PAD;
		const room = Math.min(x + w, this.width) - left - 3;
		const weight = isBoundary(style.kind) ? "600 " : "";

		if (room < 12) return;
		ctx.font = ctx.font.replace(/^(600 )?/, weight);
		ctx.fillStyle = style.ink;
		const text = this.cut(this.text(frame), room);

		ctx.fillText(text, left, y + this.row / 2);
	}

	// Of a name with parts, its end tells most: …::sync_wait.
	cut(text, room) {
		if (text.length <= LETTERS_MAX && this.measure(text) <= room) return text;
		const tails = endings(text.slice(-LETTERS_MAX));
		const tail = tails.find((end) => this.measure("…" + end) <= room);

		if (tail) return "…" + tail;
		return this.cutEnd(tails.length ? tails.at(-1).slice(2) : text, room);
	}

	cutEnd(text, room) {
		let low = 0;
		let high = Math.min(text.length, LETTERS_MAX);

		if (text.length <= high && this.measure(text) <= room) return text;
		while (low < high) {
			const middle = (low + high + 1) >> 1;
			const shown = beginning(text, middle) + "…";

			if (this.ctx.measureText(shown).width <= room) low = middle;
			else high = middle - 1;
		}
		return low < 4 ? "" : beginning(text, low) + "…";
	}

	measure(text) {
		if (!this.widths.has(text)) {
			if (this.widths.size > 20000) this.widths.clear();
			this.widths.set(text, this.ctx.measureText(text).width);
		}
		return this.widths.get(text);
	}

	drawFocus() {
		if (document.activeElement !== this.canvas) return;
		const [x, w] = this.extent(this.focus);

		this.ctx.strokeStyle = this.host.colours.accent;
		this.ctx.lineWidth = 2;
		this.ctx.strokeRect(
			x + 1,
			this.top(this.tree.depth[this.focus]) + 1,
			Math.max(w - 3, 2),
			this.row - 3
		);
	}

	isAbove(node) {
		return node <= this.zoom && this.zoom < this.tree.end[node];
	}

	extent(node) {
		const { tree, zoom } = this;

		if (this.isAbove(node)) return [0, this.width];
		return [
			(tree.x[node] - tree.x[zoom]) * this.scale(),
			tree.total[node] * this.scale(),
		];
	}

	// The node under a mouse event; -1: none.
	at(event) {
		const box = this.canvas.getBoundingClientRect(),
			{ tree } = this;
		const y = event.clientY - box.top + this.scroller.scrollTop;
		const row =
			Math.floor((this.up ? this.height - y : y) / this.row) +
			this.skip;
		const at = (event.clientX - box.left) / this.scale() + tree.x[this.zoom];
		let node = this.zoom;

		if (row < this.skip) return -1;
		while (tree.depth[node] > row) node = tree.parent[node];
		while (tree.depth[node] < row) {
			node = this.childAt(node, at);
			if (node < 0) return -1;
		}
		return node;
	}

	childAt(node, at) {
		const { tree } = this;

		for (let c = node + 1; c < tree.end[node]; c = tree.end[c])
			if (
				tree.total[c] > 0 &&
				at >= tree.x[c] &&
				at < tree.x[c] + tree.total[c]
			)
				return c;
		return -1;
	}

	point(event) {
		const node = event ? this.at(event) : -1;

		if (node !== this.hover) {
			this.hover = node;
			this.draw();
		}
		this.host.point(node, event, this);
	}

	heaviestChild(node) {
		const { tree } = this;
		let best = -1;

		for (let c = node + 1; c < tree.end[node]; c = tree.end[c])
			if (
				tree.total[c] > 0 &&
				(best < 0 || tree.total[c] > tree.total[best])
			)
				best = c;
		return best;
	}

	// The next cell of the row that has a weight, to the left or the right.
	beside(node, step) {
		const { tree } = this;

		for (let i = node + step; i > 0 && i < tree.n; i += step)
			if (tree.depth[i] === tree.depth[node] && tree.total[i] > 0)
				return i;
		return -1;
	}

	key(event) {
		const { tree, focus, up } = this,
			{ key } = event;
		let next = -1;

		if (event.ctrlKey || event.metaKey || event.altKey) return;
		if (key === "ArrowUp" || key === "ArrowDown")
			next =
				(key === "ArrowUp") === up
					? this.heaviestChild(focus)
					: tree.parent[focus];
		else if (key === "ArrowLeft" || key === "ArrowRight")
			next = this.beside(focus, key === "ArrowLeft" ? -1 : 1);
		else if (key === "Home") next = this.skip;
		else if (key === "Enter" || key === " ") this.host.zoom(focus, this);
		else if (key === "s") this.host.pick(tree.frame[focus]);
		else if (key === "Backspace")
			this.host.zoom(Math.max(tree.parent[this.zoom], this.skip), this);
		else return;
		event.preventDefault();
		event.stopPropagation();
		if (next >= this.skip) this.moveTo(next);
	}

	moveTo(node) {
		const { tree } = this;

		this.focus = node;
		if (
			!this.isAbove(node) &&
			!(node >= this.zoom && node < tree.end[this.zoom])
		) {
			this.host.zoom(this.skip, this);
			this.focus = node;
		}
		const y = this.top(tree.depth[node]);
		if (y < this.row) this.scroller.scrollTop -= 2 * this.row - y;
		if (y > this.seen - 2 * this.row)
			this.scroller.scrollTop += y - this.seen + 3 * this.row;
		this.draw();
		this.host.say(node, this);
	}
}
