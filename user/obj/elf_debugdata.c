// SPDX-License-Identifier: BSD-2-Clause
#include "obj/elf_debugdata.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "obj/elf_section.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#define SECTION	       ".gnu_debugdata"
#define UNPACKED_FIRST (1u << 20)
#define DECODER_MEMORY (80u << 20) /* xz -9 takes 65 MB */

static void decoder_end(lzma_stream *decoder)
{
	lzma_end(decoder);
}

/* Room for more of what comes out. */
static int grow(struct elf_debugdata *data, lzma_stream *decoder)
{
	size_t room = data->n ? 2 * data->n : UNPACKED_FIRST;
	unsigned char *bytes;

	if (room > ELF_UNPACKED_MAX)
		return fail(-EFBIG, SECTION " unpacks to more than %u bytes",
			    ELF_UNPACKED_MAX);
	bytes = realloc(data->bytes, room);
	if (!bytes)
		return fail(-ENOMEM, "no memory for " SECTION);
	data->bytes = bytes;
	decoder->next_out = bytes + data->n;
	decoder->avail_out = room - data->n;
	data->n = room;
	return 0;
}

static int unpack(const unsigned char *packed, size_t n, struct elf_debugdata *data)
{
	__attribute__((cleanup(decoder_end))) lzma_stream decoder = LZMA_STREAM_INIT;
	lzma_ret status = lzma_stream_decoder(&decoder, DECODER_MEMORY, 0);
	int err = 0;

	decoder.next_in = packed;
	decoder.avail_in = n;
	while (!err && status == LZMA_OK) {
		if (!decoder.avail_out)
			err = grow(data, &decoder);
		if (!err)
			status = lzma_code(&decoder, LZMA_FINISH);
	}
	data->n -= decoder.avail_out;
	if (err)
		return err;
	if (status == LZMA_MEM_ERROR)
		return fail(-ENOMEM, "no memory for " SECTION);
	if (status == LZMA_MEMLIMIT_ERROR)
		return fail(-EFBIG, SECTION " takes too much memory to unpack");
	return status == LZMA_STREAM_END ? 0 : fail(-EBADMSG, SECTION " is damaged");
}

static int read_section(struct elf_file *file, const Elf64_Shdr *sh,
			struct elf_debugdata *data)
{
	AUTO_FREE unsigned char *packed = NULL;
	int err;

	if (sh->sh_size > ELF_PACKED_MAX)
		return fail(-EFBIG, SECTION " has more than %u bytes", ELF_PACKED_MAX);
	packed = malloc(sh->sh_size + 1);
	if (!packed)
		return fail(-ENOMEM, "no memory for " SECTION);
	err = elf_file_read(file, sh->sh_offset, packed, sh->sh_size);
	return err ? err : unpack(packed, sh->sh_size, data);
}

static int open_inner(const struct elf_file *file, struct elf_debugdata *data)
{
	int err = elf_file_open_memory(&data->file, data->bytes, data->n);

	if (err == -ENOMEM)
		return err;
	if (err)
		return fail(-EBADMSG, SECTION " holds no ELF file");
	if (data->file.header.e_machine != file->header.e_machine ||
	    data->file.header.e_type != file->header.e_type)
		return fail(-EBADMSG, SECTION " is another kind of file's");
	return 0;
}

int elf_debugdata_open(struct elf_file *file, struct elf_debugdata *ret)
{
	AUTO_DEBUGDATA data = { 0 };
	const Elf64_Shdr *sh;
	int err = elf_section_find(file, SECTION, &sh);

	*ret = (struct elf_debugdata){ 0 };
	if (err || !sh)
		return err;
	err = read_section(file, sh, &data);
	if (!err)
		err = open_inner(file, &data);
	if (err)
		return err;
	*ret = data;
	data = (struct elf_debugdata){ 0 };
	return 0;
}

void elf_debugdata_close(struct elf_debugdata *data)
{
	elf_file_close(&data->file);
	free(data->bytes);
	*data = (struct elf_debugdata){ 0 };
}
