// SPDX-License-Identifier: BSD-2-Clause
//
// The controls: what they show, what they change, and the keys. And the start.

function options(select, list, chosen) {
	if (select.length !== list.length)
		select.replaceChildren(
			...list.map(([value, text]) => el("option", { value }, text))
		);
	select.value = String(chosen);
}

function processWords(p) {
	return (
		p.name +
		(p.pid ? " (" + p.pid + ")" : "") +
		(p.host ? " on " + p.host : "")
	);
}

function threadWords(t) {
	return t.name + (t.tid ? " (" + t.tid + ")" : "");
}

// Of a row of the strip: its thread, with its process where that has another name.
function rowWords({ recording: r }, { thread, n }) {
	const t = r.threads[thread];

	if (!t) return n + (n === 1 ? " other thread" : " other threads");
	const process = r.processes[t.process].name;

	return (process === t.name ? "" : process + " › ") + threadWords(t);
}

// Heaviest first, as who looks for one mostly looks for that.
function fillFilters(page) {
	const { recording: r } = page,
		of_thread = new Float64Array(r.threads.length);
	const of_process = new Float64Array(r.processes.length);

	for (let i = 0; i < r.n_samples; i++)
		of_thread[r.thread_of[r.use[i]]] += r.weight[i];
	r.threads.forEach((t, i) => {
		of_process[t.process] += of_thread[i];
	});
	page.by_weight = {
		process: [...r.processes.keys()]
			.filter((i) => of_process[i])
			.sort((a, b) => of_process[b] - of_process[a]),
		thread: [...r.threads.keys()]
			.filter((i) => of_thread[i])
			.sort((a, b) => of_thread[b] - of_thread[a]),
	};
	options(
		$("container"),
		[[-1, "all"], ...r.containers.map((name, i) => [i, name])],
		-1
	);
	options(
		$("process"),
		[
			[-1, "all"],
			...page.by_weight.process.map((i) => [
				i,
				processWords(r.processes[i]),
			]),
		],
		-1
	);
	$("container-pick").hidden = !r.containers.length;
}

function fillThreads(page) {
	const { recording: r, state } = page,
		key = String(state.process);

	if ($("thread").dataset.of === key) return;
	$("thread").dataset.of = key;
	$("thread").replaceChildren();
	options(
		$("thread"),
		[
			[-1, "all"],
			...page.by_weight.thread
				.filter(
					(i) =>
						state.process < 0 ||
						r.threads[i].process === state.process
				)
				.map((i) => [i, threadWords(r.threads[i])]),
		],
		state.thread
	);
}

function showControls(page) {
	const { state, recording: r } = page,
		total = page.shape.tree.total[0];

	for (const name of ["view", "chart"])
		document.querySelector(
			`input[name=${name}][value=${state[name]}]`
		).checked = true;
	for (const name of ["kernel", "inline"]) $(name).checked = state[name];
	for (const name of ["colour", "group", "container", "process"])
		$(name).value = String(state[name]);
	fillThreads(page);
	$("thread").value = String(state.thread);
	$("meaning").textContent = r.meta.one_view
		? "The source of this page has only one view."
		: VIEW_MEANINGS[state.view] +
			" Both show the same " +
			weightWords(total, r.meta).replace(/ · .*/, "") +
			".";
	showRange(page);
}

function showRange(page) {
	const {
			state: { range },
			recording: r,
		} = page,
		last = r.n_cells - 1;
	const [from, to] = range || [0, last];

	$("time").hidden = r.n_cells < 2;
	$("from").value = from * r.cell_s;
	$("to").value = (to + 1) * r.cell_s;
	$("from").step = $("to").step = r.cell_s;
	$("from").max = last * r.cell_s;
	$("to").max = r.n_cells * r.cell_s;
	$("whole").disabled = !range;
	$("when").textContent = range
		? seconds((to - from + 1) * r.cell_s) + " chosen"
		: seconds(r.meta.seconds || r.n_cells * r.cell_s);
}

function showRows({ state: { range, rows }, recording: { cell_s }, rows_of_time }) {
	const words = range
		? `${range[0] * cell_s} to ${(range[1] + 1) * cell_s} s chosen`
		: "all of it";
	const names = rows_of_time.map(({ name }) => name).filter((name) => name);

	$("rows").checked = rows;
	$("strip").setAttribute("aria-label", ["Time, " + words, ...names].join("; "));
}

function showCrumbs(page, zoom) {
	const { shape } = page,
		path = shape.tree.path(zoom),
		crumbs = [];
	const item = (text, frames, is_last) =>
		el(
			"li",
			is_last ? { "aria-current": "true" } : {},
			el(
				"button",
				{ title: text, onclick: () => page.go({ zoom: frames }) },
				text
			)
		);

	crumbs.push(item("all", [], !path.length));
	path.forEach((frame, i) =>
		crumbs.push(
			item(
				page.upper.text(frame),
				path.slice(0, i + 1),
				i === path.length - 1
			)
		)
	);
	$("crumbs").replaceChildren(...crumbs);
	$("crumbs").parentElement.scrollLeft = 1e6;
	$("crumbs").parentElement.hidden =
		page.state.chart === "sandwich" || page.state.chart === "table";
}

function emptyWords(page) {
	if (!page.recording.n_samples)
		return (
			"The profile is empty: nothing ran on a CPU during the " +
			"recording, or a filter excluded every sample."
		);
	return "No sample matches this choice. Choose other processes or times.";
}

function headings({ meta, ledger }, page) {
	const start = meta.start_s
		? new Date(meta.start_s * 1000)
				.toISOString()
				.replace("T", " ")
				.replace(/\.\d+Z/, " UTC")
		: "";

	$("title").textContent = meta.title || "weft";
	document.title = (meta.title || "profile") + " · weft";
	$("facts").textContent = [
		meta.host,
		start,
		meta.seconds && seconds(meta.seconds),
		meta.rate_hz && meta.rate_hz + " Hz",
		meta.event,
		meta.kernel && "Linux " + meta.kernel,
	]
		.filter((part) => part)
		.join(" · ");
	$("facts").title = meta.command;
	$("ledger-open").textContent = ledgerWords({ ledger });
	fillLedger(page.recording);
	fillHelp();
	hint();
	for (const input of document.querySelectorAll("#view input"))
		input.disabled = meta.one_view;
}

function listenToControls(page) {
	let waiting;

	for (const name of ["view", "chart"])
		$(name).addEventListener("change", (event) =>
			page.go({ [name]: event.target.value })
		);
	for (const name of ["kernel", "inline", "rows"])
		$(name).addEventListener("change", () =>
			page.go({ [name]: $(name).checked })
		);
	for (const name of ["colour", "group"])
		$(name).addEventListener("change", () =>
			page.go({ [name]: $(name).value })
		);
	for (const name of ["container", "process", "thread"])
		$(name).addEventListener("change", () =>
			page.go({
				[name]: Number($(name).value),
				...(name === "process" ? { thread: -1 } : {}),
			})
		);
	$("q").addEventListener("input", () => {
		clearTimeout(waiting);
		waiting = setTimeout(
			() => page.go({ q: $("q").value.slice(0, SEARCH_MAX) }, false),
			60
		);
	});
	$("whole").addEventListener("click", () => page.range(null));
	for (const name of ["from", "to"])
		$(name).addEventListener("change", () => rangeTyped(page));
	for (const name of ["ledger", "help"])
		$(name + "-open").addEventListener("click", () => $(name).showModal());
	$("theme").addEventListener("click", () => nextTheme(page));
	$("fold").addEventListener("click", foldControls);
	document.addEventListener("keydown", (event) => pressed(page, event));
}

// In a small window only; in a large one there is room for all (page.css).
function foldControls() {
	const folded = document.documentElement.toggleAttribute("data-folded");

	$("fold").setAttribute("aria-expanded", !folded);
	dispatchEvent(new Event("resize"));
}

function rangeTyped(page) {
	const { n_cells, cell_s } = page.recording;
	const from = Math.floor(Number($("from").value) / cell_s);
	const to = Math.ceil(Number($("to").value) / cell_s) - 1;

	page.range(
		from >= 0 && to >= from && to < n_cells && (from || to < n_cells - 1)
			? [from, to]
			: null
	);
}

function nextTheme(page) {
	page.dress({ auto: "light", light: "dark", dark: "auto" }[page.theme]);
	try {
		localStorage.setItem("weft-theme", page.theme);
	} catch (error) {
		// a file may have no storage: then it is chosen anew each time
	}
	page.render();
}

function storedTheme() {
	try {
		const theme = localStorage.getItem("weft-theme");

		return ["light", "dark"].includes(theme) ? theme : "auto";
	} catch (error) {
		return "auto";
	}
}

const CHART_KEYS = { f: "flame", i: "icicle", w: "sandwich", t: "table" };

function pressed(page, event) {
	const { key } = event,
		typing =
			/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) &&
			!["radio", "checkbox"].includes(event.target.type);

	if (
		event.ctrlKey ||
		event.metaKey ||
		event.altKey ||
		document.querySelector("dialog[open]")
	)
		return;
	if (key === "Escape") escape(page, event);
	if (typing || key === "Escape") return;
	if (key === "/") $("q").focus();
	else if (key === "v" && !page.recording.meta.one_view)
		page.go({ view: page.state.view === "async" ? "thread" : "async" });
	else if (Object.hasOwn(CHART_KEYS, key)) page.go({ chart: CHART_KEYS[key] });
	else if (key === "k") page.go({ kernel: !page.state.kernel });
	else if (key === "l") page.go({ inline: !page.state.inline });
	else if (key === "r") page.go({ rows: !page.state.rows });
	else if (key === "d") nextTheme(page);
	else if (key === "?") $("help").showModal();
	else return;
	event.preventDefault();
}

function escape(page, event) {
	if (event.target === $("q")) {
		$("q").value = "";
		page.go({ q: "" }, false);
		$("q").blur();
	} else if (page.state.zoom.length) {
		page.go({ zoom: [] });
	} else if (page.state.q) {
		$("q").value = "";
		page.go({ q: "" }, false);
	}
}

// On paper: light, and every row of the graph.
function listenToWindow(page) {
	const redraw = (full) => {
		page.upper.full = page.lower.full = full;
		page.render();
		for (const graph of [page.upper, page.lower])
			if (graph.tree && !graph.section.hidden) {
				graph.fit(true);
				graph.draw();
			}
	};
	let before;

	addEventListener("hashchange", () => page.readAddress());
	addEventListener("popstate", () => page.readAddress());
	addEventListener("resize", () => redraw(false));
	addEventListener("beforeprint", () => {
		before = page.theme;
		page.dress("light");
		redraw(true);
	});
	addEventListener("afterprint", () => {
		page.dress(before);
		redraw(false);
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
		page.dress(page.theme);
		page.render();
	});
}

function start() {
	const data = $("data"),
		recording = new Recording(JSON.parse(data.textContent));
	const page = new Page(recording);

	data.remove();
	page.dress(storedTheme());
	headings({ meta: recording.meta, ledger: recording.ledger }, page);
	fillFilters(page);
	listenToControls(page);
	listenToWindow(page);
	page.readAddress();
	document.documentElement.dataset.ready = performance.now().toFixed(1);
	return page;
}

start();
