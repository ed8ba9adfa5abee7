// SPDX-License-Identifier: BSD-2-Clause
/* Common and individual entries: how .eh_frame and .debug_frame begin each. */
#include "unwind/cfi_parts.h"

#define LONG_LENGTH	 0xffffffffu
#define AUGMENTATION_MAX 16 /* of an augmentation */

struct cfi_record cfi_record_next(const struct cfi_section *section,
				  struct cfi_cursor *in)
{
	struct cfi_record record = { .kind = CFI_BAD };
	uint64_t length = cfi_fixed(in, 4), mark, place;
	bool is_long = length == LONG_LENGTH;
	size_t mark_bytes = is_long ? 8 : 4;

	if (is_long)
		length = cfi_fixed(in, 8);
	if (!length && !in->bad) {
		record.kind = CFI_PADDING;
		return record;
	}
	if (length > cfi_left(in)) {
		cfi_mark_bad(in);
		return record;
	}
	record.body = (struct cfi_cursor){ .at = in->at, .end = in->at + length };
	in->at += length;
	place = (uint64_t)(record.body.at - section->bytes);
	mark = cfi_fixed(&record.body, mark_bytes);
	if (record.body.bad)
		return record;
	if (mark == (section->is_eh ? 0 : is_long ? UINT64_MAX : LONG_LENGTH)) {
		record.kind = CFI_CIE;
		return record;
	}
	record.kind = CFI_FDE;
	record.cie = section->is_eh ? place - mark : mark;
	return record;
}

/* What the letters behind z say; P is of use to nobody here. */
static bool read_letters(const struct cfi_section *section, const char *letters,
			 struct cfi_cursor *in, struct cfi_cie *cie)
{
	for (; *letters; letters++) {
		uint8_t encoding;

		switch (*letters) {
		case 'R':
			cie->pointers = cfi_u8(in);
			break;
		case 'L':
			cfi_u8(in);
			break;
		case 'P':
			encoding = cfi_u8(in);
			if ((encoding & 0x70) == CFI_PTR_ALIGNED)
				cfi_pointer(section, in, CFI_PTR_ALIGNED);
			else
				cfi_pointer_value(in, encoding);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B': /* arm64: return addresses are signed with key B */
		case 'G': /* arm64: stack memory is tagged */
			break;
		default:
			return false;
		}
	}
	return !in->bad;
}

static bool read_augmentation(const struct cfi_section *section, const char *letters,
			      struct cfi_cursor *in, struct cfi_cie *cie)
{
	struct cfi_cursor data;
	uint64_t n;

	if (!*letters || !strcmp(letters, "eh")) /* eh: its word is skipped */
		return true;
	if (*letters != 'z')
		return false;
	cie->is_augmented = true;
	n = cfi_uleb(in);
	if (n > cfi_left(in))
		return false;
	data = (struct cfi_cursor){ .at = in->at, .end = in->at + n };
	in->at += n;
	return read_letters(section, letters + 1, &data, cie);
}

bool cfi_cie_read(const struct cfi_section *section, uint64_t offset, struct cfi_cie *ret)
{
	struct cfi_cursor in = { .at = section->bytes,
				 .end = section->bytes + section->n };
	struct cfi_cie cie = { .offset = offset };
	struct cfi_record record;
	const char *letters;
	uint8_t version;
	size_t room;

	cfi_skip(&in, offset);
	record = cfi_record_next(section, &in);
	if (record.kind != CFI_CIE)
		return false;
	in = record.body;
	version = cfi_u8(&in);
	letters = (const char *)in.at;
	room = cfi_left(&in) < AUGMENTATION_MAX ? cfi_left(&in) : AUGMENTATION_MAX;
	if ((version != 1 && version != 3 && version != 4) ||
	    !memchr(letters, '\0', room))
		return false;
	in.at += strlen(letters) + 1;
	if (!strcmp(letters, "eh"))
		cfi_skip(&in, 8);
	if (version == 4 && (cfi_u8(&in) != 8 || cfi_u8(&in) != 0))
		return false; /* sizes of an address, of a segment's number */
	cie.code_align = cfi_uleb(&in);
	cie.data_align = cfi_sleb(&in);
	cie.ra = version == 1 ? cfi_u8(&in) : cfi_uleb(&in);
	if (!read_augmentation(section, letters, &in, &cie) || in.bad)
		return false;
	cie.code = in;
	*ret = cie;
	return true;
}

bool cfi_fde_read(const struct cfi_section *section, const struct cfi_record *record,
		  const struct cfi_cie *cie, struct cfi_fde *ret)
{
	struct cfi_cursor in = record->body;
	uint64_t n;

	ret->cie = record->cie;
	ret->begin = cfi_pointer(section, &in, cie->pointers);
	n = cfi_pointer_value(&in, cie->pointers);
	ret->end = ret->begin + n;
	if (cie->is_augmented)
		cfi_skip(&in, cfi_uleb(&in));
	ret->code = in;
	return !in.bad && ret->end >= ret->begin;
}
