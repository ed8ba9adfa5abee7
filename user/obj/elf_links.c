// SPDX-License-Identifier: BSD-2-Clause
#include "obj/elf_links.h"

#include "base/error.h"
#include "obj/build_id.h"
#include "obj/elf_note.h"
#include "obj/elf_pieces.h"
#include "obj/elf_section.h"
#include "obj/names.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#define SUP_HEAD_BYTES 3

/* A name, its NUL, zeroes up to a multiple of four, the CRC. */
static int read_debuglink(struct elf_file *file, size_t index, name_sink sink, void *arg)
{
	char bytes[ELF_LINK_BYTES + 8] = "";
	const Elf64_Shdr *sh;
	uint32_t crc;
	size_t n;
	int err = elf_section_find(file, ".gnu_debuglink", &sh);

	if (err || !sh || sh->sh_size > sizeof(bytes))
		return err;
	err = elf_file_read(file, sh->sh_offset, bytes, sh->sh_size);
	if (err)
		return err;
	n = strnlen(bytes, ELF_LINK_BYTES);
	if (!n || n == ELF_LINK_BYTES || strchr(bytes, '/') || !strcmp(bytes, "..") ||
	    !strcmp(bytes, ".") || (n / 4 + 1) * 4 + sizeof(crc) > sh->sh_size)
		return 0;
	memcpy(&crc, bytes + (n / 4 + 1) * 4, sizeof(crc));
	return sink(arg, index, bytes, crc);
}

struct alternate {
	char name[ELF_LINK_BYTES];
	struct build_id id;
};

/* A section's bytes, of which there are few; *ret_n is 0 if there is no such section. */
static int read_small(struct elf_file *file, const char *name, char *bytes, size_t most,
		      size_t *ret_n)
{
	const Elf64_Shdr *sh;
	int err = elf_section_find(file, name, &sh);

	*ret_n = 0;
	if (err || !sh || sh->sh_size > most)
		return err;
	err = elf_file_read(file, sh->sh_offset, bytes, sh->sh_size);
	*ret_n = err ? 0 : sh->sh_size;
	return err;
}

static void set_alternate(struct alternate *ret, const char *name, const char *id,
			  size_t id_bytes)
{
	if (id_bytes > BUILD_ID_MAX)
		return;
	strcpy(ret->name, name);
	ret->id.bytes = (uint32_t)id_bytes;
	memcpy(ret->id.id, id, id_bytes);
}

/* A name, its NUL, a build id. */
static int read_gnu_alternate(struct elf_file *file, struct alternate *ret)
{
	char bytes[ELF_LINK_BYTES + BUILD_ID_MAX];
	size_t all, n;
	int err = read_small(file, ".gnu_debugaltlink", bytes, sizeof(bytes), &all);

	n = strnlen(bytes, all);
	if (!err && n < ELF_LINK_BYTES && n < all)
		set_alternate(ret, bytes, bytes + n + 1, all - n - 1);
	return err;
}

/* Of DWARF 5 (7.3.6): version, whether it is the alternate file itself, that one's name,
 * its NUL, how long the identity is, that. */
static int read_sup(struct elf_file *file, bool is_alternate, struct alternate *ret)
{
	static const char version[] = { 5, 0 };
	char bytes[SUP_HEAD_BYTES + ELF_LINK_BYTES + 1 + BUILD_ID_MAX];
	const char *name = bytes + SUP_HEAD_BYTES;
	size_t all, n;
	int err = read_small(file, ".debug_sup", bytes, sizeof(bytes), &all);

	if (err || all < SUP_HEAD_BYTES || memcmp(bytes, version, sizeof(version)) != 0 ||
	    bytes[SUP_HEAD_BYTES - 1] != is_alternate)
		return err;
	all -= SUP_HEAD_BYTES;
	n = strnlen(name, all);
	if (n < ELF_LINK_BYTES && all - n >= 2 &&
	    (unsigned char)name[n + 1] == all - n - 2)
		set_alternate(ret, name, name + n + 2, all - n - 2);
	return 0;
}

static int find_alternate(struct elf_file *file, struct alternate *ret)
{
	int err;

	*ret = (struct alternate){ 0 };
	err = read_gnu_alternate(file, ret);
	return err || ret->id.bytes ? err : read_sup(file, false, ret);
}

static int read_alternate(struct elf_file *file, size_t index, name_sink sink, void *arg)
{
	struct alternate alternate;
	int err = find_alternate(file, &alternate);
	const char *part = strstr(alternate.name, ELF_LINK_DWZ);

	if (err || !part || strstr(part, ".."))
		return err;
	return sink(arg, index, part, 0);
}

static int read_alternate_id(struct elf_file *file, size_t index, name_sink sink,
			     void *arg)
{
	struct alternate alternate;
	char hex[BUILD_ID_HEX];
	int err = find_alternate(file, &alternate);

	if (err || !build_id_is_there(&alternate.id))
		return err;
	return sink(arg, index, build_id_hex(&alternate.id, hex), 0);
}

int elf_links(int fd, const uint64_t *addrs, size_t n, name_sink sink, void *arg)
{
	AUTO_ELF file = { 0 };
	static int (*const read[])(struct elf_file *, size_t, name_sink, void *) = {
		[ELF_LINK_DEBUG] = read_debuglink,
		[ELF_LINK_ALTERNATE] = read_alternate,
		[ELF_LINK_ALTERNATE_ID] = read_alternate_id,
	};
	int err = elf_file_open(&file, fd);

	for (size_t i = 0; err >= 0 && i < n; i++)
		if (addrs[i] < N_ELF_LINKS)
			err = read[addrs[i]](&file, i, sink, arg);
	return err < 0 ? err : 0;
}

struct compared {
	const struct elf_identity *wanted;
	bool has_build_id, is_same;
};

static void compare_id(struct compared *compared, const void *id, uint32_t n)
{
	const struct elf_identity *wanted = compared->wanted;

	compared->has_build_id = true;
	compared->is_same =
		n && n == wanted->build_id_bytes && !memcmp(id, wanted->build_id, n);
}

static void compare_note(void *arg, const struct elf_note *note)
{
	struct compared *compared = arg;
	uint32_t n = note->desc_bytes < BUILD_ID_MAX ? note->desc_bytes : BUILD_ID_MAX;

	if (compared->has_build_id || !elf_note_is(note, "GNU", NT_GNU_BUILD_ID))
		return;
	compare_id(compared, note->desc, n);
}

/* An alternate file of DWARF 5 has another identity, and no build id. */
static int compare_sup(struct elf_file *file, struct compared *compared)
{
	struct alternate its = { 0 };
	int err = read_sup(file, true, &its);

	if (!err && its.id.bytes)
		compare_id(compared, its.id.id, its.id.bytes);
	return err;
}

/* That of a debug file is where its section says, since its segments hold no bytes. */
static int compare_build_id(struct elf_file *file, struct compared *compared)
{
	const Elf64_Shdr *sh;
	int err = elf_section_find(file, ".note.gnu.build-id", &sh);

	if (!err && sh)
		err = elf_note_section(file, sh, compare_note, compared);
	if (!err && !compared->has_build_id)
		err = elf_note_each(file, compare_note, compared);
	return err || compared->has_build_id ? err : compare_sup(file, compared);
}

static int compare_crc(struct elf_file *file, struct compared *compared)
{
	AUTO(elf_pieces) pieces = NULL;
	uLong crc = crc32(0, NULL, 0);
	int err = elf_pieces_new(&pieces, file);

	if (err)
		return err;
	elf_pieces_begin(pieces, 0, file->bytes);
	while ((err = elf_pieces_next(pieces, 0)) > 0)
		crc = crc32(crc, pieces->bytes, (uInt)pieces->n);
	compared->is_same = !err && crc == compared->wanted->crc;
	return err;
}

int elf_same(int fd, const uint64_t *words, size_t n, name_sink sink, void *arg)
{
	AUTO_ELF file = { 0 };
	struct elf_identity wanted;
	struct compared compared = { .wanted = &wanted };
	int err;

	if (n != ELF_IDENTITY_WORDS)
		return fail(-EINVAL, "no identity of a file");
	memcpy(&wanted, words, sizeof(wanted));
	err = elf_file_open(&file, fd);
	if (!err && wanted.build_id_bytes)
		err = compare_build_id(&file, &compared);
	if (!err && !compared.has_build_id && wanted.has_crc)
		err = compare_crc(&file, &compared);
	if (err || !compared.is_same)
		return err;
	err = sink(arg, 0, "same", 0);
	return err < 0 ? err : 0;
}
