// SPDX-License-Identifier: BSD-2-Clause
/* What the opener can be asked for; of no opener, the same without one. */
#include "base/error.h"
#include "base/log.h"
#include "proc/maps_text.h"
#include "proc/open_code.h"
#include "proc/open_context.h"
#include "proc/open_environ.h"
#include "proc/open_image.h"
#include "proc/opener_parts.h"

#include <errno.h>
#include <string.h>

static int copy_code(struct opener *opener, pid_t pid, const struct module *copy,
		     int *ret_fd)
{
	const struct opener_request request = {
		.kind = OPENER_CODE,
		.pid = pid,
		.start = copy->begin,
		.end = copy->end,
	};

	return opener ? opener_ask(opener, &request, NULL, ret_fd)
		      : open_code(pid, copy->begin, copy->end, ret_fd);
}

int opener_mapped(struct opener *opener, pid_t pid, const struct mapping *map,
		  const struct module *module, int *ret_fd)
{
	struct opener_request request = {
		.kind = OPENER_MAPPED,
		.pid = pid,
		.start = map->start,
		.end = map->end,
		.maj = module->maj,
		.min = module->min,
		.ino = module->ino,
	};

	if (module->kind == MODULE_COPY)
		return copy_code(opener, pid, module, ret_fd);
	if (!opener)
		return open_mapped_or_image(pid, map, module, ret_fd);
	if (strlen(module->path) >= sizeof(request.path))
		return fail(-ENAMETOOLONG, "a path of pid %d is too long", pid);
	strcpy(request.path, module->path);
	return opener_ask(opener, &request, NULL, ret_fd);
}

int opener_perf_map(struct opener *opener, pid_t pid, const struct owner *kept,
		    uint64_t max_bytes, int *ret_fd)
{
	const struct opener_request request = {
		.kind = OPENER_PERF_MAP,
		.pid = pid,
		.kept = *kept,
		.max_bytes = max_bytes,
	};

	return opener ? opener_ask(opener, &request, NULL, ret_fd)
		      : open_perf_map(pid, kept, max_bytes, ret_fd);
}

int opener_short_maps(struct opener *opener, pid_t tid, struct str *ret)
{
	const struct opener_request request = { .kind = OPENER_MAPS, .pid = tid };
	int err;

	str_clear(ret);
	if (!opener)
		return maps_text_of(tid, opener_short, ret);
	err = opener_ask(opener, &request, NULL, NULL);
	if (!err)
		str_add_bytes(ret, opener->came.text, opener->n_text);
	return err ? err : str_error(ret);
}

/* ret: all of it, or a part, -E2BIG. */
static int ask_long_maps(struct opener *opener, pid_t tid, struct str *ret)
{
	const struct opener_request request = { .kind = OPENER_LONG_MAPS, .pid = tid };
	const struct maps_most all = { SIZE_MAX, SIZE_MAX };
	struct opener_answer answer;
	AUTO_CLOSE int fd = -1;
	int err = opener_ask(opener, &request, &answer, &fd);

	if (!err)
		err = maps_text_read(fd, all, ret);
	return err ? err : answer.number ? -E2BIG : 0;
}

int opener_maps(struct opener *opener, pid_t tid, struct str *ret)
{
	int err = opener_short_maps(opener, tid, ret);

	if (err != -E2BIG)
		return err;
	error_clear();
	str_clear(ret);
	err = opener ? ask_long_maps(opener, tid, ret)
		     : maps_text_of(tid, opener_long, ret);
	if (err != -E2BIG)
		return err;
	error_clear();
	log_verbose("process %d maps more than is read: its code at higher addresses is "
		    "not known",
		    (int)tid);
	return 0;
}

int opener_debug(struct opener *opener, const struct debug_query *query, const char *path,
		 uint32_t *ret_place, int *ret_fd)
{
	struct opener_request request = {
		.kind = OPENER_DEBUG,
		.pid = query->pid,
		.debug = *query,
	};
	struct opener_answer answer;
	int err;

	if (!opener)
		return open_debug(query, path, ret_place, ret_fd);
	if (strlen(path) >= sizeof(request.path))
		return fail(-ENAMETOOLONG, "a path of pid %d is too long", query->pid);
	strcpy(request.path, path);
	err = opener_ask(opener, &request, &answer, ret_fd);
	if (!err)
		*ret_place = answer.number;
	return err;
}

int opener_environ(struct opener *opener, pid_t pid, const char *names, int *ret_fd)
{
	struct opener_request request = { .kind = OPENER_ENVIRON, .pid = pid };

	if (!opener)
		return open_environ(pid, names, ret_fd);
	if (strlen(names) >= sizeof(request.path))
		return fail(-ENAMETOOLONG, "too many variables");
	strcpy(request.path, names);
	return opener_ask(opener, &request, NULL, ret_fd);
}

int opener_stat(struct opener *opener, pid_t tid, struct task_stat *ret)
{
	const struct opener_request request = { .kind = OPENER_STAT, .pid = tid };
	struct opener_answer answer;
	int err;

	if (!opener)
		return task_stat_read(tid, ret) ? 0 : fail(-ESRCH, "no stat of %d", tid);
	err = opener_ask(opener, &request, &answer, NULL);
	if (!err)
		*ret = answer.stats[0];
	return err;
}

int opener_context(struct opener *opener, pid_t pid, int *ret_fd)
{
	const struct opener_request request = { .kind = OPENER_CONTEXT, .pid = pid };

	return opener ? opener_ask(opener, &request, NULL, ret_fd)
		      : open_context(pid, ret_fd);
}

int opener_map_query(struct opener *opener, pid_t tid, const struct map_place *places,
		     unsigned int n, struct task_stat ret_stats[2])
{
	struct opener_request request = { .kind = OPENER_PLACES, .pid = tid, .n = n };
	struct opener_answer answer;
	int err;

	if (!opener)
		return map_query(tid, places, n, ret_stats);
	if (opener->cannot_query && n)
		return -EOPNOTSUPP;
	memcpy(request.places, places, n * sizeof(*places));
	err = opener_ask(opener, &request, &answer, NULL);
	opener->cannot_query |= err == -EOPNOTSUPP;
	if (!err)
		memcpy(ret_stats, answer.stats, sizeof(answer.stats));
	return err;
}

int opener_words(struct opener *opener, pid_t pid, const uint64_t *addrs, unsigned int n,
		 uint32_t *ret)
{
	struct opener_request request = { .kind = OPENER_WORDS, .pid = pid, .n = n };
	struct open_word words[OPEN_WORDS_MAX] = { 0 };
	int err = 0;

	memcpy(request.addrs, addrs, n * sizeof(*addrs));
	if (!opener)
		open_words(pid, addrs, n, words);
	else
		err = opener_ask(opener, &request, NULL, NULL);
	if (opener && !err && opener->n_text == n * sizeof(*words))
		memcpy(words, opener->came.text, opener->n_text);
	for (unsigned int i = 0; i < n; i++)
		if (words[i].was_read)
			ret[i] = words[i].value;
	return err;
}

/* n bytes, into ret. */
static int ask_for_bytes(struct opener *opener, const struct opener_request *request,
			 void *ret, size_t n)
{
	int err = opener_ask(opener, request, NULL, NULL);

	if (err)
		return err;
	if (opener->n_text != n)
		return fail(-EPROTO, "no JVM came of pid %d", (int)request->pid);
	memcpy(ret, opener->came.text, n);
	return 0;
}

int opener_hotspot(struct opener *opener, pid_t pid, uint64_t vm_structs,
		   struct hotspot *ret)
{
	const struct opener_request request = {
		.kind = OPENER_HOTSPOT,
		.pid = pid,
		.addrs = { vm_structs },
	};
	int err;

	if (!opener)
		return open_hotspot(pid, vm_structs, ret);
	err = ask_for_bytes(opener, &request, ret, sizeof(*ret));
	return err ? err : hotspot_check(ret);
}

int opener_hotspot_view(struct opener *opener, pid_t pid,
			const struct hotspot_symbols *symbols, struct hotspot_view *ret)
{
	const struct opener_request request = {
		.kind = OPENER_HOTSPOT_VIEW,
		.pid = pid,
		.symbols = *symbols,
	};

	return opener ? ask_for_bytes(opener, &request, ret, sizeof(*ret))
		      : open_hotspot_view(pid, symbols, ret);
}

int opener_hotspot_names(struct opener *opener, pid_t pid,
			 const struct hotspot_wanted *wanted, int *ret_fd)
{
	struct opener_request request = {
		.kind = OPENER_HOTSPOT_NAMES,
		.pid = pid,
		.n = (uint32_t)wanted->n,
		.hotspot.view = *wanted->view,
	};

	if (!opener)
		return open_hotspot_names(pid, wanted->view, wanted->addrs, wanted->n,
					  ret_fd);
	memcpy(request.hotspot.addrs, wanted->addrs, wanted->n * sizeof(*wanted->addrs));
	return opener_ask(opener, &request, NULL, ret_fd);
}
