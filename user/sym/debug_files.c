// SPDX-License-Identifier: BSD-2-Clause
#include "sym/debug_files.h"

#include "base/error.h"
#include "base/log.h"
#include "obj/elf_links.h"
#include "sym/alternate_link.h"

#include <errno.h>
#include <string.h>

struct debug_files {
	struct debug_sources sources;
	uint32_t *pids; /* by module: who maps it, of those that live; 0: nobody */
	uint32_t n;
	struct debug_counts counts;
};

void debug_files_free(struct debug_files *debug)
{
	if (!debug)
		return;
	free(debug->pids);
	free(debug);
}

static void note_pids(struct debug_files *debug)
{
	const struct process *process;
	size_t n;

	for (size_t i = 0; (process = process_next(debug->sources.processes, &i));) {
		const struct mapping *maps = process_mappings(process, &n);

		for (size_t k = 0; !process->ended_ns && k < n; k++)
			if (maps[k].module < debug->n)
				debug->pids[maps[k].module] = process->tgid;
	}
}

int debug_files_new(struct debug_files **ret, const struct debug_sources *sources)
{
	AUTO(debug_files) debug = calloc(1, sizeof(*debug));

	if (!debug)
		return fail(-ENOMEM, "no memory for debug files");
	debug->sources = *sources;
	debug->n = module_count(sources->modules);
	debug->pids = calloc(debug->n + 1, sizeof(*debug->pids));
	if (!debug->pids)
		return fail(-ENOMEM, "no memory for %u modules", debug->n);
	if (sources->processes)
		note_pids(debug);
	*ret = GIVE(debug);
	return 0;
}

/* What is looked for, and how it is known. */
struct debug_search {
	struct debug_files *debug;
	uint32_t module;
	const char *path;
	struct debug_query query;
	struct elf_identity identity;
	int deadline_ms;
};

static int on_same(void *arg, size_t index, const char *name, uint64_t start)
{
	*(bool *)arg = true;
	return 0;
}

static bool is_same(const struct debug_search *search, int fd)
{
	uint64_t words[ELF_IDENTITY_WORDS];
	struct debug_files *debug = search->debug;
	bool same = false;

	memcpy(words, &search->identity, sizeof(words));
	if (worker_names(debug->sources.worker,
			 &(struct name_request){ NAMES_SAME, fd, words,
						 ELF_IDENTITY_WORDS,
						 search->deadline_ms },
			 on_same, &same))
		log_verbose("a debug file of %s: %s", search->path, error_sentence());
	else if (!same)
		log_verbose("a debug file of %s is of another build", search->path);
	error_clear();
	debug->counts.found += same;
	debug->counts.others += !same;
	return same;
}

static int next_file(struct debug_search *search)
{
	AUTO_CLOSE int fd = -1;

	while (!opener_debug(search->debug->sources.opener, &search->query, search->path,
			     &search->query.first, &fd)) {
		search->query.first++;
		if (is_same(search, fd))
			return GIVE_FD(fd);
		close(GIVE_FD(fd));
	}
	error_clear();
	return -1;
}

static int on_link(void *arg, size_t index, const char *name, uint64_t start)
{
	struct debug_search *search = arg;

	if (strlen(name) >= sizeof(search->query.link) || strchr(name, '/'))
		return 0;
	strcpy(search->query.link, name);
	search->identity.has_crc = 1;
	search->identity.crc = (uint32_t)start;
	return 0;
}

/* By the name that the file says, which is read only if nothing lies by build id. */
static int by_link(struct debug_search *search)
{
	static const uint64_t asked[] = { ELF_LINK_DEBUG };
	int fd = files_fd(search->debug->sources.files, search->module);

	if (fd < 0)
		return -1;
	if (worker_names(search->debug->sources.worker,
			 &(struct name_request){ NAMES_LINKS, fd, asked, 1,
						 search->deadline_ms },
			 on_link, search))
		error_clear();
	search->query.first = open_debug_first_by_link();
	return *search->query.link ? next_file(search) : -1;
}

static void set_build_id(struct debug_search *search, const struct build_id *id)
{
	search->query.build_id_bytes = id->bytes;
	search->identity.build_id_bytes = id->bytes;
	memcpy(search->query.build_id, id->id, id->bytes);
	memcpy(search->identity.build_id, id->id, id->bytes);
}

static struct debug_search begin_search(struct debug_files *debug, uint32_t module,
					int deadline_ms)
{
	uid_t uid = files_uid(debug->sources.files, module);
	uint32_t pid = module < debug->n ? debug->pids[module] : 0;
	struct build_id id = build_id_of(files_elf_info(debug->sources.files, module));
	struct debug_search search = {
		.debug = debug,
		.module = module,
		.path = module_get(debug->sources.modules, module)->path,
		.query.pid = pid ? (pid_t)pid : getpid(),
		.query.module_uid = uid == FILES_UID_UNKNOWN ? 0 : uid,
		.deadline_ms = deadline_ms,
	};

	if (debug->sources.symfs && strlen(debug->sources.symfs) < DEBUG_SYMFS_BYTES)
		strcpy(search.query.symfs, debug->sources.symfs);
	set_build_id(&search, &id);
	return search;
}

int debug_files_open(struct debug_files *debug, uint32_t module, int deadline_ms)
{
	struct debug_search search = begin_search(debug, module, deadline_ms);
	int fd = search.query.build_id_bytes > 1 ? next_file(&search) : -1;
	return fd >= 0 ? fd : by_link(&search);
}

/* Of servers, by build id. */
static int fetch(struct debug_search *search, const struct build_id *id)
{
	struct debug_servers *servers = search->debug->sources.servers;
	AUTO_CLOSE int fd = servers ? debug_servers_get(servers, id, search->path) : -1;
	bool is_right;

	if (fd < 0)
		return -1;
	is_right = is_same(search, fd);
	debug_servers_judge(servers, id, fd, is_right);
	return is_right ? GIVE_FD(fd) : -1;
}

int debug_files_fetch(struct debug_files *debug, uint32_t module, int deadline_ms)
{
	struct debug_search search = begin_search(debug, module, deadline_ms);
	struct build_id id = build_id_of(files_elf_info(debug->sources.files, module));

	return fetch(&search, &id);
}

int debug_files_alternate(struct debug_files *debug, uint32_t module, int fd,
			  int deadline_ms)
{
	struct debug_search search = begin_search(debug, module, deadline_ms);
	struct build_id id;
	int found;

	if (!alternate_link_read(debug->sources.worker, fd, deadline_ms, &search.query))
		return -1;
	id = alternate_link_id(&search.query);
	set_build_id(&search, &id);
	found = next_file(&search);
	return found >= 0 ? found : fetch(&search, &id);
}

void debug_files_splits(struct debug_files *debug, uint32_t module,
			const struct name_request *request, struct split_files *ret)
{
	struct debug_search search = begin_search(debug, module, request->deadline_ms);

	split_files_find(ret, &(struct split_search){ debug->sources.worker,
						      debug->sources.opener, search.query,
						      search.path, *request });
}

uint64_t debug_files_waited_ns(const struct debug_files *debug)
{
	return debug->sources.servers
		       ? debug_servers_counts(debug->sources.servers).waited_ns
		       : 0;
}

struct debug_counts debug_files_counts(const struct debug_files *debug)
{
	return debug->counts;
}
