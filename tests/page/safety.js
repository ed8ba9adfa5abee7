// SPDX-License-Identifier: BSD-2-Clause
// Names that would be markup, or script; the policy; links from anywhere.
"use strict";
const fs = require("fs");
const path = require("path");
const data = require("./data.js");

// Letters that nobody sees are shown by number.
const SHOWN = new Map([
	["\u2028window.evil=1\u2029", "\\u2028window.evil=1\\u2029"],
	["\u202egnp.exe", "\\u202egnp.exe"],
]);
const shownAs = (name) => SHOWN.get(name) || name;

// What weft writes of a name: nothing that turns the direction of text. The page itself
// guards against who writes more.
const written = (name) =>
	name.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "?");
const PAGES = {
	hostile: data.EVIL.map(written).map(shownAs),
	"hostile-gen": data.EVIL.map(shownAs),
};

async function shownAsText({ screen, is }) {
	for (const [page, shown] of Object.entries(PAGES)) {
		await screen.open(page);
		is.equal(
			await screen.get("window.evil === undefined"),
			true,
			"a name was run"
		);
		is.equal(await screen.text("#title"), data.EVIL[0], "the title");
		is.equal(
			await screen.get("document.querySelectorAll('img').length"),
			0,
			"images"
		);
		const names = Object.keys(await screen.functions()).map((key) =>
			key.replace(/\|.*/s, "")
		);

		for (const name of shown)
			is.true(
				names.includes(name),
				`${page}: no ${name} among ${names}`
			);
		for (const name of shown)
			await screen.choose(
				"process",
				`${name} (${10 + shown.indexOf(name)})`
			);
		await screen.choose("group", "by thread");
		await screen.choose("colour", "by package");
		await screen.get("document.querySelector('#table .name button').click()");
		await screen.click("#ledger-open");
		is.equal(
			await screen.get("window.evil === undefined"),
			true,
			"a name was run"
		);
		is.equal(
			await screen.get("document.querySelectorAll('img').length"),
			0,
			"images"
		);
	}
	await screen.press("Escape", "i");
	await screen.choose("process", "all");
	await screen.shot("hostile");
}

async function noEscape({ is, dir }) {
	const text = fs.readFileSync(path.join(dir, "hostile.html"), "utf8");
	const json = text.slice(
		text.indexOf('{"format"'),
		text.lastIndexOf("</script>\n<script>")
	);

	is.equal(json.match(/[<\u2028\u2029]/g), null, "in the data");
	const strings = JSON.parse(json).strings;

	for (const name of data.EVIL)
		is.true(strings.includes(written(name)), `not told again: ${name}`);
}

function addScript() {
	const script = document.createElement("script");

	script.textContent = "window.ran = 1";
	document.body.append(script);
}

async function policy({ screen, is, dir }) {
	const { browser } = screen;

	await screen.open("service");
	await screen.get(addScript);
	is.equal(await screen.get("window.ran === undefined"), true, "a script was run");
	is.equal(
		await screen.get(`fetch("http://127.0.0.1:9/").then(() => "went out",
		() => "refused")`),
		"refused",
		"a request"
	);
	is.true(
		browser.said.length >= 2 &&
			browser.said.every((words) =>
				/Content Security Policy/.test(words)
			),
		`the browser said ${browser.said}`
	);
	browser.said = [];
	// the control: without the policy the same script runs
	const text = fs.readFileSync(path.join(dir, "service.html"), "utf8");

	fs.writeFileSync(
		path.join(dir, "open.html"),
		text.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, "")
	);
	await screen.open("open");
	await screen.get(addScript);
	is.equal(
		await screen.get("window.ran"),
		1,
		"without a policy nothing is run either"
	);
}

async function links({ screen, is }) {
	for (const hash of [
		"#zoom=zz.zz.1",
		"#time=9-1&process=999&thread=-4&fn=1e9",
		"#view=<img>",
		"#q=%E0%A4%A",
		"#chart=__proto__&constructor=1",
		"#zoom=" + "a.".repeat(5000),
		"#group=thread&fn=3&chart=sandwich&time=0-7",
		"#q=(((",
		"####",
		"#=&=&&&",
	]) {
		await screen.open("service", hash);
		is.true((await screen.total()) > 0, hash);
	}
}

module.exports = [
	["names that are markup are shown as text", shownAsText],
	["nothing in the data can end its element", noEscape, false],
	["the policy lets no other script run, and no request out", policy],
	["a link may hold anything", links],
];
