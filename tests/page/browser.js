// SPDX-License-Identifier: BSD-2-Clause
//
// A headless Chromium over the DevTools protocol, through a pair of pipes: no
// port is opened and nothing but node is needed. One page at a time. Whatever
// the page says on its console, throws, or asks the network for is remembered.
"use strict";
const { spawn } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

const PATIENCE_MS = 60000;

function find() {
	for (const name of ["chromium", "chromium-browser", "google-chrome"])
		for (const folder of process.env.PATH.split(":"))
			if (fs.existsSync(path.join(folder, name)))
				return path.join(folder, name);
	return null;
}

class Browser {
	constructor(program) {
		this.home = fs.mkdtempSync(path.join(os.tmpdir(), "weft-page-"));
		this.child = spawn(
			program,
			[
				"--headless=new",
				"--no-sandbox",
				"--remote-debugging-pipe",
				"--user-data-dir=" + this.home,
				"--disable-background-networking",
				"--disable-component-update",
				"--disable-gpu",
				"--force-color-profile=srgb",
				"--no-first-run",
				"--hide-scrollbars",
				"--window-size=1280,800",
				"about:blank",
			],
			{ stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] }
		);
		this.waiting = new Map();
		this.listeners = [];
		this.last = 0;
		this.rest = [];
		this.child.stdio[4].on("data", (bytes) => this.read(bytes));
		this.child.stdio[3].on("error", () => {});
	}

	// Messages end with a NUL; a big one comes in many pieces.
	read(bytes) {
		let from = 0,
			end;

		while ((end = bytes.indexOf(0, from)) >= 0) {
			const text = Buffer.concat([
				...this.rest,
				bytes.subarray(from, end),
			]);

			this.rest = [];
			from = end + 1;
			this.take(JSON.parse(text.toString("utf8")));
		}
		if (from < bytes.length) this.rest.push(bytes.subarray(from));
	}

	take(message) {
		const { id, error, result } = message,
			asked = this.waiting.get(id);

		if (!asked)
			return this.listeners.forEach((listener) => listener(message));
		this.waiting.delete(id);
		clearTimeout(asked.timer);
		if (error) asked.reject(new Error(asked.method + ": " + error.message));
		else asked.resolve(result);
	}

	send(method, params = {}) {
		const id = ++this.last,
			sessionId = this.session;

		return new Promise((resolve, reject) => {
			const timer = setTimeout(
				() => reject(new Error(method + ": no answer")),
				PATIENCE_MS
			);

			this.waiting.set(id, { resolve, reject, timer, method });
			this.child.stdio[3].write(
				JSON.stringify({ id, method, params, sessionId }) + "\0"
			);
		});
	}

	async open(url, before) {
		if (this.session) {
			const session = this.session;

			delete this.session;
			await this.send("Target.detachFromTarget", {
				sessionId: session,
			});
			await this.send("Target.closeTarget", { targetId: this.target });
		}
		this.said = [];
		this.asked = [];
		const { targetId } = await this.send("Target.createTarget", {
			url: "about:blank",
		});
		this.target = targetId;
		const { sessionId } = await this.send("Target.attachToTarget", {
			targetId,
			flatten: true,
		});
		this.session = sessionId;
		this.listeners = [
			(message) => this.hear(message, url.replace(/#.*/, "")),
		];
		for (const domain of ["Page", "Runtime", "Log", "Network", "DOM"])
			await this.send(domain + ".enable");
		await this.send("Performance.enable", { timeDomain: "threadTicks" });
		await this.size(1280, 800);
		if (before) await before();
		await this.go(url);
	}

	async go(url) {
		const loaded = new Promise((resolve) =>
			this.listeners.push((message) => {
				if (message.method === "Page.loadEventFired") resolve();
			})
		);

		await this.send("Page.navigate", { url });
		await loaded;
		this.listeners.length = 1;
	}

	hear({ method, params }, url) {
		if (method === "Runtime.exceptionThrown")
			this.said.push(
				params.exceptionDetails.exception?.description ||
					params.exceptionDetails.text
			);
		if (method === "Runtime.consoleAPICalled")
			this.said.push(params.args.map((arg) => arg.value).join(" "));
		if (method === "Log.entryAdded") this.said.push(params.entry.text);
		if (
			method === "Network.requestWillBeSent" &&
			params.request.url.replace(/#.*/, "") !== url
		)
			this.asked.push(params.request.url);
	}

	size(width, height) {
		return this.send("Emulation.setDeviceMetricsOverride", {
			width,
			height,
			deviceScaleFactor: 1,
			mobile: false,
		});
	}

	media(features) {
		return this.send("Emulation.setEmulatedMedia", {
			features: Object.entries(features).map(([name, value]) => ({
				name,
				value,
			})),
		});
	}

	async evaluate(expression) {
		const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
			expression,
			awaitPromise: true,
			returnByValue: true,
		});

		if (exceptionDetails)
			throw new Error(
				exceptionDetails.exception?.description ||
					exceptionDetails.text
			);
		return result.value;
	}

	async key(key, modifiers = 0) {
		const text = key.length === 1 ? key : key === "Enter" ? "\r" : undefined;
		const codes = {
			Enter: 13,
			Escape: 27,
			Tab: 9,
			Backspace: 8,
			ArrowLeft: 37,
			ArrowUp: 38,
			ArrowRight: 39,
			ArrowDown: 40,
			Home: 36,
			End: 35,
			" ": 32,
		};
		const event = {
			key,
			modifiers,
			code: key,
			windowsVirtualKeyCode:
				codes[key] || key.toUpperCase().charCodeAt(0),
		};

		await this.send("Input.dispatchKeyEvent", {
			type: "keyDown",
			text,
			...event,
		});
		await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
	}

	mouse(type, x, y, more = {}) {
		return this.send("Input.dispatchMouseEvent", {
			type,
			x,
			y,
			button: "left",
			buttons: 1,
			clickCount: 1,
			...more,
		});
	}

	async click(x, y, more) {
		await this.mouse("mouseMoved", x, y, { buttons: 0 });
		await this.mouse("mousePressed", x, y, more);
		await this.mouse("mouseReleased", x, y, more);
	}

	async shot(file) {
		const { data } = await this.send("Page.captureScreenshot", {
			format: "png",
		});

		fs.writeFileSync(file, Buffer.from(data, "base64"));
	}

	async close() {
		const gone = new Promise((resolve) => this.child.on("exit", resolve));

		delete this.session;
		await this.send("Browser.close").catch(() => this.child.kill());
		await gone;
		fs.rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
	}
}

module.exports = { Browser, find };
