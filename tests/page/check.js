// SPDX-License-Identifier: BSD-2-Clause
//
// usage: check.js DIR   with the pages that tests/page/run made; TAP
"use strict";
const path = require("path");
const { Browser, find } = require("./browser.js");
const { Screen } = require("./screen.js");

const suites = ["source", "views", "moves", "time", "safety", "looks", "size"];

class Failure extends Error {}

const is = {
	true(value, words) {
		if (!value) throw new Failure(words);
	},
	equal(found, wanted, words) {
		const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];

		if (a !== b)
			throw new Failure(
				`${words}: ${a.slice(0, 600)}, not ${b.slice(0, 600)}`
			);
	},
	near(found, wanted, by, words) {
		if (!(Math.abs(found - wanted) <= by))
			throw new Failure(`${words}: ${found}, not ${wanted}`);
	},
};

function indented(text) {
	return String(text).trimEnd().replace(/^/gm, "# ");
}

class Suite {
	constructor(dir, browser) {
		this.dir = dir;
		this.browser = browser;
		this.screen = browser && new Screen(browser, dir);
		this.number = this.failed = 0;
	}

	say(how, name, words = "") {
		console.log(`${how} ${++this.number} - page: ${name}${words}`);
	}

	async run(name, test, wants_browser = true) {
		const { screen, dir } = this;

		if (wants_browser && !screen)
			return this.say("ok", name, " # skip no Chromium here");
		try {
			const words = await test({ screen, is, dir });

			if (screen) screen.wasQuiet(is);
			this.say("ok", name);
			if (words) console.log(indented(words));
		} catch (error) {
			await this.tell(name, error);
		}
	}

	async tell(name, error) {
		const words = error instanceof Failure ? error.message : error.stack;

		this.failed++;
		this.say("not ok", name);
		console.log(indented(words));
		if (this.screen)
			await this.screen.shot("failed-" + this.number).catch(() => {});
	}
}

async function main() {
	const program = find();
	const browser = program && new Browser(program);
	const suite = new Suite(path.resolve(process.argv[2]), browser);

	for (const name of suites)
		for (const test of require(`./${name}.js`)) await suite.run(...test);
	console.log(`1..${suite.number}`);
	if (browser) await browser.close();
	return suite.failed ? 1 : 0;
}

main().then(
	(status) => process.exit(status),
	(error) => {
		console.log("Bail out! " + error.stack);
		process.exit(1);
	}
);
