// SPDX-License-Identifier: BSD-2-Clause
#include "obj/dwarf_ref.h"

#include <dwarf.h>

#define ATTR_REFS_MAX 16 /* from a function to where it was declared */

/* The file that the attribute's value leads to, and where in it; NULL: none other. */
static Dwarf *supplementary(const Dwarf_Attribute *attr, Dwarf_Word *ret_at)
{
	Dwarf_Attribute plain = *attr;
	uint8_t bytes = 4;

	if (attr->form == DW_FORM_strp_sup)
		dwarf_cu_info(attr->cu, NULL, NULL, NULL, NULL, NULL, NULL, &bytes);
	else if (attr->form == DW_FORM_ref_sup8)
		bytes = 8;
	/* libdw reads such a number, and no further than its unit */
	plain.form = bytes == 8 ? DW_FORM_data8 : DW_FORM_data4;
	return dwarf_formudata(&plain, ret_at)
		       ? NULL
		       : dwarf_getalt(dwarf_cu_getdwarf(attr->cu));
}

bool dwarf_ref(Dwarf_Attribute *attr, Dwarf_Die *ret)
{
	Dwarf *file;
	Dwarf_Word at;

	if (!attr || (attr->form != DW_FORM_ref_sup4 && attr->form != DW_FORM_ref_sup8))
		return dwarf_formref_die(attr, ret);
	file = supplementary(attr, &at);
	return file && dwarf_offdie(file, at, ret);
}

static bool is_by_index(const Dwarf_Attribute *attr)
{
	return attr->form == DW_FORM_strx || attr->form == DW_FORM_GNU_str_index ||
	       (attr->form >= DW_FORM_strx1 && attr->form <= DW_FORM_strx4);
}

/* Of these libdw 0.188 takes the end of the strings, too, for one; not so by offset. */
static const char *indexed_text(Dwarf_Attribute *attr)
{
	Dwarf *file = dwarf_cu_getdwarf(attr->cu);
	const char *text = dwarf_formstring(attr);
	const char *first = text ? dwarf_getstring(file, 0, NULL) : NULL;

	return first && text >= first
		       ? dwarf_getstring(file, (Dwarf_Off)(text - first), NULL)
		       : NULL;
}

const char *dwarf_ref_text(Dwarf_Attribute *attr)
{
	Dwarf *file;
	Dwarf_Word at;

	if (attr && is_by_index(attr))
		return indexed_text(attr);
	if (!attr || attr->form != DW_FORM_strp_sup)
		return dwarf_formstring(attr);
	file = supplementary(attr, &at);
	return file ? dwarf_getstring(file, at, NULL) : NULL;
}

Dwarf_Attribute *dwarf_ref_attr(Dwarf_Die *die, unsigned int name, Dwarf_Attribute *ret)
{
	Dwarf_Die at = *die;
	Dwarf_Attribute next;

	for (int i = 0; i < ATTR_REFS_MAX; i++) {
		if (dwarf_attr(&at, name, ret))
			return ret;
		if (!dwarf_ref(dwarf_attr(&at, DW_AT_abstract_origin, &next)
				       ?: dwarf_attr(&at, DW_AT_specification, &next),
			       &at))
			break;
	}
	return NULL;
}

const char *dwarf_ref_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	return dwarf_ref_text(dwarf_ref_attr(die, DW_AT_name, &attr));
}
