// SPDX-License-Identifier: BSD-2-Clause
#include "cli/process_text.h"

#include "record/keyless.h"
#include "shared/async_abi.h"

#include <errno.h>
#include <inttypes.h>

static const char *const libc_names[] = {
	[LIBC_UNKNOWN] = "unknown",
	[LIBC_GLIBC] = "glibc",
	[LIBC_MUSL] = "musl",
};

static bool keeps_fp(const struct doctor_file *file)
{
	return file->head.flags & UNWIND_KEEPS_FP;
}

static unsigned long table_bytes(const struct doctor_file *file)
{
	return (unsigned long)file->head.n_pages * UNWIND_PAGE_BYTES;
}

static void add_file(struct str *out, const struct doctor_file *file)
{
	if (!file->table_err)
		str_addf(out, "    %9u %6lu KB %11u  %-8s", file->stats.n_rows,
			 table_bytes(file) / 1024,
			 file->stats.rows[UNWIND_CFA_UNSUPPORTED],
			 keeps_fp(file) ? "kept" : "not kept");
	else
		str_addf(out, "    %-40s",
			 !file->readable		 ? "can't be read"
			 : file->table_err == -ENODATA	 ? "none"
			 : file->table_err == -ETIMEDOUT ? "not ready in time"
							 : "can't be made");
	str_addf(out, "  %s\n", file->path);
}

static void add_key(struct str *out, const struct doctor_key *key)
{
	str_addf(out, "  key      %s at 0x%" PRIx64 ": ", key->path, key->addr);
	if (!key->readable)
		str_add(out, "can't be read; it needs CAP_SYS_PTRACE\n");
	else if (key->value == ASYNC_KEY_UNSET)
		str_add(out, "not set; no operation has run yet\n");
	else
		str_addf(out, "set, pthread key %" PRIu32 "\n", key->value);
}

static void add_keyless(struct str *out, const struct doctor_process *process)
{
	str_addf(out,
		 "           %s contains code of folly or libunifex, but\n"
		 "           weft can't find its async key: link it with -rdynamic or\n"
		 "           " KEYLESS_OPTION ",\n           or keep its .symtab\n",
		 process->keyless);
}

static void add_threads(struct str *out, const struct doctor_process *process)
{
	const struct doctor_threads *threads = &process->threads;

	str_addf(out, "  threads  %u", threads->total);
	if (process->n_keys)
		str_addf(out, "; %u with an async root now, %u of these at work",
			 threads->with_root, threads->running);
	if (process->n_keys && threads->unknown)
		str_addf(out, "; %u can't be read from outside", threads->unknown);
	str_add_char(out, '\n');
}

void process_text(struct str *out, const struct doctor_process *process)
{
	str_addf(out, "process %d, %s\n", process->pid, process->comm);
	str_addf(out, "  libc     %s\n", libc_names[process->libc]);
	if (!process->n_keys)
		str_addf(out,
			 "  key      none: no file has %s,\n"
			 "           so weft shows no async callers\n",
			 ASYNC_KEY_SYMBOL);
	for (unsigned int i = 0; i < process->n_keys; i++)
		add_key(out, &process->keys[i]);
	if (*process->keyless)
		add_keyless(out, process);
	if (process->n_keys > KEYS_MAX)
		str_addf(out,
			 "           weft follows at most %d keys at a time; keys that "
			 "are\n           set come first\n",
			 KEYS_MAX);
	add_threads(out, process);
	str_add(out, "  unwind tables\n"
		     "         rows      size unsupported  frame pointers\n");
	for (unsigned int i = 0; i < process->n_files; i++)
		add_file(out, &process->files[i]);
}

static void add_json_key(struct str *out, const struct doctor_key *key)
{
	str_add(out, "{\"file\":");
	str_add_json(out, key->path);
	str_addf(out, ",\"address\":%" PRIu64 ",\"readable\":%s", key->addr,
		 key->readable ? "true" : "false");
	if (key->readable && key->value != ASYNC_KEY_UNSET)
		str_addf(out, ",\"value\":%" PRIu32 "}", key->value);
	else
		str_add(out, ",\"value\":null}");
}

static void add_json_file(struct str *out, const struct doctor_file *file)
{
	str_add(out, "\n{\"file\":");
	str_add_json(out, file->path);
	str_addf(out, ",\"readable\":%s,\"table\":", file->readable ? "true" : "false");
	if (file->table_err)
		str_add(out, "null}");
	else
		str_addf(out,
			 "{\"functions\":%u,\"rows\":%u,\"rules\":%u,\"bytes\":%lu,"
			 "\"unsupported\":%u,\"keeps_frame_pointers\":%s}}",
			 file->stats.cfi.n_fdes, file->stats.n_rows, file->stats.n_rules,
			 table_bytes(file), file->stats.rows[UNWIND_CFA_UNSUPPORTED],
			 keeps_fp(file) ? "true" : "false");
}

void process_json(struct str *out, const struct doctor_process *process)
{
	const struct doctor_threads *threads = &process->threads;

	str_addf(out, "{\"pid\":%d,\"comm\":", process->pid);
	str_add_json(out, process->comm);
	str_addf(out, ",\"libc\":\"%s\",\"keys\":[", libc_names[process->libc]);
	for (unsigned int i = 0; i < process->n_keys; i++) {
		str_add(out, i ? "," : "");
		add_json_key(out, &process->keys[i]);
	}
	str_add(out, "],\"keyless_file\":");
	if (*process->keyless)
		str_add_json(out, process->keyless);
	else
		str_add(out, "null");
	str_addf(out,
		 ",\"threads\":{\"total\":%u,\"unknown\":%u,\"with_root\":%u,"
		 "\"running\":%u},\"files\":[",
		 threads->total, threads->unknown, threads->with_root, threads->running);
	for (unsigned int i = 0; i < process->n_files; i++) {
		str_add(out, i ? "," : "");
		add_json_file(out, &process->files[i]);
	}
	str_add(out, "]}");
}
