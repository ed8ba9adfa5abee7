// SPDX-License-Identifier: BSD-2-Clause
//
// What is looked at, and its place in the address behind "#". Whatever stands
// there is brought into range: a link may come from anywhere.

const CHOICES = {
	view: ["async", "thread"],
	chart: ["flame", "icicle", "sandwich", "table"],
	colour: ["module", "kind", "package"],
	group: ["process", "thread", "container", "none"],
};
const PATH_MAX = 2048,
	SEARCH_MAX = 1000;

function firstState(recording) {
	const { processes, threads, meta } = recording;
	const many = new Set(threads.map((t) => processes[t.process].name)).size > 1;

	return {
		view: meta.view === "thread" ? "thread" : "async",
		chart: "flame",
		kernel: true,
		inline: true,
		rows: false,
		colour: "module",
		group: many ? "process" : "none",
		q: "",
		range: null,
		process: -1,
		thread: -1,
		container: -1,
		zoom: [],
		fn: -1,
		sort: "self",
	};
}

function stateToHash(state, first) {
	const words = [];
	const put = (key, value) => words.push(key + "=" + encodeURIComponent(value));

	for (const key of [
		...Object.keys(CHOICES),
		"process",
		"thread",
		"container",
		"fn",
		"q",
		"sort",
	])
		if (state[key] !== first[key]) put(key, state[key]);
	for (const key of ["kernel", "inline"]) if (!state[key]) put(key, "off");
	if (state.rows) put("rows", "on");
	if (state.range) put("time", state.range.join("-"));
	if (state.zoom.length)
		put("zoom", state.zoom.map((frame) => frame.toString(36)).join("."));
	return "#" + words.join("&");
}

function number(text, least, most, otherwise) {
	const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;

	return value >= least && value <= most ? value : otherwise;
}

function rangeFrom(text, n_cells) {
	const [from, to] = text
		.split("-")
		.map((part) => number(part, 0, n_cells - 1, -1));

	return from >= 0 && to >= from ? [from, to] : null;
}

function decoded(text) {
	try {
		return decodeURIComponent(text);
	} catch (error) {
		return "";
	}
}

function stateFromHash(hash, first, recording) {
	const state = { ...first },
		{ processes, threads, containers, n_frames } = recording;
	const limits = {
		process: processes.length,
		thread: threads.length,
		container: containers.length,
		fn: n_frames,
	};

	for (const word of hash.replace(/^#/, "").split("&")) {
		const cut = word.indexOf("="),
			key = word.slice(0, cut);
		const value = decoded(word.slice(cut + 1));

		if (Object.hasOwn(CHOICES, key) && CHOICES[key].includes(value))
			state[key] = value;
		else if (Object.hasOwn(limits, key))
			state[key] = number(value, 0, limits[key] - 1, -1);
		else if (key === "kernel" || key === "inline")
			state[key] = value !== "off";
		else if (key === "rows") state.rows = value === "on";
		else if (key === "q") state.q = value.slice(0, SEARCH_MAX);
		else if (key === "sort")
			state.sort = value === "total" ? "total" : "self";
		else if (key === "time")
			state.range = rangeFrom(value, recording.n_cells);
		else if (key === "zoom")
			state.zoom = value
				.split(".")
				.slice(0, PATH_MAX)
				.map((part) => parseInt(part, 36))
				.filter(Number.isFinite);
	}
	return state;
}

// A search that is no regular expression is looked for as it stands. Capitals
// in it make it tell them apart.
function searchFor(q) {
	const flags = /[A-Z]/.test(q) ? "u" : "iu";

	try {
		return { is: new RegExp(q, flags), literal: false };
	} catch (error) {
		const bare = q
			.replace(/[\\^$.*+?()[\]{}|\/-]/g, "\\$&")
			.replace(/\\-/g, "\\x2d");

		return { is: new RegExp(bare, flags), literal: true };
	}
}
