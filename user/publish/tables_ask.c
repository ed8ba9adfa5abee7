// SPDX-License-Identifier: BSD-2-Clause
#include "publish/tables_parts.h"

#include "base/error.h"
#include "sym/vdso.h"

#include <fcntl.h>
#include <unistd.h>

/* What it takes us and the opener to open a file, to ask who it is and to close it again.
 * Of files that come and go by the thousand a second that is more than to read them. */
#define OPENING_NS 100000

/*
 * What the workers have at one time. All files of a program that starts: on a busy
 * machine it takes a while until we run again to send the rest. Of many files no more
 * than that they never wait for us, since what is with them is nobody else's turn.
 */
static unsigned int jobs_max(const struct tables *tables, enum size_class size)
{
	if (size == SIZE_LARGE)
		return 4;
	return tables->n_queued <= 16 ? 32 : 16;
}

/* Nothing is to be had, or that cannot be asked: by frame pointer. */
static void go_without(struct tables *tables, uint32_t module, bool was_missed)
{
	struct table *table = &tables->tables.items[module];

	table->state = TABLE_WITHOUT;
	table->was_missed = was_missed;
	table->settled_ns = tables->outside->now_ns();
	tables_add_news(tables, module, NEWS_TABLE);
}

/* The table; fd is borrowed. */
static void ask_table(struct tables *tables, uint32_t module, int fd)
{
	struct table *table = &tables->tables.items[module];
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	bool keep = module_get(tables->modules, module)->kind != MODULE_COPY;

	/* it may be answered at once */
	tables->n_jobs[table->size]++;
	table->is_asked_for = true;
	if (copy >= 0 && !table_loader_begin(tables->loader, copy, module, keep))
		return;
	tables->n_jobs[table->size]--;
	table->is_asked_for = false;
	tables->counts.unreadable++;
	error_clear(); /* one file without a table is no reason to stop */
	go_without(tables, module, false);
}

static void ask_vdso(struct tables *tables)
{
	int vdso = vdso_open();

	if (vdso >= 0) {
		tables->tables.items[MODULE_ID_VDSO].state = TABLE_AWAITS_TABLE;
		tables->tables.items[MODULE_ID_VDSO].is_roots = true;
		ask_table(tables, MODULE_ID_VDSO, vdso);
		close(vdso);
	} else {
		error_clear(); /* its frames go by frame pointer, unproven */
		go_without(tables, MODULE_ID_VDSO, true);
	}
}

/* Its turn has come. */
static void ask_file(struct tables *tables, uint32_t module)
{
	static const enum table_state awaits[] = {
		[FILE_NEW] = TABLE_WITHOUT,	     [FILE_OPEN] = TABLE_WITHOUT,
		[FILE_SCANNING] = TABLE_AWAITS_BOTH, [FILE_KNOWN] = TABLE_AWAITS_TABLE,
		[FILE_UNREADABLE] = TABLE_WITHOUT,
	};
	struct table *table = &tables->tables.items[module];
	enum file_state before = files_state(tables->files, module);

	tables->n_jobs[table->size] += files_scan(tables->files, module);
	table->state = awaits[files_state(tables->files, module)];
	if (before == FILE_OPEN && table->state == TABLE_AWAITS_TABLE) /* recalled */
		tables_tell_keys(tables, module, files_elf_info(tables->files, module));
	if (table->state == TABLE_WITHOUT)
		go_without(tables, module, false);
	else if (tables->loader)
		ask_table(tables, module, files_fd(tables->files, module));
	else if (table->state == TABLE_AWAITS_TABLE)
		go_without(tables, module, false);
}

bool tables_pump(struct tables *tables)
{
	uint64_t now_ns = tables->outside->now_ns();
	bool has_asked = false;
	struct turn_taken turn;

	for (int i = 0; i < N_SIZES; i++) {
		unsigned int most = jobs_max(tables, (enum size_class)i);

		while (tables->n_jobs[i] < most &&
		       turns_next(tables->turns[i], now_ns, !tables->n_jobs[i], &turn)) {
			struct table *table = &tables->tables.items[turn.module];

			/* it may have waited for two owners */
			if (table->state != TABLE_QUEUED)
				continue;
			table->payer = turn.owner;
			table->is_behind = turn.is_over_budget;
			tables->counts.over_budget += turn.is_over_budget;
			tables->n_queued--;
			ask_file(tables, turn.module);
			has_asked = true;
		}
	}
	return has_asked;
}

unsigned int tables_queued(const struct tables *tables)
{
	return tables->n_queued;
}

void tables_start(struct tables *tables)
{
	if (tables->loader)
		table_loader_start(tables->loader);
	turns_start(tables->noted);
	for (int i = 0; i < N_SIZES; i++)
		turns_start(tables->turns[i]);
}

bool tables_await_roots(const struct tables *tables)
{
	for (size_t i = 0; i < tables->tables.n; i++)
		if (tables->tables.items[i].is_roots &&
		    table_is_awaited(&tables->tables.items[i]))
			return true;
	return false;
}

/* A program that starts maps a dozen files; to ask costs as much as to open one. */
uid_t tables_owner(struct tables *tables, const struct process *process)
{
	struct owner owner;

	if (tables->asked_life != process->incarnation) {
		tables->asked_life = process->incarnation;
		owner = tables->outside->files.owner(files_opener(tables->files),
						     (pid_t)process->tgid);
		/* who is gone already has no share in anybody's */
		tables->owner = owner.known ? owner.payer : (uid_t)-1;
	}
	return tables->owner;
}

static int add_turn(struct tables *tables, uid_t owner, uint32_t module, enum turn turn)
{
	struct table *table = &tables->tables.items[module];

	table->is_roots |= !owner;
	return turns_add(tables->turns[table->size], owner, module, turn);
}

static int enqueue(struct tables *tables, uid_t owner, uint32_t module)
{
	struct table *table = &tables->tables.items[module];
	int fd = files_fd(tables->files, module);
	bool is_known = table->state != TABLE_NEW;
	/* what was asked before is given back to where it was counted */
	bool is_counted = table->state == TABLE_REFUSED;
	unsigned int size = table->size;

	*table = (struct table){ .was_refused = table->was_refused,
				 .is_asked_for = table->is_asked_for,
				 .hit_ns = table->hit_ns,
				 .owner = owner };
	if (fd >= 0) {
		table->state = TABLE_QUEUED;
		table->size = is_counted ? size : lookup_is_large(fd);
		tables->n_queued++;
		return add_turn(tables, owner, module, TURN_MAPPED);
	}
	/* nobody waits for what nobody has heard of */
	table->state = TABLE_WITHOUT;
	table->was_missed = true;
	if (is_known)
		go_without(tables, module, true);
	return 0;
}

static bool may_ask(const struct tables *tables, uint32_t module)
{
	const struct table *table = &tables->tables.items[module];

	switch (table->state) {
	case TABLE_NEW:
	case TABLE_NOTED:
		return true;
	case TABLE_WITHOUT: /* another process may lead to the file */
		return table->was_missed && files_fd(tables->files, module) >= 0;
	case TABLE_REFUSED: /* what was given back for it has rested */
		return tables->outside->now_ns() - table->settled_ns > PAGE_QUARANTINE_NS;
	default:
		return false;
	}
}

/* It was missed, and has turned out to be another name of a file that is known. */
static void become_same(struct tables *tables, uint32_t module, uint32_t same)
{
	struct table *own = &tables->tables.items[module];

	if (own->state == TABLE_NEW)
		return;
	*own = (struct table){ 0 };
	tables_add_news(tables, same, NEWS_TABLE);
	tables_add_news(tables, same, NEWS_KEYS);
}

/* The file was written over: what was made of it walks no more. */
static void forget_old(struct tables *tables, uint32_t module)
{
	struct table *table = &tables->tables.items[module];

	if (table->state == TABLE_READY)
		tables_take_back(tables, table);
	else if (table->state == TABLE_WITHOUT || table->state == TABLE_REFUSED)
		table->state = TABLE_NEW;
}

void tables_charge(struct tables *tables, const struct process *process, uint64_t ns)
{
	budgets_charge(files_budgets(tables->files), tables_owner(tables, process), ns,
		       tables->outside->now_ns());
}

bool tables_are_over_budget(struct tables *tables, const struct process *process)
{
	return budgets_are_over(files_budgets(tables->files),
				tables_owner(tables, process), tables->outside->now_ns());
}

/* Generated code, and what is the kernel's own, have no file that could be. */
bool tables_is_unopened(const struct tables *tables, uint32_t module)
{
	const struct module *m = module_get(tables->modules, module);

	return module_is_opened(m) && files_same(tables->files, module) == module &&
	       files_state(tables->files, module) == FILE_NEW;
}

static int open_file(struct tables *tables, const struct process *process,
		     const struct mapping *map)
{
	bool is_new = tables_is_unopened(tables, map->module);
	int err = files_open(tables->files, process, map);

	if (is_new) /* whether it was there or not */
		tables_charge(tables, process, OPENING_NS);
	return err;
}

int tables_make_entry(struct tables *tables, uint32_t module)
{
	while (tables->tables.n <= module)
		if (vec_push(&tables->tables, (struct table){ 0 }))
			return -ENOMEM;
	return 0;
}

int tables_request(struct tables *tables, const struct process *process,
		   const struct mapping *map)
{
	enum module_kind kind = module_get(tables->modules, map->module)->kind;
	uint32_t before = files_same(tables->files, map->module);
	int err = open_file(tables, process, map);
	uint32_t module = files_same(tables->files, map->module);

	if ((kind != MODULE_FILE && kind != MODULE_COPY && kind != MODULE_VDSO) ||
	    (kind == MODULE_VDSO && !tables->loader))
		return err < 0 ? err : 0;
	if (err >= 0 && tables_make_entry(tables, map->module))
		return -ENOMEM;
	if (err < 0)
		return err;
	if (err == FILES_RENEWED)
		forget_old(tables, before);
	if (module != map->module)
		become_same(tables, map->module, module);
	if (table_is_awaited(&tables->tables.items[module]))
		tables->tables.items[module].is_roots |= !tables_owner(tables, process);
	if (tables->tables.items[module].state == TABLE_QUEUED)
		return add_turn(tables, tables_owner(tables, process), module,
				TURN_MAPPED);
	if (!may_ask(tables, module))
		return 0;
	if (kind != MODULE_VDSO)
		return enqueue(tables, tables_owner(tables, process), module);
	ask_vdso(tables);
	return 0;
}

int tables_urge(struct tables *tables, const struct process *process, uint32_t module)
{
	struct table *table = tables_of(tables, module);

	if (!table || table->state != TABLE_QUEUED || table->was_urged)
		return 0;
	table->was_urged = true;
	return add_turn(tables, tables_owner(tables, process),
			files_same(tables->files, module), TURN_SAMPLED);
}
