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
	["what has no time is in the whole", undated],
];
