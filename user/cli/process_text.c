// SPDX-License-Identifier: BSD-2-Clause
#include "cli/process_text.h"

#include "shared/async_abi.h"

#include <inttypes.h>

static const char *const libc_names[] = {
	[LIBC_UNKNOWN] = "unknown",
	[LIBC_GLIBC] = "glibc",
	[LIBC_MUSL] = "musl",
};

/* How many percent of the functions that were looked at keep frame pointers. */
static unsigned int percent_kept(const struct frame_pointers *frames)
{
	return frames->looked_at ? 100 * frames->kept / frames->looked_at : 0;
}

static const char *frames_word(const struct frame_pointers *frames)
{
	unsigned int percent = percent_kept(frames);

	if (!frames->looked_at)
		return "unknown";
	return percent >= 50 ? "kept" : percent >= 10 ? "partly" : "not kept";
}

static void add_key(struct str *out, const struct doctor_key *key)
{
	str_addf(out, "  key      %s at 0x%" PRIx64 ": ", key->path, key->addr);
	if (!key->readable)
		str_add(out, "can't be read; it needs CAP_SYS_PTRACE\n");
	else if (key->value == ASYNC_KEY_UNSET)
		str_add(out, "not set; no operation has run there yet\n");
	else
		str_addf(out, "set, pthread key %" PRIu32 "\n", key->value);
}

static void add_threads(struct str *out, const struct doctor_process *process)
{
	const struct doctor_threads *threads = &process->threads;

	str_addf(out, "  threads  %u", threads->total);
	if (process->n_keys)
		str_addf(out, "; %u with an async root now, %u of these at work",
			 threads->with_root, threads->running);
	if (process->n_keys && threads->unknown)
		str_addf(out, "; of %u it can't be told from outside", threads->unknown);
	str_add_char(out, '\n');
}

void process_text(struct str *out, const struct doctor_process *process)
{
	str_addf(out, "process %d, %s\n", process->pid, process->comm);
	str_addf(out, "  libc     %s\n", libc_names[process->libc]);
	if (!process->n_keys)
		str_addf(out,
			 "  key      none: no file of it has %s,\n"
			 "           so it shows no async callers\n",
			 ASYNC_KEY_SYMBOL);
	for (unsigned int i = 0; i < process->n_keys; i++)
		add_key(out, &process->keys[i]);
	add_threads(out, process);
	str_add(out, "  frame pointers, guessed from how functions begin\n");
	for (unsigned int i = 0; i < process->n_files; i++) {
		const struct doctor_file *file = &process->files[i];

		str_addf(out, "    %-8s %3u %% of %3u  %s%s\n",
			 frames_word(&file->frames), percent_kept(&file->frames),
			 file->frames.looked_at, file->path,
			 file->readable ? "" : " (can't be read)");
	}
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
	str_addf(out, ",\"readable\":%s,\"functions\":%u,\"keep_frame_pointers\":%u}",
		 file->readable ? "true" : "false", file->frames.looked_at,
		 file->frames.kept);
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
	str_addf(out,
		 "],\"threads\":{\"total\":%u,\"unknown\":%u,\"with_root\":%u,"
		 "\"running\":%u},\"files\":[",
		 threads->total, threads->unknown, threads->with_root, threads->running);
	for (unsigned int i = 0; i < process->n_files; i++) {
		str_add(out, i ? "," : "");
		add_json_file(out, &process->files[i]);
	}
	str_add(out, "]}");
}
