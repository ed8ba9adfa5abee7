// SPDX-License-Identifier: BSD-2-Clause
// Both views of the same samples, and what is shown of them.
"use strict";
const data = require("./data.js");
const truth = require("./truth.js");

const service = data.service();
const is_kept = {
	kernel: (f) => f.kind !== "kernel",
	inline: (f) => f.kind !== "inlined",
};

async function sameTotals({ screen, is }) {
	for (const name of ["service", "service-gen"]) {
		await screen.open(name);
		const async_total = await screen.total();

		is.equal(
			async_total,
			truth.total(service),
			name + ", the async view's total"
		);
		is.equal(
			await screen.get(
				"document.querySelector('#view :checked').value"
			),
			"async",
			"the view that is shown first"
		);
		await screen.press("v");
		is.equal(
			await screen.get(
				"document.querySelector('#view :checked').value"
			),
			"thread",
			"the view after v"
		);
		is.equal(
			await screen.total(),
			async_total,
			name + ", the thread view's total"
		);
	}
}

async function bothExact({ screen, is }) {
	await screen.open("service");
	for (const view of ["async", "thread"]) {
		await screen.click(`#view [value=${view}] + span`);
		is.equal(
			sorted(await screen.functions()),
			sorted(truth.functions(service, { view })),
			`functions, ${view} view`
		);
	}
	is.true(
		"run_loop|service" in truth.functions(service, { view: "thread" }) &&
			!(
				"run_loop|service" in
				truth.functions(service, { view: "async" })
			),
		"the views of the truth do not differ"
	);
}

function sorted(object) {
	return Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
}

async function hiding({ screen, is }) {
	await screen.open("service");
	for (const [box, keep] of Object.entries(is_kept)) {
		await screen.click(`#${box}`);
		is.equal(
			sorted(await screen.functions()),
			sorted(truth.functions(service, { view: "async", keep })),
			`functions without ${box}`
		);
		is.equal(
			await screen.total(),
			truth.total(service),
			`total without ${box}`
		);
		await screen.click(`#${box}`);
	}
	await screen.press("k", "l");
	is.equal(
		sorted(await screen.functions()),
		sorted(
			truth.functions(service, {
				keep: (f) => is_kept.kernel(f) && is_kept.inline(f),
			})
		),
		"by keys, both"
	);
}

async function boundaries({ screen, is }) {
	const wanted = {
		asks: /asked for.*async callers, which asked for/,
		waits: /waits for.*frames of this same thread/,
		others: /another thread waits for.*another thread, which/,
		cut: /\[cut\].*could not walk the stack/,
		gap: /\[missing frames\].*hid some frames/,
		resumes: /resumed.*function that resumed a fiber/,
	};
	const names = Object.keys(wanted).sort();

	await screen.open("kinds", "#chart=icicle");
	await screen.get("document.querySelector('#upper canvas').focus()");
	await screen.press("ArrowDown");
	while (!(await screen.said()).startsWith(names[0]))
		await screen.press("ArrowLeft");
	for (const name of names) {
		is.true(
			(await screen.said()).startsWith(name),
			"at " + (await screen.said())
		);
		await screen.press("ArrowDown", "ArrowDown");
		is.true(
			wanted[name].test(await screen.said()),
			`${name} says: ${await screen.said()}`
		);
		await screen.press("ArrowUp", "ArrowUp", "ArrowRight");
	}
	for (const kind of ["async", "fiber"])
		is.true(
			(await screen.text("#legend")).includes(kind + " boundary"),
			"not in the legend: " + kind
		);
}

async function grouping({ screen, is }) {
	await screen.open("service", "#chart=icicle");
	for (const [words, names] of [
		["by process", ["redis-server", "service"]],
		["by thread", ["bio_lazy_free", "redis-server", "service"]],
		["by container", ["no container", "web.service"]],
	]) {
		await screen.choose("group", words);
		await screen.get("document.querySelector('#upper canvas').focus()");
		await screen.press("Home", "ArrowDown");
		const found = new Set();

		for (let i = 0; i < 3; i++) {
			found.add((await screen.said()).replace(/, .*/, ""));
			await screen.press("ArrowRight");
		}
		for (let i = 0; i < 3; i++) {
			await screen.press("ArrowLeft");
			found.add((await screen.said()).replace(/, .*/, ""));
		}
		is.equal([...found].sort(), names, words);
	}
}

async function filters({ screen, is }) {
	const cases = [
		["process", "service (100)", (s) => s.pid === 100],
		["thread", "bio_lazy_free (201)", (s) => s.tid === 201],
		["container", "web.service", (s) => s.container === "web.service"],
	];

	for (const [id, words, pass] of cases) {
		await screen.open("service");
		await screen.choose(id, words);
		is.equal(await screen.total(), truth.total(service, { pass }), words);
		is.equal(
			sorted(await screen.functions()),
			sorted(truth.functions(service, { pass })),
			`functions of ${words}`
		);
	}
	await screen.open("service");
	await screen.choose("process", "redis-server (200)");
	is.equal(
		await screen.get("[...document.getElementById('thread').options].length"),
		3,
		"threads to choose from, with all"
	);
}

async function sandwich({ screen, is }) {
	const [self, all] = truth.functions(service)["deflate|libz.so.1"];
	const share = (100 * all) / truth.total(service);

	await screen.open("service");
	const rows = await screen.functions();

	is.equal(rows["deflate|libz.so.1"], [self, all], "in the table");
	await screen.get(`[...document.querySelectorAll("#table .name button")]
		.find((b) => b.textContent === "deflate").click()`);
	is.equal(
		await screen.text("#upper-title"),
		`Callers of deflate ${share.toFixed(1)} %, ${all} samples`,
		"its words"
	);
	await screen.get("document.querySelector('#upper canvas').focus()");
	await screen.press("ArrowUp");
	is.true(
		(await screen.said()).startsWith("handle_pack, 100.0 %"),
		"its caller: " + (await screen.said())
	);
	await screen.press("ArrowUp");
	is.true(
		(await screen.said()).startsWith("⇠ asked for by"),
		"its asker: " + (await screen.said())
	);
	await screen.get("document.querySelector('#lower canvas').focus()");
	await screen.press("ArrowDown");
	is.true(
		/^longest_match, 6\d\.\d %/.test(await screen.said()),
		"what it calls: " + (await screen.said())
	);
	const unused = await screen.get(`document.querySelector("#lower .scroller")
		.clientHeight - document.querySelector("#lower canvas").clientHeight`);
	is.true(unused <= 2, `${unused} pixels below what it calls are empty`);
	await screen.shot("sandwich");
}

// Before a function is picked: the one that most samples fell in.
async function hottest({ screen, is }) {
	const all = truth.functions(service);
	const [name] = Object.entries(all).reduce((a, b) => (b[1][0] > a[1][0] ? b : a));

	await screen.open("service");
	await screen.press("w");
	is.true(
		(await screen.text("#upper-title")).startsWith(
			`Callers of ${name.split("|")[0]} `
		),
		`${await screen.text("#upper-title")}, not ${name}`
	);
}

async function ledger({ screen, is }) {
	await screen.open("service");
	await screen.click("#ledger-open");
	is.true(
		await screen.get("document.getElementById('ledger').open"),
		"it is not open"
	);
	const rows = await screen.get(`[...document.querySelectorAll("#ledger tr")]
		.map((row) => [...row.cells].map((cell) => cell.textContent))`);

	is.equal(
		rows.sort(),
		service.ledger
			.filter(([, , , count]) => count)
			.map(([, , text, count]) => [text, count.toLocaleString("en-GB")])
			.sort(),
		"its lines"
	);
	is.equal(await screen.text("#ledger-open"), "0.8 % lost", "what the button says");
	await screen.shot("ledger");
	await screen.press("Escape");
	is.true(
		!(await screen.get("document.getElementById('ledger').open")),
		"it stays open"
	);
}

async function empty({ screen, is }) {
	await screen.open("empty");
	is.true(
		/^The profile is empty: nothing ran/.test(await screen.text("#nothing")),
		await screen.text("#nothing")
	);
	await screen.open("service", "#time=2-3&thread=0&process=1");
	is.true(
		/^No sample matches this choice/.test(await screen.text("#nothing")),
		await screen.text("#nothing")
	);
}

module.exports = [
	["both views have the same total, as both writers wrote it", sameTotals],
	["every function's weight is exact, in both views", bothExact],
	["kernel and inlined frames can be hidden, and lose no weight", hiding],
	["each kind of boundary says what it is", boundaries],
	["cells are grouped by process, thread and container", grouping],
	["process, thread and container choose samples", filters],
	["callers and callees of one function", sandwich],
	["sandwich opens on the hottest function", hottest],
	["the ledger has every count", ledger],
	["an empty page says why", empty],
];
