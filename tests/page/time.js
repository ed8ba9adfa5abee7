// SPDX-License-Identifier: BSD-2-Clause
// The strip of time.
"use strict";
const data = require("./data.js");
const truth = require("./truth.js");

const service = data.service();
const within = (from, to) =>
	truth.total(service, { pass: (s) => s.second >= from && s.second <= to });

async function drag(screen, from, to) {
	const { x, y, width, height } = await screen.box("#strip");
	const at = (cell) => [x + ((cell + 0.5) / 8) * width, y + height / 2];

	await screen.browser.mouse("mousePressed", ...at(from));
	await screen.browser.mouse("mouseMoved", ...at((from + to) / 2));
	await screen.browser.mouse("mouseMoved", ...at(to));
	await screen.browser.mouse("mouseReleased", ...at(to));
}

async function dragged({ screen, is }) {
	for (const [from, to] of [
		[2, 4],
		[7, 5],
		[3, 3],
		[0, 7],
	]) {
		await screen.open("service");
		await drag(screen, from, to);
		const [low, high] = [Math.min(from, to), Math.max(from, to)];

		is.equal(
			await screen.total(),
			within(low, high),
			`seconds ${low} to ${high}`
		);
		await screen.press("v");
		is.equal(await screen.total(), within(low, high), "in the other view");
	}
	is.true(
		new Set([within(2, 4), within(5, 7), within(3, 3)]).size === 3,
		"the truth's seconds are alike"
	);
	await screen.get("document.getElementById('whole').click()");
	is.equal(await screen.total(), truth.total(service), "all of it");
}

async function typed({ screen, is }) {
	const type = (id, value) =>
		screen.get(`{ const e = document.getElementById("${id}");
		e.value = ${value}; e.dispatchEvent(new Event("change")); }`);

	await screen.open("service");
	await type("from", 5);
	is.equal(await screen.total(), within(5, 7), "from 5");
	await type("to", 6);
	is.equal(await screen.total(), within(5, 5), "from 5 to 6");
	await type("to", 2);
	is.equal(
		await screen.total(),
		truth.total(service),
		"a range that ends before it begins"
	);
}

async function keyed({ screen, is }) {
	await screen.open("service");
	await screen.get("document.getElementById('strip').focus()");
	await screen.press("ArrowRight", "ArrowRight", "Shift+ArrowRight");
	is.equal(await screen.total(), within(1, 2), "a step and a half");
	is.equal(await screen.get("location.hash"), "#time=1-2", "the address");
	await screen.press("Escape");
	is.equal(await screen.total(), truth.total(service), "after Escape");
}

// The colour of each second of each row.
const PAINTED_ROWS = (n_rows) => {
	const strip = document.getElementById("strip");
	const ctx = new OffscreenCanvas(strip.width, strip.height).getContext("2d", {
		willReadFrequently: true,
	});

	ctx.drawImage(strip, 0, 0);
	const row_px = strip.height / n_rows;
	// at the foot of a cell, where any weight is seen
	const colour = (second, row) =>
		ctx
			.getImageData(
				((second + 0.5) / 8) * strip.width,
				(row + 1) * row_px - 2.5 * devicePixelRatio,
				1,
				1
			)
			.data.join();
	const numbers = (n) => [...Array(n).keys()];

	return numbers(n_rows).map((row) => numbers(8).map((s) => colour(s, row)));
};

async function by_thread({ screen, is }) {
	const names = [
		"service (100)",
		"redis-server › bio_lazy_free (201)",
		"redis-server (200)",
	];
	const label = () =>
		screen.get(`document.getElementById("strip").getAttribute("aria-label")`);

	await screen.open("service");
	is.equal(await label(), "Time, all of it", "without rows");
	await screen.press("r");
	is.equal(await screen.get("location.hash"), "#rows=on", "the address");
	is.equal((await label()).split("; ").slice(1), names, "rows");
	const rows = await screen.get(PAINTED_ROWS, 3);
	const ran = (tid) =>
		[...Array(8).keys()].map((second) =>
			truth.total(service, {
				pass: (s) => s.tid === tid && s.second === second,
			})
				? "ran"
				: "not"
		);
	const [heat, wash] = [rows[0][7], rows[1][6]];
	const seen = (row) =>
		row.map((c) => (c === heat ? "ran" : c === wash ? "not" : c));

	is.true(heat !== wash, "a second without samples looks like one with");
	is.equal(rows.map(seen), [100, 201, 200].map(ran), "who ran when");
	await screen.shot("threads");
	await screen.choose("process", "redis-server (200)");
	is.equal((await label()).split("; ").length, 3, "rows of one process");
	await screen.press("r");
	is.equal(await label(), "Time, all of it", "after r again");
}

// More threads than rows: none is left out of the last.
async function many_threads({ screen, is }) {
	await screen.open("hostile", "#rows=on");
	const label = await screen.get(
		`document.getElementById("strip").getAttribute("aria-label")`
	);

	// of 11, eight rows
	is.true(/; 4 other threads$/.test(label), label);
}

async function undated({ screen, is }) {
	const kinds = data.kinds();

	await screen.open("kinds");
	is.equal(await screen.total(), truth.total(kinds), "with those of no time");
	is.true(
		(await screen.get(
			"document.getElementById('strip').offsetParent === null"
		)) === (await screen.get("document.getElementById('time').hidden")),
		"the strip"
	);
}

// 5,000 seconds are more cells than there may be; 5 seconds are the next step.
async function coarse({ screen, is }) {
	const long = data.long();
	const pass = (s) => s.second >= 1000 && s.second < 1500;
	const part = sorted(truth.functions(long, { pass }));
	const all = sorted(truth.functions(long));

	await screen.open("long");
	is.equal(await screen.get("document.getElementById('from').step"), "5", "a cell");
	const view = await screen.get("document.querySelector('#view :checked').value");

	is.equal(view, "thread", "the view that was asked for");
	is.true(/ has only one view\.$/.test(await screen.text("#meaning")), "one view");
	is.equal(sorted(await screen.functions()), all, "all of it");
	await screen.get(`{ location.hash = "#chart=table&time=200-299"; }`);
	await screen.until("!document.getElementById('whole').disabled", "no range");
	is.equal(sorted(await screen.functions()), part, "seconds 1000 to 1500");
}

function sorted(object) {
	return Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
}

module.exports = [
	["a long recording has cells of more than a second", coarse],
	["a range that is dragged chooses its samples", dragged],
	["a range that is typed does, too", typed],
	["a range by keys, and its link", keyed],
	["a row a thread: who ran when", by_thread],
	["a row for all threads that have none of their own", many_threads],
	["what has no time is in the whole", undated],
];
