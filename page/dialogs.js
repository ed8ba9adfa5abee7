// SPDX-License-Identifier: BSD-2-Clause
//
// The ledger and the help: what was counted and lost, and how to read all this.

function closing(dialog) {
	const close = button("Close", (event) => {
		event.preventDefault();
		dialog.close();
	});

	return el("form", { method: "dialog" }, close);
}

function ledgerTable(lines) {
	const rows = lines.map(([, text, count]) =>
		el("tr", {}, el("td", {}, text), el("td", {}, GROUPED.format(count)))
	);

	return el("table", {}, el("tbody", {}, ...rows));
}

function ledgerNotes({ ledger, meta }) {
	const notes = [];

	if (meta.was_cut)
		notes.push(
			"The recording was cut short. The page shows what came before."
		);
	if (meta.left_out)
		notes.push(GROUPED.format(meta.left_out) + " are over a limit.");
	if (!ledger.length) notes.push("The source of this page has no ledger.");
	return notes.map((text) => el("p", {}, text));
}

function fillLedger(recording) {
	const dialog = $("ledger");

	dialog.replaceChildren(
		closing(dialog),
		el("h2", { id: "ledger-title" }, "The ledger"),
		el("p", {}, LEDGER_MEANING)
	);
	for (const [group, title, meaning] of LEDGER_GROUPS) {
		const lines = recording.ledger.filter(([of, , n]) => of === group && n);

		if (lines.length)
			dialog.append(
				el("h3", {}, title),
				el("p", {}, meaning),
				ledgerTable(lines)
			);
	}
	dialog.append(...ledgerNotes(recording));
}

// What the button says before it is pressed.
function ledgerWords({ ledger }) {
	const sum = (group) =>
		ledger.reduce((all, line) => all + (line[0] === group ? line[2] : 0), 0);
	const kept = sum("kept");
	const lost = sum("lost");

	if (!kept && !lost) return "Ledger";
	return lost ? percent(lost, kept + lost) + " lost" : "None lost";
}

function keyNames(keys) {
	const names = keys.split(", ").flatMap((key) => [" ", el("kbd", {}, key)]);

	return el("dt", {}, ...names.slice(1));
}

function fillHelp() {
	const dialog = $("help");
	const keys = KEYS.flatMap(([key, text]) => [keyNames(key), el("dd", {}, text)]);

	dialog.replaceChildren(
		closing(dialog),
		el("h2", { id: "help-title" }, "How to read this page")
	);
	for (const [title, text] of HELP)
		dialog.append(el("h3", {}, title), el("p", {}, text));
	dialog.append(el("h3", {}, "Keys"), el("dl", {}, ...keys));
}
