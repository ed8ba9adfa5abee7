// SPDX-License-Identifier: BSD-2-Clause
/*
 * A name put together here looks as the demangler's, but for what debug information
 * does not tell: no parameters of a function that something lies in, and a lambda is
 * f::<lambda:12>::operator(), by its line, for f()::{lambda(int)#1}::operator(): what
 * number it got, and of which, is lost.
 *
 * libdw knows no parents, and dwarf_getscopes_die() goes through the unit each time,
 * and as deep as the file has it. Link-time optimization leaves what was inlined in
 * other units than where, so that those of several are kept.
 */
#include "obj/inline_name.h"

#include "base/search.h"
#include "obj/demangle.h"
#include "obj/dwarf_ref.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define REFS_MAX    16		     /* from a function to where it was declared */
#define PARTS_MAX   INLINE_DEPTH_MAX /* of a name: it can't lie deeper */
#define HOMES_MAX   (1u << 20)	     /* of the units that are kept */
#define UNITS_MAX   1024	     /* that are kept */
#define STEPS_MAX   (16u << 20)	     /* for all of a file; names are plain from then on */
#define LANG_CPP_17 0x2b	     /* libdw 0.188 lacks their names */
#define LANG_CPP_20 0x2c

struct part {
	const char *name;
	uint32_t lambda_line; /* 0: no lambda, or one without */
};

void inline_names_free(struct inline_names *names)
{
	vec_free(&names->homes);
	vec_free(&names->units);
}

void inline_names_forget(struct inline_names *names)
{
	names->homes.n = names->units.n = names->last = 0;
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	return dwarf_ref_text(
		dwarf_ref_attr(die, DW_AT_linkage_name, &attr)
			?: dwarf_ref_attr(die, DW_AT_MIPS_linkage_name, &attr));
}

/* dwarf_srclang() would open a split unit. */
static bool is_cpp(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word language;
	Dwarf_Die unit;

	if (!dwarf_diecu(die, &unit, NULL, NULL) ||
	    dwarf_formudata(dwarf_attr(&unit, DW_AT_language, &attr), &language))
		return false;
	switch (language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case DW_LANG_ObjC_plus_plus:
	case LANG_CPP_17:
	case LANG_CPP_20:
		return true;
	default:
		return false;
	}
}

static int note_children(struct inline_names *names, Dwarf_Die *of, Dwarf_Off home,
			 unsigned int depth);

static int note(struct inline_names *names, Dwarf_Die *die, Dwarf_Off home,
		unsigned int depth)
{
	Dwarf_Off at = dwarf_dieoffset(die);
	int err;

	switch (dwarf_tag(die)) {
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return note_children(names, die, home, depth);
	case DW_TAG_subprogram:
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		err = vec_push(&names->homes, ((struct inline_home){ at, home }));
		return err ? err : note_children(names, die, at, depth);
	default:
		return 0;
	}
}

static int note_children(struct inline_names *names, Dwarf_Die *of, Dwarf_Off home,
			 unsigned int depth)
{
	Dwarf_Die die;
	int err = 0;

	if (depth == INLINE_DEPTH_MAX || dwarf_child(of, &die))
		return 0;
	while (names->steps < STEPS_MAX && names->homes.n < HOMES_MAX) {
		Dwarf_Off before = dwarf_dieoffset(&die);

		names->steps++;
		err = note(names, &die, home, depth + 1);
		/* one that is its own sibling would keep us here */
		if (err || dwarf_siblingof(&die, &die) || dwarf_dieoffset(&die) <= before)
			break;
	}
	return err;
}

static bool is_unit(const struct inline_unit *a, const struct inline_unit *b)
{
	return a->file == b->file && a->at == b->at;
}

/* Makes the unit names->last. */
static int find_unit(struct inline_names *names, Dwarf_Die *unit)
{
	struct inline_unit found = { .file = dwarf_cu_getdwarf(unit->cu),
				     .at = dwarf_dieoffset(unit) };
	int err;

	if (names->last < names->units.n &&
	    is_unit(&names->units.items[names->last], &found))
		return 0;
	for (names->last = 0; names->last < names->units.n; names->last++)
		if (is_unit(&names->units.items[names->last], &found))
			return 0;
	if (names->units.n == UNITS_MAX || names->homes.n >= HOMES_MAX / 2)
		names->units.n = names->homes.n = 0;
	names->last = names->units.n;
	found.first = names->homes.n;
	err = vec_push(&names->units, found);
	if (!err)
		err = note_children(names, unit, 0, 0);
	if (!err)
		names->units.items[names->last].n =
			names->homes.n - names->units.items[names->last].first;
	return err;
}

/* 0: *ret is what it lies in; 1: nothing that has a name; or an error. */
static int find_home(struct inline_names *names, Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Off offset = dwarf_dieoffset(die);
	const struct inline_home *home;
	const struct inline_unit *found;
	size_t at;
	Dwarf_Die unit;
	uint8_t type;
	int err;

	/* offsets of type units may be another section's */
	if (!dwarf_diecu(die, &unit, NULL, NULL) ||
	    dwarf_cu_info(die->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) ||
	    type == DW_UT_type || type == DW_UT_split_type)
		return 1;
	err = find_unit(names, &unit);
	if (err)
		return err;
	found = &names->units.items[names->last];
	at = found->first +
	     LOWER_BOUND(found->n, i, names->homes.items[found->first + i].at < offset);
	if (at == found->first + found->n)
		return 1;
	home = &names->homes.items[at];
	if (home->at != offset || !home->in)
		return 1;
	return !dwarf_offdie(dwarf_cu_getdwarf(die->cu), home->in, ret);
}

/* From a function to its abstract instance, and from there into its class. */
static Dwarf_Die declaration(Dwarf_Die die)
{
	Dwarf_Attribute attr;
	Dwarf_Die next;

	for (int i = 0; i < REFS_MAX; i++) {
		if (!dwarf_ref(dwarf_attr(&die, DW_AT_specification, &attr)
				       ?: dwarf_attr(&die, DW_AT_abstract_origin, &attr),
			       &next))
			break;
		die = next;
	}
	return die;
}

/* A lambda has no name, and its operator is no one's source. */
static bool is_lambda(Dwarf_Die *member)
{
	const char *name = dwarf_ref_name(member);
	Dwarf_Attribute attr;

	return name && !strncmp(name, "operator()", 10) &&
	       dwarf_ref_attr(member, DW_AT_artificial, &attr);
}

static struct part part_of(Dwarf_Die *die, Dwarf_Die *member)
{
	const char *name = dwarf_ref_name(die);
	Dwarf_Attribute attr;
	Dwarf_Word line;

	if (name)
		return (struct part){ .name = name };
	if (dwarf_tag(die) == DW_TAG_namespace)
		return (struct part){ .name = "(anonymous namespace)" };
	if (!is_lambda(member))
		return (struct part){ .name = "{unnamed type}" };
	if (dwarf_formudata(dwarf_ref_attr(die, DW_AT_decl_line, &attr), &line) ||
	    line > INT32_MAX)
		line = 0;
	return (struct part){ .name = "<lambda>", .lambda_line = (uint32_t)line };
}

/* The innermost first; *n of them. */
static int find_parts(struct inline_names *names, Dwarf_Die *die, struct part *parts,
		      size_t *n)
{
	Dwarf_Die home, at = declaration(*die);
	int err;

	while (*n < PARTS_MAX) {
		err = find_home(names, &at, &home);
		if (err)
			return err < 0 ? err : 0;
		parts[*n].name = linkage_name(&home);
		if (parts[(*n)++].name) /* which says all of it */
			return 0;
		parts[*n - 1] = part_of(&home, &at);
		at = declaration(home);
	}
	return 0;
}

static void add(struct str *out, const struct part *part)
{
	if (part->lambda_line)
		str_addf(out, "<lambda:%u>", part->lambda_line);
	else
		demangle(out, part->name, strlen(part->name));
}

int inline_name(struct inline_names *names, Dwarf_Die *die, struct str *out)
{
	struct part parts[PARTS_MAX] = { { .name = linkage_name(die) } };
	size_t n = 1, from = out->n;
	int err;

	if (!parts[0].name) {
		parts[0].name = dwarf_ref_name(die);
		if (!parts[0].name)
			return 1;
		err = is_cpp(die) ? find_parts(names, die, parts, &n) : 0;
		if (err)
			return err;
	}
	while (n--) {
		add(out, &parts[n]);
		if (n)
			str_add(out, "::");
	}
	name_bound(out, from);
	return out->failed ? str_error(out) : out->n == from;
}
