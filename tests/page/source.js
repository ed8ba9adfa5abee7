// SPDX-License-Identifier: BSD-2-Clause
// What can be said of the page without opening it.
"use strict";
const fs = require("fs");
const path = require("path");

const FROM = path.join(__dirname, "../../page");
const MARKUP = new RegExp(
	"innerHTML|outerHTML|insertAdjacentHTML|document\\.write|\\.html\\(|\\beval\\b|" +
		"new Function|DOMParser|setHTML|createContextualFragment|srcdoc"
);
const NETWORK = new RegExp(
	"\\bfetch\\b|XMLHttpRequest|WebSocket|EventSource|sendBeacon|" +
		"importScripts|import\\("
);

function sources() {
	return fs
		.readdirSync(FROM)
		.filter((name) => name.endsWith(".js"))
		.map((name) => [name, fs.readFileSync(path.join(FROM, name), "utf8")]);
}

function noMarkup({ is }) {
	for (const [name, text] of sources()) {
		is.true(!MARKUP.test(text), `${name}: ${text.match(MARKUP)}`);
		is.true(!NETWORK.test(text), `${name}: ${text.match(NETWORK)}`);
	}
	is.true(
		MARKUP.test("x.innerHTML = data") && MARKUP.test('$("#a").html(data)'),
		"the check does not find what it looks for"
	);
}

function addresses({ is, dir }) {
	const text = fs.readFileSync(path.join(dir, "service.html"), "utf8");

	is.equal(
		text.match(/\b(https?|wss?|file|\/\/)[:/]\/\/?[a-z]/gi),
		null,
		"addresses"
	);
	is.equal(
		text.match(/<(link|script|img|iframe|object|embed|form|base)\b[^>]*>/g),
		[
			'<link rel="icon" href="data:,">',
			'<script type="application/json" id="data">',
			"<script>",
		],
		"elements that could load something"
	);
}

// How different colours are to people who lack a kind of cone: simulated as
// Machado, Oliveira and Fernandes (2009) say, compared as OKLab distances.
const EYES = {
	all: [
		[1, 0, 0],
		[0, 1, 0],
		[0, 0, 1],
	],
	protan: [
		[0.152286, 1.052583, -0.204868],
		[0.114503, 0.786281, 0.099216],
		[-0.003882, -0.048116, 1.051998],
	],
	deutan: [
		[0.367322, 0.860646, -0.227968],
		[0.280085, 0.672501, 0.047413],
		[-0.01182, 0.04294, 0.968881],
	],
	tritan: [
		[1.255528, -0.076749, -0.178779],
		[-0.078411, 0.930809, 0.147602],
		[0.004733, 0.691367, 0.3039],
	],
};

const times = (m, v) => m.map((row) => row.reduce((sum, x, i) => sum + x * v[i], 0));

function linear(hex) {
	return [1, 3, 5]
		.map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
		.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
}

function oklab(rgb) {
	const lms = times(
		[
			[0.4122214708, 0.5363325363, 0.0514459929],
			[0.2119034982, 0.6806995451, 0.1073969566],
			[0.0883024619, 0.2817188376, 0.6299787005],
		],
		rgb.map((c) => Math.max(0, Math.min(1, c)))
	).map(Math.cbrt);

	return times(
		[
			[0.2104542553, 0.793617785, -0.0040720468],
			[1.9779984951, -2.428592205, 0.4505937099],
			[0.0259040371, 0.7827717662, -0.808675766],
		],
		lms
	);
}

function luminance(hex) {
	const [r, g, b] = linear(hex);

	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
	const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);

	return (high + 0.05) / (low + 0.05);
}

function constants() {
	const text = fs.readFileSync(path.join(FROM, "colours.js"), "utf8");
	const css = fs.readFileSync(path.join(FROM, "page.css"), "utf8");
	const of = (name) =>
		new Function(
			`return ${
				text.match(
					new RegExp(`const ${name} = (\\{[^;]*\\});`)
				)[1]
			}`
		)();
	const [light, dark] = css
		.split('[data-theme="dark"]')
		.map((part) => part.match(/--cell-ink: (#\w+)/)[1]);

	return {
		PALETTE: of("PALETTE"),
		KERNEL: of("KERNEL_COLOUR"),
		OTHER: of("OTHER_COLOUR"),
		ink: { light, dark },
	};
}

const APART_MIN = 0.045,
	CONTRAST_MIN = 4.5;

function colours({ is }) {
	const { PALETTE, KERNEL, OTHER, ink } = constants(),
		words = [];

	for (const theme of ["light", "dark"]) {
		const list = [...PALETTE[theme], KERNEL[theme], OTHER[theme]];

		for (const hex of list)
			is.true(
				contrast(hex, ink[theme]) >= CONTRAST_MIN,
				`${theme}: letters on ${hex} stand out too little`
			);
		for (const [eye, matrix] of Object.entries(EYES)) {
			let least = [Infinity];

			list.forEach((a, i) =>
				list.slice(0, i).forEach((b) => {
					const [x, y] = [a, b].map((hex) =>
						oklab(times(matrix, linear(hex)))
					);
					const apart = Math.hypot(
						...x.map((c, k) => c - y[k])
					);

					if (apart < least[0]) least = [apart, a, b];
				})
			);
			words.push(
				`${theme}, ${eye}: ${least[0].toFixed(3)} apart, ` +
					least.slice(1).join(" and ")
			);
			is.true(least[0] >= APART_MIN, words.at(-1));
		}
	}
	return words.join("\n");
}

const CHOSEN_MIN = 1.1; // of what is chosen, to the ground that it lies on

function chosen({ is }) {
	const css = fs.readFileSync(path.join(FROM, "page.css"), "utf8");
	const [light, dark] = css.split('[data-theme="dark"]');

	for (const part of [light, dark]) {
		const of = (name) => part.match(new RegExp(`--${name}: (#\\w+)`))[1];
		const [ground, choice, ink] = ["wash", "chosen", "ink"].map(of);

		is.true(
			contrast(choice, ground) >= CHOSEN_MIN &&
				luminance(choice) > luminance(ground),
			`${choice} on ${ground} looks like what is not chosen`
		);
		is.true(contrast(ink, choice) >= CONTRAST_MIN, `${ink} on ${choice}`);
	}
}

module.exports = [
	[
		"no markup is made of data, no network is named in the sources",
		noMarkup,
		false,
	],
	["the file names no address and loads nothing", addresses, false],
	["colours differ for all kinds of eyes, letters stand out", colours, false],
	["what is chosen lies above the rest, light and dark", chosen, false],
];
