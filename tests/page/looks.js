// SPDX-License-Identifier: BSD-2-Clause
// Light and dark, large and small, and paper.
"use strict";

const BRIGHTNESS = `(() => { const [r, g, b] = getComputedStyle(document.body)
	.backgroundColor.match(/\\d+/g).map(Number); return (r + g + b) / 3; })()`;

// The mean of what is painted on the graph itself.
const PAINTED = `(() => { const c = document.querySelector("#upper canvas");
	const copy = new OffscreenCanvas(c.width, c.height).getContext("2d",
		{ willReadFrequently: true });
	copy.drawImage(c, 0, 0);
	const d = copy.getImageData(0, 0, c.width, c.height).data;
	let sum = 0, n = 0;
	for (let i = 0; i < d.length; i += 4)
		if (d[i + 3]) { sum += d[i] + d[i + 1] + d[i + 2]; n += 3; }
	return sum / n; })()`;

async function dark({ screen, is }) {
	await screen.open("service");
	const light = [await screen.get(BRIGHTNESS), await screen.get(PAINTED)];

	await screen.open("service", "", { "prefers-color-scheme": "dark" });
	const dark = [await screen.get(BRIGHTNESS), await screen.get(PAINTED)];

	is.true(light[0] > 200 && dark[0] < 60, `paper ${light[0]} and ${dark[0]}`);
	is.true(light[1] > dark[1] + 50, `cells ${light[1]} and ${dark[1]}`);
	await screen.shot("dark");
	await screen.press("d");
	is.true((await screen.get(BRIGHTNESS)) > 200, "d: light on a dark system");
	await screen.press("d");
	is.true((await screen.get(BRIGHTNESS)) < 60, "d: dark");
	await screen.press("d");
	await screen.browser.media({ "prefers-color-scheme": "light" });
	await screen.until(`${BRIGHTNESS} > 200`, "the system's change is not followed");
}

async function colours({ screen, is }) {
	const seen = new Set();

	await screen.open("big");
	for (const by of ["by module", "by kind", "by package"]) {
		await screen.choose("colour", by);
		seen.add(await screen.text("#legend"));
	}
	is.equal(seen.size, 3, "legends");
	await screen.choose("colour", "by module");
	const before = await screen.get(PAINTED);

	await screen.get("document.querySelector('#legend button').click()");
	is.true(
		(await screen.get(PAINTED)) !== before,
		"one colour alone looks the same"
	);
}

// A module is one, whatever it is called.
async function namesakes({ screen, is }) {
	await screen.open("namesakes");
	const legend = await screen.get(`[...document.querySelectorAll("#legend li")]
		.map((li) => [li.textContent, li.querySelector("i").className,
			getComputedStyle(li.querySelector("i")).backgroundColor])`);

	is.equal(
		legend.map(([text]) => text).sort(),
		["async boundary", "kernel", "label", "missing frames"].map(
			(name) => name + "25.0 %"
		),
		"entries with shares"
	);
	is.equal(
		legend.filter(([, kind]) => kind === "hatch"),
		[],
		"entries like marks"
	);
	is.equal(new Set(legend.map(([, , colour]) => colour)).size, 4, "colours");
}

// What cells say, drawn once more after what happens to the window.
function said(screen, ...events) {
	return screen.get((names) => {
		const proto = CanvasRenderingContext2D.prototype,
			kept = proto.fillText;
		const texts = [];

		proto.fillText = function (text, ...at) {
			texts.push(text);
			return kept.call(this, text, ...at);
		};
		names.forEach((name) => dispatchEvent(new Event(name)));
		proto.fillText = kept;
		return texts;
	}, events);
}

async function ends({ screen, is }) {
	await screen.open("namesakes");
	const texts = await said(screen, "beforeprint", "afterprint");

	is.true(texts.includes("main"), "nothing was drawn");
	is.true(texts.includes("…::next"), "no end of a name: " + texts);
	is.true(!texts.some((text) => text.startsWith("Klass")), "a beginning: " + texts);
}

async function paper({ screen, is }) {
	await screen.open("big", "", { "prefers-color-scheme": "dark" });
	const seen = await screen.get(
		"document.querySelector('#upper canvas').clientHeight"
	);

	await screen.get("dispatchEvent(new Event('beforeprint'))");
	const printed = await screen.get(
		"document.querySelector('#upper canvas').clientHeight"
	);

	is.true(printed > 1.5 * seen, `${printed} of paper for ${seen} of screen`);
	is.true((await screen.get(PAINTED)) > 150, "dark cells on paper");
	await screen.get("dispatchEvent(new Event('afterprint'))");
	is.equal(
		await screen.get("document.querySelector('#upper canvas').clientHeight"),
		seen,
		"after printing"
	);
	const { data } = await screen.browser.send("Page.printToPDF", {
		landscape: true,
	});

	is.true(Buffer.from(data, "base64").length > 10000, "a PDF of nothing");
}

async function small({ screen, is }) {
	await screen.open("service");
	for (const [width, height] of [
		[400, 700],
		[800, 500],
		[1920, 1200],
	]) {
		await screen.browser.size(width, height);
		await screen.until(
			`document.querySelector("#upper canvas").clientWidth <= ${width}`,
			"the graph does not follow"
		);
		is.true(
			(await screen.get("document.documentElement.scrollWidth")) <=
				width,
			`wider than ${width}`
		);
	}
	await screen.browser.size(1280, 800);
	await screen.open("service");
	await screen.shot("light");
	await screen.press("t");
	await screen.shot("functions");
}

// At 800x600 the graph has half of the window, and the controls are a click away.
async function folded({ screen, is }) {
	const height = `document.querySelector("#stage").clientHeight`;
	const shown = (id) =>
		screen.get(`document.getElementById("${id}").clientHeight > 0`);

	await screen.open("service");
	await screen.browser.size(800, 600);
	await screen.until(
		`document.querySelector("#upper canvas").clientWidth <= 800`,
		"the graph does not follow"
	);
	is.true((await screen.get(height)) >= 300, `${await screen.get(height)} px`);
	is.true(!(await shown("more")), "the controls are not folded");
	await screen.shot("folded");
	await screen.click("#fold");
	is.true(await shown("more"), "they don't unfold");
	await screen.click("#fold");
	is.true(!(await shown("more")), "they don't fold again");
	await screen.browser.size(1280, 800);
	await screen.until(
		`document.getElementById("more").clientHeight > 0`,
		"no controls in a large window"
	);
}

// What is said of rows that don't fit, above and below.
function beyondWords(screen) {
	return screen.get(() =>
		[...document.querySelectorAll("#upper .beyond")].map((button) =>
			button.hidden ? "" : button.textContent.replace(/\d+/, "N")
		)
	);
}

// Cells that don't fit are told of and can be reached.
async function beyond({ screen, is }) {
	const [above, below] = ["▲ N more rows", "▼ N more rows"];
	const shown = (n) => `document.querySelectorAll("#upper .beyond")[${n}]`;

	await screen.open("big");
	await screen.browser.size(800, 400);
	await screen.until(`!${shown(0)}.hidden`, "nothing says that rows don't fit");
	is.equal(await beyondWords(screen), [above, below], "where the time goes");
	await screen.shot("beyond");
	await screen.get(shown(0) + ".click()");
	await screen.until(shown(0) + ".hidden", "it does not lead to the top");
	is.equal(await beyondWords(screen), ["", below], "at the top");
	await screen.get(shown(1) + ".click()");
	await screen.until(shown(1) + ".hidden", "it does not lead back");
	await screen.press("i");
	await screen.until(`!${shown(1)}.hidden`, "an icicle's lie below");
	is.equal(await beyondWords(screen), [above, below], "of an icicle");
	is.true(
		await screen.get(() => {
			const pill = document.querySelectorAll("#upper .beyond")[1];
			const { top } = document
				.querySelector("#upper canvas")
				.getBoundingClientRect();

			return pill.getBoundingClientRect().bottom <= top;
		}),
		"what is said of rows covers cells"
	);
	await screen.browser.size(1280, 800);
}

// A graph that does not fit begins where the time goes.
async function hot({ screen, is }) {
	const legend = `[...document.querySelectorAll("#legend li")]
		.map((li) => li.textContent).sort()`;

	await screen.open("deep");
	await screen.browser.size(800, 600);
	await screen.until(
		`document.querySelector("#upper canvas").clientWidth <= 800`,
		"the graph does not follow"
	);
	for (const key of ["f", "i"]) {
		await screen.press(key);
		const texts = await said(screen, "resize");

		is.true(texts.includes("compress"), `${key}: the hottest: ${texts}`);
		is.true(!texts.includes("all"), `${key}: it fits`);
		is.true(!(await beyondWords(screen)).includes(""), `${key}: untold`);
	}
	is.equal(
		await screen.get(legend),
		["libnet.so16.0 %", "libz.so.184.0 %", "server"],
		"who took no time has no share"
	);
	await screen.browser.size(1280, 800);
}

module.exports = [
	["light and dark, as the system says or as chosen", dark],
	["colours by module, kind and package; one alone", colours],
	["modules with the names of marks", namesakes],
	["a narrow cell shows the end of a name with parts", ends],
	["on paper all rows are there, and light", paper],
	["small and large windows", small],
	["in a small window the graph has most of it", folded],
	["rows that don't fit say so, and can be reached", beyond],
	["what does not fit begins where the time goes", hot],
];
