// SPDX-License-Identifier: BSD-2-Clause
#include "cli/process_text.h"

#include "core/counted.h"
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
	if (!file->table_err && file->stats.unread_bytes)
		str_addf(
			out,
			"%16s-> %lu MB of its code, which nothing tells of, are too much "
			"to be read:\n%16s   stacks in it are cut\n",
			"", (unsigned long)(file->stats.unread_bytes >> 20), "");
}

static void add_names(struct str *out, const struct doctor_file *file)
{
	const unsigned int *from = file->by_origin;
	double all = file->addresses ? file->addresses / 100.0 : 1;

	if (file->addresses)
		str_addf(out, "    %7.0f %% %9.0f %% %9.0f %% %5.0f %%",
			 (from[NAME_ORIGIN_SYMBOL] + from[NAME_ORIGIN_GO]) / all,
			 from[NAME_ORIGIN_DEBUG_FILE] / all,
			 from[NAME_ORIGIN_START] / all, from[NAME_ORIGIN_NONE] / all);
	else
		str_addf(out, "    %-39s", "can't be read");
	str_addf(out, "  %s\n", file->path);
	if (!doctor_file_lacks_names(file))
		return;
	if (*file->package)
		str_addf(out, "%16s-> install %s, or name a server: --debuginfod\n", "",
			 file->package);
	else
		str_addf(out, "%16s-> it was stripped: keep its .symtab\n", "");
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
	str_add(out, "  names of the code\n"
		     "       symbol  debug file  start only    none\n");
	for (unsigned int i = 0; i < process->n_files; i++)
		add_names(out, &process->files[i]);
}

static void add_json_key(struct json *json, const struct doctor_key *key)
{
	json_open(json, NULL, '{');
	json_text(json, "file", key->path);
	json_uint(json, "address", key->addr);
	json_bool(json, "readable", key->readable);
	if (key->readable && key->value != ASYNC_KEY_UNSET)
		json_uint(json, "value", key->value);
	else
		json_addf(json, "value", "null");
	json_close(json, '}');
}

static void add_json_table(struct json *json, const struct doctor_file *file)
{
	json_open(json, "table", '{');
	json_uint(json, "functions", file->stats.cfi.n_fdes);
	json_uint(json, "rows", file->stats.n_rows);
	json_uint(json, "rules", file->stats.n_rules);
	json_uint(json, "bytes", table_bytes(file));
	json_uint(json, "unsupported", file->stats.rows[UNWIND_CFA_UNSUPPORTED]);
	json_uint(json, "unread_bytes", file->stats.unread_bytes);
	json_uint(json, "rows_left_out", file->stats.n_left_out);
	json_bool(json, "keeps_frame_pointers", keeps_fp(file));
	json_close(json, '}');
}

static void add_json_names(struct json *json, const struct doctor_file *file)
{
	json_open(json, "names", '{');
	json_uint(json, "code_bytes", file->code_bytes);
	json_uint(json, "addresses", file->addresses);
	for (int i = 0; i < N_NAME_ORIGINS; i++) {
		AUTO_STR name = { 0 };

		if (i == NAME_ORIGIN_TAPE || i == NAME_ORIGIN_JIT)
			continue; /* no file's */
		str_add_lower(&name, counted_origins[i].name);
		json_uint(json, name.s ? name.s : "", file->by_origin[i]);
	}
	if (doctor_file_lacks_names(file))
		json_text(json, "remedy", *file->package ? "package" : "build");
	if (*file->package)
		json_text(json, "package", file->package);
	json_close(json, '}');
}

static void add_json_file(struct json *json, const struct doctor_file *file)
{
	json_line(json);
	json_open(json, NULL, '{');
	json_text(json, "file", file->path);
	json_bool(json, "readable", file->readable);
	if (file->table_err)
		json_addf(json, "table", "null");
	else
		add_json_table(json, file);
	if (file->addresses)
		add_json_names(json, file);
	else
		json_addf(json, "names", "null");
	json_close(json, '}');
}

static void add_json_threads(struct json *json, const struct doctor_threads *threads)
{
	json_open(json, "threads", '{');
	json_uint(json, "total", threads->total);
	json_uint(json, "unknown", threads->unknown);
	json_uint(json, "with_root", threads->with_root);
	json_uint(json, "running", threads->running);
	json_close(json, '}');
}

void process_json(struct json *json, const struct doctor_process *process)
{
	json_open(json, NULL, '{');
	json_addf(json, "pid", "%d", process->pid);
	json_text(json, "comm", process->comm);
	json_text(json, "libc", libc_names[process->libc]);
	json_open(json, "keys", '[');
	for (unsigned int i = 0; i < process->n_keys; i++)
		add_json_key(json, &process->keys[i]);
	json_close(json, ']');
	if (*process->keyless)
		json_text(json, "keyless_file", process->keyless);
	else
		json_addf(json, "keyless_file", "null");
	add_json_threads(json, &process->threads);
	json_open(json, "files", '[');
	for (unsigned int i = 0; i < process->n_files; i++)
		add_json_file(json, &process->files[i]);
	json_close(json, ']');
	json_close(json, '}');
}
