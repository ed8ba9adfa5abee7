// SPDX-License-Identifier: BSD-2-Clause
//
// What a page must say of made-up samples, worked out from the samples alone.
"use strict";

function parse(text) {
	const [name, module = "", kind = "native"] = text.split("|");

	return { name, module, kind };
}

const MARKS = ["asked", "waits", "other_thread", "gap", "cut"];

// choice: {view, keep: frame -> bool, pass: sample -> bool}; paths of frames
function paths(recording, choice) {
	const { view = "async", keep = () => true, pass = () => true } = choice;

	return recording.samples
		.filter(pass)
		.map((s) => ({
			weight: s.weight,
			sample: s,
			path: (view === "async" ? s.asked : s.on_thread)
				.map(parse)
				.filter(keep),
		}));
}

function total(recording, choice = {}) {
	return paths(recording, choice).reduce((sum, { weight }) => sum + weight, 0);
}

// { name|module: [itself, with callees] }
function functions(recording, choice = {}) {
	const sums = {};
	const add = (name, i, weight) => {
		(sums[name] ||= [0, 0])[i] += weight;
	};

	for (const { path, weight } of paths(recording, choice)) {
		const names = path
			.filter((f) => !MARKS.includes(f.kind))
			.map((f) => `${f.name}|${f.module.replace(/^.*\//, "")}`);

		new Set(names).forEach((name) => add(name, 1, weight));
		if (path.length && !MARKS.includes(path[path.length - 1].kind))
			add(names[names.length - 1], 0, weight);
	}
	return sums;
}

// The share of samples that hold a frame, or a group, which matches.
function matched(recording, regexp, choice = {}) {
	const all = paths(recording, choice);
	const hit = all.filter(
		({ path, sample }) =>
			regexp.test(sample.process) ||
			path.some((f) => regexp.test(f.name))
	);
	const sum = (list) => list.reduce((n, { weight }) => n + weight, 0);

	return (100 * sum(hit)) / sum(all);
}

// The middle of a cell as a share of the width: siblings lie by name.
function middle(recording, way, choice = {}) {
	let list = paths(recording, choice).map(({ path, weight, sample }) => ({
		weight,
		names: [sample.process, ...path.map((f) => f.name)],
	}));
	const all = list.reduce((n, { weight }) => n + weight, 0);
	let from = 0,
		width = all;

	way.forEach((name, depth) => {
		const before = list.filter(({ names }) => names[depth] < name);

		from += before.reduce((n, { weight }) => n + weight, 0);
		list = list.filter(({ names }) => names[depth] === name);
		width = list.reduce((n, { weight }) => n + weight, 0);
	});
	return (from + width / 2) / all;
}

function deepest(recording, choice = {}) {
	return Math.max(...paths(recording, choice).map(({ path }) => path.length));
}

module.exports = { total, functions, matched, middle, deepest, parse };
