// SPDX-License-Identifier: BSD-2-Clause
//
// What the page says in words, and the few helpers to say it with. Elements are
// made one by one and text is only ever text: no markup is parsed, whatever a
// program calls its functions.

const $ = (id) => document.getElementById(id);

function el(tag, attributes, ...children) {
	const element = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes || {})) {
		if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
		else element.setAttribute(name, value);
	}
	element.append(
		...children.map((child) =>
			child instanceof Node
				? child
				: document.createTextNode(String(child))
		)
	);
	return element;
}

function button(text, onclick) {
	return el("button", { onclick }, text);
}

const GROUPED = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });

function percent(part, whole) {
	const share = whole > 0 ? (100 * part) / whole : 0;

	return (share && share < 0.05 ? "< 0.1" : share.toFixed(1)) + " %";
}

function seconds(value) {
	return value >= 600
		? (value / 60).toFixed(0) + " min"
		: value >= 10 || Number.isInteger(value)
			? value.toFixed(0) + " s"
			: value >= 1
				? value.toFixed(1) + " s"
				: (value * 1000).toFixed(0) + " ms";
}

const TO_SECONDS = {
	nanoseconds: 1e-9,
	microseconds: 1e-6,
	milliseconds: 1e-3,
	seconds: 1,
};

// A weight as it is counted, and as time where that is known.
function weightWords(weight, meta) {
	if (Object.hasOwn(TO_SECONDS, meta.unit))
		return seconds(weight * TO_SECONDS[meta.unit]);
	const words =
		GROUPED.format(weight) +
		" " +
		(weight === 1 ? meta.value.replace(/s$/, "") : meta.value);

	return meta.period_ns
		? words + " · " + seconds((weight * meta.period_ns) / 1e9)
		: words;
}

function beyondWords(rows, up) {
	return (up ? "▲ " : "▼ ") + rows + (rows === 1 ? " more row" : " more rows");
}

const LEGEND_MEANING =
	"Show only these. The share is what their own code took, without what it calls.";

const VIEW_MEANINGS = {
	async: "Async view: who asked for the work.",
	thread: "Thread view: who is on the thread's stack.",
};

const MARK_MEANINGS = {
	[ASKED]:
		"An async boundary. Towards the root are the async callers, which " +
		"asked for the work and may have left the thread's stack. Towards " +
		"the leaf are the frames of the thread that does the work.",
	[WAITS]:
		"An async boundary. Towards the root are frames of this same thread, " +
		"which waits for the work. Towards the leaf is what it waits for.",
	[OTHER_THREAD]:
		"An async boundary. Towards the root is another thread, which waits " +
		"for the work. Towards the leaf is what it waits for.",
	[RESUMED]:
		"A fiber boundary. Towards the root is the function that resumed a " +
		"fiber. Towards the leaf is the fiber, on a stack of its own.",
	[GAP]:
		"Code without frame pointers or unwind tables hid some frames here. " +
		"The frames on both sides are correct.",
	[CUT]: "weft could not walk the stack to its start; the ledger says why.",
};

const LEDGER_MEANING =
	"The ledger accounts for every tick of the sampler. It counts all samples that " +
	"were lost, cut or not proven.";

const LEDGER_GROUPS = [
	[
		"ticks",
		"Ticks",
		"How often the sampler woke up. Each tick is counted in one line below.",
	],
	["kept", "Kept", "The samples that this page shows."],
	[
		"left_out",
		"Not sampled",
		"The CPU was idle, or a filter excluded the tick. Nothing is lost.",
	],
	[
		"lost",
		"Lost",
		"Samples that should be here but are not. A few lost samples change " +
			"nothing; if many are lost, all shares are unreliable.",
	],
	[
		"missed",
		"Never delivered",
		"The kernel skips a tick that would interrupt another BPF program. " +
			"This time, an estimate, is in no sample.",
	],
	[
		"ending",
		"How stacks ended",
		"A cut stack keeps its leaf but lacks some callers.",
	],
	[
		"chain",
		"How async chains ended",
		"A stack may have several chains. A cut chain lacks async callers.",
	],
	[
		"waiting",
		"How waiting threads' stacks ended",
		"Stacks of threads that wait for a chain.",
	],
	[
		"sample",
		"Properties of samples",
		"A step by frame pointer only is not proven: it is usually right, but " +
			"never counted as exact.",
	],
	[
		"names",
		"Names",
		"Where the names of functions come from, in the thread view. A " +
			"function that has no symbol is called after where it starts.",
	],
	["other", "Also counted", "Other events during the recording."],
];

const KEYS = [
	["/", "search"],
	["v", "switch between async and thread view"],
	["f, i, w, t", "flame, icicle, sandwich, functions"],
	["k, l", "kernel frames, inlined frames: on or off"],
	["r", "the strip of time: one row, or a row a thread"],
	["arrows", "move from cell to cell (when the graph has the focus)"],
	["Enter", "zoom into the cell"],
	["Backspace", "zoom out one step"],
	["s", "callers and callees of the cell's function (or Shift and click)"],
	["Escape", "leave the zoom, then the search"],
	["d", "light, dark, or the system's theme"],
	["?", "this help"],
];

const HELP = [
	[
		"Two views of the same samples",
		"The thread view shows who is on the thread's stack, as any profiler " +
			"does. In a program of coroutines or callbacks, that stack " +
			"ends at the loop that runs them. The async view continues " +
			"with the functions that asked for the work. Switching " +
			"changes no total.",
	],
	[
		"Async boundaries",
		"A hatched cell separates thread frames from async callers. Read it " +
			"from the root to the leaf: these functions asked for that " +
			"work, or wait for it.",
	],
	[
		"Fiber boundaries",
		"A hatched cell also separates a fiber from the function that " +
			"resumed it, if the fiber's stack says which.",
	],
	[
		"Width",
		"The width of a cell says how often its function was sampled, not " +
			"when: cells are sorted by name. The strip above says when.",
	],
	[
		"A link",
		"The address says what you look at. Copy it, or use it with another " +
			"copy of this file. The Back button undoes one step.",
	],
];
