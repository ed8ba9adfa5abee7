/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attributes that lead elsewhere. libdw (0.188) looks for what lies in a supplementary
 * file of DWARF 5 (dwz -5) at the same place of the file itself, and so finds others;
 * here it is found where it is, or not at all. As dwarf_formref_die() and the others.
 */
#ifndef WEFT_OBJ_DWARF_REF_H
#define WEFT_OBJ_DWARF_REF_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/* attr may be NULL. */
bool dwarf_ref(Dwarf_Attribute *attr, Dwarf_Die *ret);
const char *dwarf_ref_text(Dwarf_Attribute *attr);

/* That of the entry, or of what it was declared as or is an instance of. */
Dwarf_Attribute *dwarf_ref_attr(Dwarf_Die *die, unsigned int name, Dwarf_Attribute *ret);
const char *dwarf_ref_name(Dwarf_Die *die);

#endif
