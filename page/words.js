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

const VIEW_MEANINGS = {
	async: "Async view: who asked for the work.",
	thread: "Thread view: who is on the thread's stack.",
};

const MARK_MEANINGS = {
	[ASKED]:
		"An async boundary. Nearer to the root are the async callers: they " +
		"asked for the work, and need not be on the thread's stack any more. " +
		"Nearer to the leaf are frames of the thread that does it.",
	[WAITS]:
		"An async boundary. Nearer to the root are frames of this very thread, " +
		"which waits for the work; nearer to the leaf is what it waits for.",
	[OTHER_THREAD]:
		"An async boundary. Nearer to the root is another thread, which " +
		"waits for the work; nearer to the leaf is what it waits for.",
	[GAP]:
		"Code without frame pointers or tables hid some frames here. What is " +
		"on either side is true.",
	[CUT]: "The stack could not be followed to its start; the ledger says why.",
};

const LEDGER_MEANING =
	"Every tick of the sampler is accounted for. What was lost, cut or not proven " +
	"is counted and told.";

const LEDGER_GROUPS = [
	[
		"ticks",
		"Ticks",
		"How often the sampler woke up. Each tick is in one line below.",
	],
	["kept", "Kept", "Samples that this page is made of."],
	[
		"left_out",
		"Left out",
		"Nobody ran, or a filter did not want it. Nothing is lost.",
	],
	[
		"lost",
		"Lost",
		"Samples that should be here and are not. Few of them change " +
			"nothing; if many are lost, every share is in doubt.",
	],
	[
		"missed",
		"Never came",
		"The kernel skips a tick that would interrupt another " +
			"program of its kind: time that is in no sample, estimated.",
	],
	["ending", "How stacks ended", "A cut stack keeps its leaf and lacks callers."],
	[
		"chain",
		"How async chains ended",
		"A stack may have several. One that was cut lacks async callers.",
	],
	[
		"waiting",
		"How waiting threads' stacks ended",
		"Where a chain leads to a thread that waits for it.",
	],
	[
		"sample",
		"What is known of samples",
		"A step by frame pointer alone is not " +
			"proven: it is mostly right, and never counted as exact.",
	],
	["other", "Also counted", "What happened while this was recorded."],
];

const KEYS = [
	["/", "search"],
	["v", "the other view: async or thread"],
	["f, i, w, t", "flame, icicle, sandwich, functions"],
	["k, l", "kernel frames, inlined frames: on or off"],
	["arrows", "from cell to cell, when the graph has the focus"],
	["Enter", "zoom to the cell"],
	["Backspace", "one step out"],
	["s", "callers and callees of the cell's function (Shift and click)"],
	["Escape", "out of the zoom, then out of the search"],
	["d", "light, dark, or as the system has it"],
	["?", "this"],
];

const HELP = [
	[
		"Two views of the same samples",
		"The thread view shows who is on the thread's stack, as any profiler " +
			"does. In a program of coroutines or callbacks that ends at " +
			"the loop that runs them. The async view goes on with who " +
			"asked for the work. Switching changes no total.",
	],
	[
		"Async boundaries",
		"A hatched cell stands where thread frames meet async callers. " +
			"Read from the root to the leaf: these functions asked for " +
			"that work, or wait for it.",
	],
	[
		"Width",
		"How often a function was seen, not when: cells lie in the order of " +
			"their names. The strip above says when.",
	],
	[
		"A link",
		"The address says what you look at. Copy it, or use it with another " +
			"copy of this file; Back takes back a step.",
	],
];
