// SPDX-License-Identifier: BSD-2-Clause
// Zoom, search, links, keys.
"use strict";
const data = require("./data.js");
const truth = require("./truth.js");

const service = data.service();
const WAY = [
	"service",
	"server_listen",
	"on_acceptable",
	"on_readable",
	"--",
	"handle_pack",
];
const SHOWN = ["all", ...WAY.map((name) => (name === "--" ? "⇢ asked for" : name))];
const ROWS = truth.deepest(service) + 2; // and the root, and the processes

async function clickWay(screen, way, up = true) {
	const at = await screen.cell(
		way.length,
		ROWS,
		truth.middle(service, way),
		"#upper",
		up
	);

	await screen.browser.click(...at);
}

async function zoom({ screen, is }) {
	for (const chart of ["flame", "icicle"]) {
		await screen.open("service", "#chart=" + chart);
		await clickWay(screen, WAY, chart === "flame");
		is.equal(await screen.crumbs(), SHOWN, "crumbs in the " + chart);
		is.true(
			/^handle_pack\D+36\.\d %/.test(await screen.text("#details")) ||
				/^handle_pack/.test(await screen.text("#details")),
			"details"
		);
		await screen.get(
			"document.querySelectorAll('#crumbs button')[2].click()"
		);
		is.equal(await screen.crumbs(), SHOWN.slice(0, 3), "after a crumb");
		await screen.press("Escape");
		is.equal(await screen.crumbs(), ["all"], "after Escape");
	}
}

async function back({ screen, is }) {
	await screen.open("service");
	await clickWay(screen, WAY.slice(0, 3));
	await screen.press("v");
	is.equal(
		await screen.crumbs(),
		["all", "service"],
		"what both views have of the way"
	);
	await screen.get("history.back()");
	await screen.until(
		"document.querySelectorAll('#crumbs li').length === 4",
		"no way back"
	);
	is.equal(await screen.crumbs(), SHOWN.slice(0, 4), "after Back");
	await screen.get("history.back()");
	await screen.until(
		"document.querySelectorAll('#crumbs li').length === 1",
		"no start"
	);
	is.equal(await screen.get("location.hash"), "", "the address at the start");
}

async function link({ screen, is }) {
	await screen.open("service");
	await clickWay(screen, WAY);
	await screen.press("k");
	await screen.search("deflate|crc");
	await screen.choose("colour", "by kind");
	const hash = await screen.get("location.hash"),
		matched = await screen.text("#matched");

	await screen.open("service", hash);
	is.equal(await screen.crumbs(), SHOWN, "crumbs of the link");
	is.equal(await screen.text("#matched"), matched, "its search");
	is.true(
		!(await screen.get("document.getElementById('kernel').checked")),
		"kernel frames"
	);
	is.equal(
		await screen.get("document.getElementById('colour').value"),
		"kind",
		"colours"
	);
}

async function search({ screen, is }) {
	await screen.open("service");
	for (const [text, regexp] of [
		["hash_round", /hash_round/],
		["^handle_(get|pack)$", /^handle_(get|pack)$/],
		["SYSCALL", /SYSCALL/],
		["DEFLATE", /^$/],
		["deflate", /deflate/],
		["main", /main/],
		["redis", /redis/i],
	]) {
		const share = truth.matched(service, regexp);

		is.equal(
			await screen.search(text),
			`${share.toFixed(1)} % matched`,
			text
		);
	}
	is.equal(
		await screen.search("longest_match("),
		"0.0 % matched (as text)",
		"no regexp"
	);
	await screen.press("/", "Escape");
	is.equal(await screen.text("#matched"), "", "after Escape");
	is.equal(
		await screen.get("document.activeElement.id"),
		"",
		"Escape leaves the search"
	);
	await screen.search("crc32");
	await screen.shot("search");
}

// Which element has the focus, and can that be seen?
function focused() {
	const e = document.activeElement;
	const seen = getComputedStyle(e.type === "radio" ? e.nextElementSibling : e);
	const name = e.id || e.name || e.className || e.textContent;

	return [
		e === document.body ? "BODY" : name,
		seen.outlineStyle !== "none" && parseFloat(seen.outlineWidth) >= 1,
	];
}

async function keys({ screen, is }) {
	const seen = new Set(),
		hidden = [];

	await screen.open("service");
	for (let i = 0; i < 60; i++) {
		await screen.press("Tab");
		const [name, shown] = await screen.get(focused);

		if (name === "BODY") break;
		seen.add(name);
		if (!shown) hidden.push(name);
	}
	is.equal(hidden, [], "focus cannot be seen");
	for (const name of [
		"ledger-open",
		"theme",
		"help-open",
		"view",
		"chart",
		"kernel",
		"inline",
		"q",
		"colour",
		"group",
		"process",
		"thread",
		"strip",
		"from",
		"to",
	])
		is.true(seen.has(name), `Tab never came to ${name}: ${[...seen]}`);
}

async function walking({ screen, is }) {
	await screen.open("service");
	await screen.get("document.querySelector('#upper canvas').focus()");
	is.true((await screen.said()).startsWith("all, 100.0 %"), await screen.said());
	await screen.press("ArrowUp");
	is.true((await screen.said()).startsWith("service, "), "the heaviest child");
	await screen.press("ArrowLeft");
	is.true((await screen.said()).startsWith("redis-server, "), "its neighbour");
	await screen.press("ArrowUp", "ArrowUp", "Enter");
	is.equal(
		await screen.crumbs(),
		["all", "redis-server", "_start", "main"],
		"Enter"
	);
	await screen.press("Backspace");
	is.equal(await screen.crumbs(), ["all", "redis-server", "_start"], "Backspace");
	await screen.press("s");
	is.true(
		(await screen.text("#upper-title")).startsWith("Callers of _start"),
		"s: " + (await screen.text("#upper-title"))
	);
	await screen.press("t", "f");
	is.equal(
		await screen.get("document.querySelector('#chart :checked').value"),
		"flame",
		"f"
	);
	await screen.press("?");
	is.true(await screen.get("document.getElementById('help').open"), "no help");
	await screen.shot("help");
}

async function labels({ screen, is }) {
	await screen.open("service");
	const nameless = await screen.get(() => {
		const all = "button, input, select, canvas, dialog, nav, fieldset";
		const is_named = (e) =>
			e.getAttribute("aria-label") ||
			e.getAttribute("aria-labelledby") ||
			e.textContent.trim() ||
			(e.labels && e.labels.length) ||
			e.closest("[hidden]");

		return [...document.querySelectorAll(all)]
			.filter((e) => !is_named(e))
			.map((e) => e.outerHTML);
	});

	is.equal(nameless, [], "no name for who can't see");
	is.equal(await screen.get("document.documentElement.lang"), "en", "language");
}

module.exports = [
	["a click zooms to the cell under it, up and down", zoom],
	["Back takes back a step", back],
	["a link shows what was looked at", link],
	["search tells the share that matched", search],
	["Tab comes to every control and shows where it is", keys],
	["arrow keys walk, Enter zooms, Backspace returns", walking],
	["every control has a name", labels],
];
