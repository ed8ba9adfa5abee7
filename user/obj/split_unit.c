// SPDX-License-Identifier: BSD-2-Clause
#include "obj/split_unit.h"

#include "base/error.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#define ADDRESS_BYTES	  8
#define LISTS_HEAD_BYTES  12 /* length, version, two sizes, how many */
#define LISTS_COUNT_AT	  8
#define LIST_OFFSET_BYTES 4

/* As each entry of a list of version 5 goes on: an address, the number of one, or what is
 * counted from another. */
enum operand { NOTHING, ADDRESS, NUMBER, FROM_BASE, FROM_START };

static const struct list_entry {
	enum operand start, end;
} entries[] = {
	[DW_RLE_base_addressx] = { NUMBER, NOTHING },
	[DW_RLE_startx_endx] = { NUMBER, NUMBER },
	[DW_RLE_startx_length] = { NUMBER, FROM_START },
	[DW_RLE_offset_pair] = { FROM_BASE, FROM_BASE },
	[DW_RLE_base_address] = { ADDRESS, NOTHING },
	[DW_RLE_start_end] = { ADDRESS, ADDRESS },
	[DW_RLE_start_length] = { ADDRESS, FROM_START },
};

static size_t left(const struct dwarf_bytes *bytes)
{
	return (size_t)(bytes->end - bytes->at);
}

/* From an offset on; none if it lies behind them. */
static struct dwarf_bytes from(struct dwarf_bytes bytes, uint64_t offset)
{
	if (!bytes.at || offset > left(&bytes))
		return (struct dwarf_bytes){ 0 };
	bytes.at += offset;
	return bytes;
}

/* n bytes, little-endian; false at their end. */
static bool take(struct dwarf_bytes *bytes, size_t n, uint64_t *ret)
{
	uint64_t value = 0;

	if (n > left(bytes))
		return false;
	memcpy(&value, bytes->at, n);
	bytes->at += n;
	*ret = value;
	return true;
}

static bool take_uleb128(struct dwarf_bytes *bytes, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; bytes->at < bytes->end && shift < 64; shift += 7) {
		unsigned char byte = *bytes->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		*ret = value;
		return true;
	}
	return false;
}

static bool address(const struct split_unit *unit, uint64_t number, uint64_t *ret)
{
	struct dwarf_bytes at;

	if (number > left(&unit->addrs) / ADDRESS_BYTES)
		return false;
	at = from(unit->addrs, number * ADDRESS_BYTES);
	return take(&at, ADDRESS_BYTES, ret);
}

/* What stands in the unit's file for an attribute that leads to the program: libdw would
 * follow it, and fail. */
static bool raw_value(const struct split_unit *unit, const Dwarf_Attribute *attr,
		      uint64_t *ret)
{
	struct dwarf_bytes at = { attr->valp, unit->info.end };

	if (at.at < unit->info.at || at.at >= at.end)
		return false;
	switch (attr->form) {
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_rnglistx:
		return take_uleb128(&at, ret);
	case DW_FORM_addrx1:
		return take(&at, 1, ret);
	case DW_FORM_addrx2:
		return take(&at, 2, ret);
	case DW_FORM_addrx3:
		return take(&at, 3, ret);
	case DW_FORM_addrx4:
	case DW_FORM_sec_offset:
		return take(&at, 4, ret);
	default:
		return false;
	}
}

static bool is_constant(const Dwarf_Attribute *attr)
{
	switch (attr->form) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
		return true;
	default:
		return false;
	}
}

static bool one_range(const struct split_unit *unit, Dwarf_Die *die, uint64_t *start,
		      uint64_t *end)
{
	Dwarf_Attribute low, high;
	uint64_t value;
	Dwarf_Word size;

	if (!dwarf_attr(die, DW_AT_low_pc, &low) ||
	    !dwarf_attr(die, DW_AT_high_pc, &high) || !raw_value(unit, &low, &value) ||
	    !address(unit, value, start))
		return false;
	if (is_constant(&high)) {
		if (dwarf_formudata(&high, &size))
			return false;
		*end = *start + size;
		return true;
	}
	return raw_value(unit, &high, &value) && address(unit, value, end);
}

static bool take_operand(const struct split_unit *unit, struct dwarf_bytes *at,
			 enum operand what, uint64_t counted_from, uint64_t *ret)
{
	uint64_t value;

	if (what == NOTHING)
		return true;
	if (what == ADDRESS)
		return take(at, ADDRESS_BYTES, ret);
	if (!take_uleb128(at, &value))
		return false;
	if (what == NUMBER)
		return address(unit, value, ret);
	*ret = counted_from + value;
	return true;
}

static void each_of_list(const struct split_unit *unit, struct dwarf_bytes at,
			 split_range_sink sink, void *arg)
{
	uint64_t base = unit->base, kind, start, end;

	while (take(&at, 1, &kind) && kind && kind < sizeof(entries) / sizeof(*entries)) {
		const struct list_entry *entry = &entries[kind];

		if (!take_operand(unit, &at, entry->start, base, &start) ||
		    !take_operand(unit, &at, entry->end,
				  entry->end == FROM_START ? start : base, &end))
			return;
		if (entry->end == NOTHING)
			base = start;
		else
			sink(arg, start, end);
	}
}

/* Of version 4: pairs, up to one of zeroes; behind ~0 a new base. */
static void each_of_pairs(const struct split_unit *unit, struct dwarf_bytes at,
			  split_range_sink sink, void *arg)
{
	uint64_t base = unit->base, start, end;

	while (take(&at, ADDRESS_BYTES, &start) && take(&at, ADDRESS_BYTES, &end) &&
	       (start || end)) {
		if (start == UINT64_MAX)
			base = end;
		else
			sink(arg, base + start, base + end);
	}
}

static bool find_list(const struct split_unit *unit, const Dwarf_Attribute *attr,
		      struct dwarf_bytes *ret)
{
	uint64_t value;

	if (!raw_value(unit, attr, &value))
		return false;
	if (attr->form != DW_FORM_rnglistx) {
		*ret = from(unit->lists, value);
		return true;
	}
	if (value >= left(&unit->starts) / LIST_OFFSET_BYTES)
		return false;
	*ret = from(unit->starts, value * LIST_OFFSET_BYTES);
	if (!take(ret, LIST_OFFSET_BYTES, &value))
		return false;
	*ret = from((struct dwarf_bytes){ unit->starts.at, unit->lists.end }, value);
	return true;
}

void split_unit_ranges(const struct split_unit *unit, Dwarf_Die *die,
		       split_range_sink sink, void *arg)
{
	struct dwarf_bytes list;
	Dwarf_Attribute attr;
	uint64_t start, end;

	if (one_range(unit, die, &start, &end))
		sink(arg, start, end);
	else if (dwarf_attr(die, DW_AT_ranges, &attr) && find_list(unit, &attr, &list)) {
		if (unit->starts.at)
			each_of_list(unit, list, sink, arg);
		else
			each_of_pairs(unit, list, sink, arg);
	}
}

static uint64_t base_of(Dwarf_Die *skeleton, unsigned int name, unsigned int gnu_name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr(skeleton, name, &attr)
				    ?: dwarf_attr(skeleton, gnu_name, &attr),
			    &value))
		return 0;
	return value;
}

/* Where the unit's own lists of version 5 are; its file has no other's. */
static void find_own_lists(struct split_unit *unit)
{
	struct dwarf_bytes head;
	uint64_t n = 0;

	unit->lists = dwarf_file_section(&unit->file, ".debug_rnglists.dwo");
	unit->starts = from(unit->lists, LISTS_HEAD_BYTES);
	head = from(unit->lists, LISTS_COUNT_AT);
	if (take(&head, 4, &n) && n < left(&unit->starts) / LIST_OFFSET_BYTES)
		unit->starts.end = unit->starts.at + n * LIST_OFFSET_BYTES;
}

bool split_unit_is_skeleton(Dwarf_Die *unit, uint64_t *ret_id)
{
	uint8_t type;

	return !dwarf_cu_info(unit->cu, NULL, &type, NULL, NULL, ret_id, NULL, NULL) &&
	       type == DW_UT_skeleton;
}

static bool find_unit(struct split_unit *unit, uint64_t id)
{
	Dwarf_CU *at = NULL;
	uint64_t its_id;
	uint8_t type;

	while (!dwarf_get_units(unit->file.dwarf, at, &at, NULL, &type, &unit->die, NULL))
		if (type == DW_UT_split_compile &&
		    !dwarf_cu_info(at, NULL, NULL, NULL, NULL, &its_id, NULL, NULL) &&
		    its_id == id)
			return true;
	return false;
}

int split_unit_open(struct split_unit *unit, int fd, const struct dwarf_file *program,
		    Dwarf_Die *skeleton)
{
	Dwarf_Half version = 0;
	uint8_t address_bytes = 0;
	Dwarf_Addr low;
	uint64_t id;
	int err;

	if (!split_unit_is_skeleton(skeleton, &id))
		return fail(-EBADMSG, "a unit names no .dwo file");
	err = dwarf_file_open_split(&unit->file, fd, id);
	if (err)
		return err;
	if (!unit->file.dwarf || !find_unit(unit, id))
		return fail(-EBADMSG, "a .dwo file is of another unit");
	dwarf_cu_info(unit->die.cu, &version, NULL, NULL, NULL, NULL, &address_bytes,
		      NULL);
	if (address_bytes != ADDRESS_BYTES)
		return fail(-EBADMSG, "a .dwo file is of another machine");
	unit->base = dwarf_lowpc(skeleton, &low) ? 0 : low;
	unit->info = dwarf_file_section(&unit->file, ".debug_info.dwo");
	unit->addrs = from(dwarf_file_section(program, ".debug_addr"),
			   base_of(skeleton, DW_AT_addr_base, DW_AT_GNU_addr_base));
	if (version >= 5)
		find_own_lists(unit);
	else
		unit->lists = from(
			dwarf_file_section(program, ".debug_ranges"),
			base_of(skeleton, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base));
	return 0;
}

void split_unit_close(struct split_unit *unit)
{
	dwarf_file_close(&unit->file);
}
