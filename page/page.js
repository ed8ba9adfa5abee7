// SPDX-License-Identifier: BSD-2-Clause
//
// The page: what is looked at (state), the trees made for it, and who draws
// them. Everything goes one way: a control changes the state, the state goes into
// the address, and render() shows what the state says.

const SHADES = {
	light: ["", "rgb(255 255 255 / .14)", "rgb(0 0 0 / .035)"],
	dark: ["", "rgb(0 0 0 / .1)", "rgb(0 0 0 / .2)"],
};

// Of the strip: as many threads as leave most of a small window to the graph.
const rowsOfTime = () => (innerHeight > 700 ? 8 : 4);

class Page {
	constructor(recording) {
		this.recording = recording;
		this.first = firstState(recording);
		this.shapes = new Map();
		this.match = null;
		this.only = -1;
		this.rows = ROWS;
		this.done = {};
		this.upper = new Graph($("upper"), this.hostFor());
		this.lower = new Graph($("lower"), this.hostFor());
		this.strip = new Strip($("strip"), this);
	}

	hostFor() {
		const page = this;

		return {
			name: (frame) => page.shape.name(frame),
			style: (frame) => page.style(frame),
			isFaded: (frame) =>
				page.only >= 0 && page.colours.group(frame) !== page.only,
			rootName: () => "all",
			zoom: (node, graph) => page.zoomTo(node, graph),
			pick: (frame) => page.pick(frame),
			say: (node, graph) => say(page, node, graph),
			point: (node, event, graph) => {
				showTip(page, node, event, graph);
				if (node >= 0) showDetails(page, node, graph);
			},
			get colours() {
				return page.ink;
			},
		};
	}

	style(frame) {
		const r = this.recording,
			known = frame >= 0 && frame < r.n_frames;
		const kind = known ? r.kind[frame] : UNKNOWN;

		return {
			kind,
			fill: this.fills[this.colours.group(frame)],
			ink: isBoundary(kind) ? this.ink.boundary_ink : this.ink.cell_ink,
		};
	}

	// change: parts of the state; a step that Back takes back, unless told so.
	go(change, is_step = true) {
		const next = { ...this.state, ...change };
		const hash = stateToHash(next, this.first);

		if (hash !== stateToHash(this.state, this.first))
			history[is_step ? "pushState" : "replaceState"](
				null,
				"",
				hash === "#" ? location.pathname + location.search : hash
			);
		this.state = next;
		this.render();
	}

	readAddress() {
		this.state = stateFromHash(location.hash, this.first, this.recording);
		$("q").value = this.state.q;
		this.render();
	}

	shapeFor({ view, kernel, inline, group }) {
		const key = [view, kernel, inline, group].join();
		const shape =
			this.shapes.get(key) ||
			new Shape(this.recording, { view, kernel, inline, group });

		// the two used last are kept, as two views are gone between
		shape.id = key;
		this.shapes.delete(key);
		this.shapes.set(key, shape);
		if (this.shapes.size > 2)
			this.shapes.delete(this.shapes.keys().next().value);
		return shape;
	}

	// Weights are set only when what they depend on has changed.
	choose() {
		const { state } = this,
			{ process, thread, container, range } = state;
		const key = [process, thread, container, range].join();

		this.shape = this.shapeFor(state);
		if (this.filter !== [process, thread, container].join()) {
			this.filter = [process, thread, container].join();
			this.ok = this.recording.passing({ process, thread, container });
		}
		if (this.shape.weighed !== key) {
			this.shape.weighed = key;
			this.shape.weigh(this.ok, range);
			this.shape.sandwich = null;
		}
		if (!this.colours || this.colours.by !== state.colour) {
			this.colours = new Colours(this.recording, state.colour);
			this.only = -1;
		}
		this.fills = this.colours.fills(this.look);
		this.search();
	}

	search() {
		const { q } = this.state,
			{ shape, recording: r } = this;
		const key = q + "\n" + this.state.group;

		if (this.searched !== key) {
			this.searched = key;
			this.literal = false;
			this.match = null;
			if (q) {
				const { is, literal } = searchFor(q);
				const n = r.n_frames + shape.labels.names.length;

				this.literal = literal;
				this.match = new Uint8Array(n);
				const found = (f) =>
					is.test(shape.name(f)) ||
					(f < r.n_frames && is.test(r.whole[f]));

				for (let f = 0; f < n; f++)
					this.match[f] = found(f) ? 1 : 0;
			}
		}
		this.showMatched();
		document.documentElement.dataset.searched = q;
	}

	showMatched() {
		const {
			match,
			shape: { tree },
		} = this;

		$("matched").textContent = "";
		if (!match) return;
		const share = tree
			.outermost((f) => match[f])
			.reduce((sum, node) => sum + tree.total[node], 0);
		$("matched").textContent =
			percent(share, tree.total[0]) +
			" matched" +
			(this.literal ? " (as text)" : "");
	}

	render() {
		const { state } = this,
			before = performance.now();

		this.choose();
		showControls(this);
		const zoom = this.shape.tree.find(state.zoom);
		const empty = !this.shape.tree.total[0];
		this.once(
			"legend",
			[
				this.shape.id,
				this.shape.weighed,
				state.colour,
				this.look,
				this.only,
			],
			() => showLegend(this)
		);
		const most = state.rows ? rowsOfTime() : 0;
		this.once("rows", [this.shape.id, this.filter, zoom, most], () => {
			this.rows_of_time = this.timed(zoom, most);
		});
		showRows(this);
		this.strip.show(this.rows_of_time, state.range);
		showCrumbs(this, zoom);
		this.showStage(zoom, empty);
		showTip(this, -1);
		document.documentElement.dataset.drawn = (
			performance.now() - before
		).toFixed(1);
	}

	// What the strip shows: of all threads, or a row a thread.
	timed(zoom, most) {
		if (!most || !this.shape.tree.total[0])
			return this.shape.overTime(this.ok, zoom);
		return this.shape
			.threadsOverTime(this.ok, zoom, most)
			.map((row) => ({ ...row, name: rowWords(this, row) }));
	}

	// Does something anew only when what it depends on has changed.
	once(what, on, act) {
		const key = on.join();

		if (this.done[what] === key) return;
		this.done[what] = key;
		act();
	}

	showStage(zoom, empty) {
		const { chart } = this.state,
			fn = chart === "sandwich" ? this.chosen() : -1,
			graph = chart === "flame" || chart === "icicle";

		$("nothing").hidden = !empty && !(chart === "sandwich" && fn < 0);
		$("nothing").textContent = empty
			? emptyWords(this)
			: "There is no function to show the callers of.";
		$("upper").hidden =
			empty || chart === "table" || (chart === "sandwich" && fn < 0);
		$("lower").hidden = empty || chart !== "sandwich" || fn < 0;
		$("table").hidden = empty || chart !== "table";
		$("upper-title").textContent = $("lower-title").textContent = "";
		if (empty) return;
		this.upper.section.style.maxHeight = "";
		if (graph)
			this.showGraph(
				this.upper,
				this.shape.tree,
				zoom,
				chart === "flame"
			);
		else if (chart === "sandwich" && fn >= 0) this.showSandwich(fn);
		else if (chart === "table") showTable(this);
	}

	// The function whose callers are shown: the hottest, until one is picked.
	chosen() {
		const { shape, recording: r, state } = this;

		if (state.fn >= 0) return state.fn;
		if (shape.hottest_of !== shape.weighed) {
			const { self } = functions(shape.tree, r.n_frames);
			let best = -1;

			for (let f = 0; f < r.n_frames; f++)
				if (r.kind[f] < ASKED && self[f] > (self[best] || 0))
					best = f;
			shape.hottest = best;
			shape.hottest_of = shape.weighed;
		}
		return shape.hottest;
	}

	showGraph(graph, tree, zoom, up, inverted = false) {
		graph.canvas.setAttribute(
			"aria-label",
			(inverted ? "Callers" : "Calls") +
				", " +
				this.state.view +
				" view. Arrow keys move, Enter zooms."
		);
		graph.show(tree, zoom, {
			up,
			inverted,
			match: this.match,
			skip: this.state.chart === "sandwich" ? 1 : 0,
		});
	}

	showSandwich(fn) {
		const { shape } = this,
			order = Shape.order(this.recording, shape.labels);

		if (!shape.sandwich || shape.sandwich.fn !== fn)
			shape.sandwich = {
				fn,
				callers: callers(shape.tree, fn, order),
				callees: callees(shape.tree, fn, order),
			};
		const { callers: above, callees: below } = shape.sandwich;
		const words =
			" " +
			percent(above.total[0], shape.tree.total[0]) +
			", " +
			weightWords(above.total[0], this.recording.meta);

		$("upper-title").replaceChildren(
			el("span", {}, "Callers of " + shape.name(fn)),
			el("small", {}, words)
		);
		$("lower-title").replaceChildren("What it calls");
		this.limit(this.upper, above);
		this.limit(this.lower, below);
		this.showGraph(this.upper, above, this.inside(above), true, true);
		this.showGraph(this.lower, below, this.inside(below), false);
	}

	// No more room than its rows need, below its words: the other has the rest.
	limit(graph, tree) {
		let rows = 1;

		for (let i = 0; i < tree.n; i++)
			if (tree.total[i] > 0) rows = Math.max(rows, tree.depth[i]);
		graph.section.style.maxHeight = 25 + rows * ROW_MAX + "px";
	}

	// The function itself is the root that is shown.
	inside(tree) {
		const zoomed = this.zoomed && this.zoomed.get(tree);

		return zoomed || Math.min(1, tree.n - 1);
	}

	zoomTo(node, graph) {
		if (this.state.chart === "sandwich") {
			this.zoomed = (this.zoomed || new WeakMap()).set(
				graph.tree,
				node
			);
			this.showSandwich(this.chosen());
			return;
		}
		this.go({ zoom: graph.tree.path(node) });
		say(this, node, graph);
	}

	// Of a boundary: who asked.
	title(node, graph) {
		const { frame, parent } = graph.tree;
		const text = graph.text(frame[node]);

		const { kind } = this.style(frame[node]);

		if (!isBoundary(kind) || parent[node] < 1) return text;
		return graph.text(frame[parent[node]]) + text.replace(/^\S+/, "");
	}

	pick(frame) {
		const { n_frames, kind } = this.recording;

		if (frame >= 0 && frame < n_frames && kind[frame] < ASKED)
			this.go({ chart: "sandwich", fn: frame });
	}

	showOnly(group) {
		this.only = this.only === group ? -1 : group;
		this.render();
	}

	range(range) {
		this.go({ range });
	}

	// light, dark, or as the system says; colours that a canvas needs by value
	dress(choice) {
		const dark = matchMedia("(prefers-color-scheme: dark)").matches;
		const root = document.documentElement;

		this.look = choice === "auto" ? (dark ? "dark" : "light") : choice;
		this.theme = choice;
		root.dataset.theme = this.look;
		const style = getComputedStyle(root),
			get = (name) => style.getPropertyValue(name).trim();
		this.ink = {
			accent: get("--accent"),
			mark: get("--mark"),
			wash: get("--wash"),
			paper: get("--paper"),
			text: get("--ink"),
			dim: get("--dim"),
			dim_ink: get("--dim-ink"),
			heat: get("--accent"),
			cell_ink: get("--cell-ink"),
			boundary_ink: get("--boundary-ink"),
			mark_ink: this.look === "dark" ? "#2a0d1b" : "#ffffff",
			glow:
				this.look === "dark"
					? "rgb(255 255 255 / .16)"
					: "rgb(255 255 255 / .4)",
			shades: SHADES[this.look],
			hatch: this.look === "dark" ? "20 15 30" : "255 255 255",
		};
		$("theme").textContent = { auto: "Auto", light: "Light", dark: "Dark" }[
			choice
		];
		$("theme").title = "Light or dark (d)";
	}
}
