// SPDX-License-Identifier: BSD-2-Clause
//
// What colour a frame has: by its module, its kind or its package. The largest
// groups get a colour each, in the order of their weight in the whole recording,
// so that a filter changes no colour; the rest shares one. The colours differ for
// people who don't tell red from green, or blue from yellow, as well (a test
// looks at them through their eyes), and marks have a pattern besides.

const PALETTE = {
	light: [
		"#90c0ed",
		"#f4d775",
		"#4ea59c",
		"#fa9f76",
		"#a396e1",
		"#b19d3b",
		"#f9b8bc",
	],
	dark: [
		"#4270a3",
		"#83660b",
		"#2f6c52",
		"#8a420f",
		"#6b4c8e",
		"#504530",
		"#9e5771",
	],
};
const KERNEL_COLOUR = { light: "#bfd1e1", dark: "#425564" };
const OTHER_COLOUR = { light: "#eae3da", dark: "#313037" };
const LABEL_COLOUR = { light: "#f0ede6", dark: "#23272e" };
// Before the names of groups that are no module's or package's: a program may be
// called "label".
const APART = "\u0000";
const KIND_WORDS = {
	[UNKNOWN]: "not known",
	[NATIVE]: "native",
	[KERNEL]: "kernel",
	[JIT]: "generated (JIT)",
	[INLINED]: "inlined",
	[ASKED]: "async boundary",
	[WAITS]: "async boundary",
	[OTHER_THREAD]: "async boundary",
	[GAP]: "missing frames",
	[CUT]: "cut stack",
	[LABEL]: "label",
	[RESUMED]: "fiber boundary",
};

// ns::Class::f<T>(…) -> ns; a/b/pkg.(*T).f -> a/b/pkg; com.acme.X.f -> com.acme
function packageOf(name, module) {
	const bare = name.replace(/[<(].*$/, "");
	const colons = bare.indexOf("::"),
		slash = bare.lastIndexOf("/");

	if (colons > 0) return bare.slice(0, colons).replace(/^.*[\s*&]/, "") || module;
	if (slash >= 0 || /^[a-z]\w*\.\w/.test(bare)) {
		const dot = bare.indexOf(".", slash + 1),
			parts = bare.split(".");

		if (slash < 0 && parts.length > 3) return parts.slice(0, -2).join(".");
		return dot > 0 ? bare.slice(0, dot) : bare;
	}
	return module;
}

const isApart = (name, ending) => name.startsWith(APART) && name.endsWith(ending);

class Colours {
	constructor(recording, by) {
		this.recording = recording;
		this.by = by;
		this.of_frame = new Int32Array(recording.n_frames);
		this.groups = [];
		this.chooseGroups();
	}

	groupName(frame) {
		const { kind, modules, module, names } = this.recording,
			k = kind[frame];
		const of = modules[module[frame]];

		if (k === LABEL || k === KERNEL || isBoundary(k))
			return APART + KIND_WORDS[k];
		if (k >= ASKED) return APART + "missing frames";
		if (this.by === "kind") return KIND_WORDS[k];
		if (this.by === "package")
			return packageOf(names[frame], of.name) || "not known";
		return of.name || "not known";
	}

	// Groups by weight at the leaves; 0 is all that are too many for a colour.
	chooseGroups() {
		const { recording: r } = this,
			weights = new Map(),
			named = [];
		const leaf = selfOfFrames(r);

		for (let f = 0; f < r.n_frames; f++) {
			const name = this.groupName(f);

			named.push(name);
			weights.set(name, (weights.get(name) || 0) + leaf[f]);
		}
		const special = [
			"async boundary",
			"fiber boundary",
			"missing frames",
			"kernel",
			"label",
		].map((name) => APART + name);
		const list = [...weights.keys()]
			.filter((name) => !special.includes(name))
			.sort(
				(a, b) =>
					weights.get(b) - weights.get(a) ||
					(a < b ? -1 : 1)
			);
		const ids = new Map(
			list
				.slice(0, PALETTE.light.length)
				.map((name, i) => [name, i + 1])
		);
		this.groups = ["everything else", ...ids.keys()];
		for (const name of special)
			if (weights.has(name)) ids.set(name, this.groups.push(name) - 1);
		this.has_other = list.length > PALETTE.light.length;
		named.forEach((name, f) => {
			this.of_frame[f] = ids.get(name) || 0;
		});
	}

	// Colours and letters for the theme, by group; the last is for labels.
	fills(theme) {
		const fills = this.groups.map((name, i) => PALETTE[theme][i - 1]);

		fills[0] = OTHER_COLOUR[theme];
		this.groups.forEach((name, i) => {
			if (name === APART + "kernel") fills[i] = KERNEL_COLOUR[theme];
			if (name === APART + "label") fills[i] = LABEL_COLOUR[theme];
			if (name === APART + "missing frames")
				fills[i] = OTHER_COLOUR[theme];
			if (isApart(name, " boundary"))
				fills[i] = theme === "dark" ? "#b79bea" : "#5b3a8c";
		});
		fills.push(LABEL_COLOUR[theme]);
		return fills;
	}

	group(frame) {
		return frame < this.of_frame.length && frame >= 0
			? this.of_frame[frame]
			: this.groups.length;
	}

	// What each group weighs at the leaves of a tree, and which are in it at all.
	shares(tree) {
		const shares = new Float64Array(this.groups.length + 1);
		const seen = new Uint8Array(this.groups.length + 1);

		for (let i = 1; i < tree.n; i++)
			if (tree.total[i]) {
				const group = this.group(tree.frame[i]);

				seen[group] = 1;
				shares[group] += tree.self[i];
			}
		return { shares, seen };
	}
}

// What each frame weighs as a leaf of a thread, over the whole recording.
function selfOfFrames(r) {
	const of_use = new Float64Array(r.n_uses),
		self = new Float64Array(r.n_frames);

	for (let i = 0; i < r.n_samples; i++) of_use[r.use[i]] += r.weight[i];
	for (let u = 0; u < r.n_uses; u++) {
		const frame = r.frame[r.stacks[2 * r.stack_of[u] + 1]];

		if (frame >= 0) self[frame] += of_use[u];
	}
	return self;
}
