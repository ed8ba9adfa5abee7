// SPDX-License-Identifier: BSD-2-Clause
//
// What stands around the graph: legend, details of a cell, the table of functions.
// Each draws what the page (page.js) knows.

const ROWS = 200;

function legendItem(page, group, share) {
	const name = page.colours.groups[group];
	const swatch = el("i", isMark(name) ? { class: "hatch" } : {});
	const item = button("", () => page.showOnly(group));

	swatch.style.backgroundColor = page.fills[group];
	item.setAttribute("aria-pressed", page.only === group);
	item.title = LEGEND_MEANING;
	item.append(swatch, name.replace(APART, ""));
	if (share && !isMark(name)) item.append(el("small", {}, share));
	return el("li", {}, item);
}

function isMark(name) {
	return isApart(name, " boundary") || isApart(name, "missing frames");
}

function showLegend(page) {
	const { colours, shape } = page;
	const { shares, seen } = colours.shares(shape.tree);
	const groups = [...colours.groups.keys()].slice(1);

	if (colours.has_other) groups.push(0);
	$("legend").replaceChildren(
		...groups
			.filter((group) => shares[group] || seen[group])
			.map((group) => {
				const share = shares[group];
				const all = shape.tree.total[0];

				return legendItem(
					page,
					group,
					share && percent(share, all)
				);
			})
	);
}

function frameWhere(page, frame) {
	const { recording: r } = page;

	if (frame < 0 || frame >= r.n_frames) return "";
	const module = r.modules[r.module[frame]];

	const whole = r.whole[frame] === r.names[frame] ? "" : r.whole[frame];

	return [whole, r.files[frame], module.path, KIND_WORDS[r.kind[frame]]]
		.filter((part) => part)
		.join(" · ");
}

function figures(page, node, graph) {
	const { self, total } = graph.tree;
	const weight = total[node];
	const { meta } = page.recording;
	const words = [percent(weight, total[0]), weightWords(weight, meta)];

	if (self[node] && self[node] < weight)
		words.push("itself " + percent(self[node], total[0]));
	if (graph.zoom && node > graph.zoom)
		words.push(percent(weight, total[graph.zoom]) + " of what is shown");
	return words.join(" · ");
}

function showTip(page, node, event, graph) {
	const tip = $("tip");

	if (node < 0 || !event) {
		tip.style.visibility = "hidden";
		return;
	}
	const frame = graph.tree.frame[node];
	const meaning = MARK_MEANINGS[page.style(frame).kind];

	tip.replaceChildren(
		el("b", {}, page.title(node, graph)),
		el("p", {}, meaning || frameWhere(page, frame)),
		el("p", { class: "figures" }, figures(page, node, graph))
	);
	tip.style.visibility = "visible";
	const { offsetWidth: w, offsetHeight: h } = tip;
	tip.style.left =
		Math.max(4, Math.min(event.clientX + 14, innerWidth - w - 8)) + "px";
	tip.style.top =
		(event.clientY + h + 26 < innerHeight
			? event.clientY + 18
			: Math.max(4, event.clientY - h - 12)) + "px";
}

function showDetails(page, node, graph) {
	const frame = graph.tree.frame[node];

	$("details").replaceChildren(
		el("code", {}, graph.text(frame)),
		el("span", {}, figures(page, node, graph))
	);
	const pick = button("Callers and callees", () => page.pick(frame));
	const { n_frames, kind } = page.recording;

	if (frame >= 0 && frame < n_frames && kind[frame] < ASKED)
		$("details").append(pick);
}

function hint() {
	$("details").replaceChildren(
		"Point at a cell, or move with the arrow keys. Click or press " +
			"Enter to zoom; press ? for help."
	);
}

function say(page, node, graph) {
	const frame = graph.tree.frame[node];
	const where = MARK_MEANINGS[page.style(frame).kind] || frameWhere(page, frame);
	const words = [graph.text(frame), figures(page, node, graph), where];

	$("live").textContent = words.filter((part) => part).join(", ");
	showDetails(page, node, graph);
}

function headCell(page, key, text) {
	const sorted = page.state.sort === key;
	const cell = el("th", { scope: "col" });

	if (sorted) cell.setAttribute("aria-sort", "descending");
	if (sorted) text += " ↓";
	if (key) cell.append(button(text, () => page.go({ sort: key })));
	else cell.append(el("span", {}, text));
	return cell;
}

function tableHead(page) {
	const cells = [
		["self", "Itself"],
		["total", "With callees"],
		["", "Function"],
		["", "Module"],
	];
	const row = el("tr", {}, ...cells.map((cell) => headCell(page, ...cell)));

	return el("thead", {}, row);
}

function weightCell(page, value) {
	const { meta } = page.recording;
	const all = page.shape.tree.total[0] || 1;
	const bar = el("i");
	const cell = el("td", { class: "number", title: weightWords(value, meta) }, bar);

	bar.style.width = (100 * value) / all + "%";
	cell.append(percent(value, all));
	return cell;
}

function tableRow(page, frame, sums) {
	const { recording: r } = page;
	const { path, name } = r.modules[r.module[frame]];
	const swatch = el("i", { class: "swatch" });
	const pick = button(r.names[frame], () => page.pick(frame));
	const where = el("td", { class: "where", title: path }, swatch);

	pick.title = r.whole[frame];
	swatch.style.backgroundColor = page.fills[page.colours.group(frame)];
	where.append(name || KIND_WORDS[r.kind[frame]]);
	return el(
		"tr",
		{},
		weightCell(page, sums.self[frame]),
		weightCell(page, sums.total[frame]),
		el("td", { class: "name" }, pick),
		where
	);
}

function showTable(page) {
	const { recording: r, state, match } = page;
	const sums = functions(page.shape.tree, r.n_frames);
	const first = state.sort === "total" ? sums.total : sums.self;
	const then = sums.total;
	const found = [];

	for (let f = 0; f < r.n_frames; f++)
		if (then[f] && r.kind[f] < ASKED && (!match || match[f])) found.push(f);
	found.sort((a, b) => first[b] - first[a] || then[b] - then[a] || a - b);
	const rows = found.slice(0, page.rows).map((f) => tableRow(page, f, sums));

	$("table").replaceChildren(
		el("table", {}, tableHead(page), el("tbody", {}, ...rows))
	);
	if (found.length <= page.rows) return;
	const more = button("Show more of " + GROUPED.format(found.length), () => {
		page.rows *= 4;
		showTable(page);
	});

	more.className = "more";
	$("table").append(more);
}
