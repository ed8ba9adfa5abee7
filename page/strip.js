// SPDX-License-Identifier: BSD-2-Clause
//
// The strip of time: a cell a second (or more, where a recording is long), filled as
// high as the share of the most that was sampled in one; on request a row a thread.
// Dragging, or keys, choose a range; host.range is told [first cell, last cell], or null
// for all of it.

const ROW_PX = 18;

class Strip {
	constructor(canvas, host) {
		this.canvas = canvas;
		this.host = host;
		this.range = null;
		canvas.addEventListener("pointerdown", (event) => this.begin(event));
		canvas.addEventListener("pointermove", (event) => this.drag(event));
		canvas.addEventListener("pointerup", (event) => this.finish(event));
		canvas.addEventListener("keydown", (event) => this.key(event));
	}

	// rows: [{name, cells}]; one without a name is as high as the strip is.
	show(rows, range) {
		const high = rows[0].name ? ROW_PX * rows.length + "px" : "";

		this.rows = rows;
		this.n = rows[0].cells.length;
		this.range = range;
		this.canvas.style.height = high;
		this.draw();
	}

	cellAt(event) {
		const box = this.canvas.getBoundingClientRect();
		const at = Math.floor(
			((event.clientX - box.left) / box.width) * this.n
		);

		return Math.min(Math.max(at, 0), this.n - 1);
	}

	begin(event) {
		this.canvas.setPointerCapture(event.pointerId);
		this.start = this.cellAt(event);
		this.range = [this.start, this.start];
		this.draw();
	}

	drag(event) {
		if (this.start === undefined) return;
		const at = this.cellAt(event);

		this.range = [Math.min(at, this.start), Math.max(at, this.start)];
		this.draw();
	}

	finish(event) {
		if (this.start === undefined) return;
		this.drag(event);
		this.start = undefined;
		this.host.range(this.range);
	}

	key(event) {
		const last = this.n - 1,
			step = { ArrowLeft: -1, ArrowRight: 1 };
		let [from, to] = this.range || [0, last];

		if (event.key === "Escape") {
			this.host.range(null);
		} else if (event.key in step) {
			const by = step[event.key];

			if (!this.range) [from, to] = by > 0 ? [0, 0] : [last, last];
			else if (event.shiftKey)
				to = Math.min(Math.max(to + by, from), last);
			else if (from + by >= 0 && to + by <= last)
				[from, to] = [from + by, to + by];
			this.host.range([from, to]);
		} else {
			return;
		}
		event.preventDefault();
		event.stopPropagation();
	}

	draw() {
		const { canvas, rows, range } = this,
			dots = window.devicePixelRatio || 1;
		const width = canvas.clientWidth,
			height = canvas.clientHeight;
		const most = Math.max(
			...rows.map(({ cells }) => Math.max(...maxima(cells, 4096))),
			1e-9
		);
		const ctx = canvas.getContext("2d"),
			high = height / rows.length;

		canvas.width = width * dots;
		canvas.height = height * dots;
		ctx.scale(dots, dots);
		rows.forEach((row, i) =>
			this.row(ctx, row, { y: i * high, width, high, most })
		);
		if (range) {
			const w = width / this.n;

			this.frame(ctx, range[0] * w, (range[1] + 1) * w, height);
		}
	}

	row(ctx, { name, cells }, { y, width, high, most }) {
		const { range } = this,
			w = width / this.n,
			gap = name ? 1 : 0;

		cells.forEach((weight, i) => {
			const inside = !range || (i >= range[0] && i <= range[1]);

			this.cell(ctx, [i * w, y, w, high - gap], weight / most, inside);
		});
		if (!name) return;
		ctx.font = "11px " + getComputedStyle(document.body).fontFamily;
		ctx.textBaseline = "middle";
		ctx.lineJoin = "round";
		ctx.lineWidth = 2;
		ctx.strokeStyle = this.host.ink.paper;
		ctx.fillStyle = this.host.ink.text;
		ctx.strokeText(name, 6, y + high / 2);
		ctx.fillText(name, 6, y + high / 2);
	}

	// However little was sampled, it is seen.
	cell(ctx, [x, y, w, height], heat, inside) {
		const { ink } = this.host;
		const wide = Math.max(w - (w > 4 ? 1 : 0), 0.7);
		const high = heat ? Math.max(heat * height, 2) : 0;

		ctx.fillStyle = ink.wash;
		ctx.fillRect(x, y, wide, height);
		ctx.fillStyle = ink.heat;
		ctx.globalAlpha = inside ? 0.55 : 0.2;
		ctx.fillRect(x, y + height - high, wide, high);
		ctx.globalAlpha = inside ? 1 : 0.3;
		ctx.fillRect(x, y + height - high, wide, Math.min(high, 2));
		ctx.globalAlpha = 1;
	}

	frame(ctx, from, to, height) {
		ctx.strokeStyle = this.host.ink.mark;
		ctx.lineWidth = 2;
		ctx.strokeRect(from + 1, 1, Math.max(to - from - 2, 2), height - 2);
	}
}

// A call with more arguments than that overflows the stack.
function maxima(cells, most) {
	const found = [];

	for (let i = 0; i < cells.length; i += most)
		found.push(Math.max(...cells.slice(i, i + most)));
	return found;
}
