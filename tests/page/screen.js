// SPDX-License-Identifier: BSD-2-Clause
//
// The page as a person has it: what can be read on it, pressed and clicked. It
// knows the page's elements and nothing of its script.
"use strict";
const path = require("path");
const { pathToFileURL } = require("url");

const PATIENCE_MS = 20000;

class Screen {
	constructor(browser, dir) {
		this.browser = browser;
		this.dir = dir;
		this.url = "";
	}

	async open(name, hash = "", media = {}) {
		this.url = pathToFileURL(path.join(this.dir, name + ".html")).href;
		await this.browser.open(this.url + hash, () =>
			this.browser.media({ "prefers-color-scheme": "light", ...media })
		);
		await this.until(
			"document.documentElement.dataset.ready",
			"the page is not ready"
		);
	}

	async until(expression, words) {
		const end = Date.now() + PATIENCE_MS;
		let value;

		while (!(value = await this.get(expression))) {
			if (Date.now() > end)
				throw new Error(`${words}: waited for ${expression}`);
			await new Promise((resolve) => setTimeout(resolve, 20));
		}
		return value;
	}

	// Nothing on the console, nothing thrown, nothing asked of a network.
	wasQuiet(is) {
		const { said = [], asked = [] } = this.browser;

		is.equal(said, [], "on the console");
		is.equal(asked, [], "asked of the network");
	}

	// What an expression is worth in the page, or a function of these arguments.
	get(what, ...given) {
		const list = given.map((value) => JSON.stringify(value)).join();
		const code = typeof what === "function" ? `(${what})(${list})` : what;

		return this.browser.evaluate(code);
	}

	text(selector) {
		return this.get((at) => document.querySelector(at).textContent, selector);
	}

	async press(...keys) {
		for (const key of keys) {
			const [, shift, name] = key.match(/^(Shift\+)?(.+)$/s);

			await this.browser.key(name, shift ? 8 : 0);
		}
	}

	box(selector) {
		return this.get((at) => {
			const element = document.querySelector(at);

			element.scrollIntoView({ block: "nearest" });
			const { x, y, width, height } = element.getBoundingClientRect();

			return { x, y, width, height };
		}, selector);
	}

	async click(selector) {
		const { x, y, width, height } = await this.box(selector);

		await this.browser.click(x + width / 2, y + height / 2);
	}

	// As typed: the page waits a little for the next letter.
	async search(text) {
		await this.get((value) => {
			const q = document.getElementById("q");

			q.value = value;
			q.dispatchEvent(new Event("input"));
		}, text);
		const done = `document.documentElement.dataset.searched === `;

		await this.until(done + JSON.stringify(text), "the search is not done");
		return this.text("#matched");
	}

	async choose(id, words) {
		const choose = (at, text) => {
			const select = document.getElementById(at);
			const all = [...select.options];
			const option = all.find((one) => one.textContent === text);

			if (!option) return all.map((one) => one.textContent);
			select.value = option.value;
			select.dispatchEvent(new Event("change"));
			return true;
		};
		const found = await this.get(choose, id, words);

		if (found !== true) throw new Error(`no "${words}" in ${id}: ${found}`);
	}

	// The table of functions: { name|module: [itself, with callees] }, in weights.
	async functions() {
		await this.click("#chart [value=table] + span");
		await this.until(`document.querySelector("#table tbody")`, "no table");
		const rows = await this.get(() =>
			[...document.querySelectorAll("#table tbody tr")].map((row) => {
				const text = (at) => row.querySelector(at).textContent;
				const numbers = [...row.querySelectorAll(".number")];
				const weights = numbers.map((cell) => cell.title);

				return [text(".name") + "|" + text(".where"), ...weights];
			})
		);

		return Object.fromEntries(
			rows.map(([name, self, total]) => [
				name,
				[count(self), count(total)],
			])
		);
	}

	// What both views are said to hold.
	async total() {
		return count((await this.text("#meaning")).replace(/^.*same /, ""));
	}

	crumbs() {
		return this.get(`[...document.querySelectorAll("#crumbs li")]
			.map((item) => item.textContent)`);
	}

	// Where a cell is: rows from the root, and its middle as a share of the width.
	async cell(depth, rows, middle, plot = "#upper", up = true) {
		const box = await this.box(plot + " canvas"),
			row = box.height / rows;

		return [
			box.x + middle * box.width,
			box.y + (up ? rows - depth - 0.5 : depth + 0.5) * row,
		];
	}

	// The keyboard's cell, as it is read out.
	said() {
		return this.text("#live");
	}

	shot(name) {
		return this.browser.shot(path.join(this.dir, name + ".png"));
	}
}

function count(words) {
	return Number(words.replace(/ .*/, "").replace(/,/g, ""));
}

module.exports = { Screen, count };
