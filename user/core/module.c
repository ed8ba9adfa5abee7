// SPDX-License-Identifier: BSD-2-Clause
#include "core/module.h"

#include "base/error.h"
#include "base/hmap.h"
#include "base/intern.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What tells modules apart; the path follows. pid and incarnation only where the
 * code is the process's own. */
struct module_identity {
	uint64_t ino;
	uint32_t kind, maj, min, pid, incarnation, is_writable;
};

#define PATH_BYTES 4096

/* So many new ones, and the table is gone through. */
#define MODULES_MANY 1024

struct module_entry {
	struct module module; /* its path is that of the key */
	uint64_t serial, hash;
	struct module_entry *next; /* of the same hash */
	uint32_t id;
	uint32_t holders;
	uint32_t round; /* in which it was last used */
	size_t n_key;
	unsigned char key[]; /* the identity, then the path, then NUL */
};

struct module_table {
	struct hmap by_hash;
	VEC(struct module_entry *) entries; /* by id; NULL: nobody's now */
	VEC(uint32_t) unused;		    /* ids to be given out again */
	uint64_t serial;		    /* the last that was given */
	uint32_t round;
	size_t n, many, key_bytes;
	bool is_full; /* somebody was refused since it was gone through */
	struct module_counts counts;
};

void module_table_free(struct module_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->entries.n; i++)
		free(table->entries.items[i]);
	hmap_free(&table->by_hash);
	vec_free(&table->entries);
	vec_free(&table->unused);
	free(table);
}

int module_table_new(struct module_table **ret)
{
	static const struct module always[] = {
		[MODULE_ID_UNMAPPED] = { .kind = MODULE_UNMAPPED, .path = "[unmapped]" },
		[MODULE_ID_KERNEL] = { .kind = MODULE_KERNEL, .path = "[kernel]" },
		[MODULE_ID_VDSO] = { .kind = MODULE_VDSO, .path = "[vdso]" },
	};
	AUTO(module_table) table = calloc(1, sizeof(*table));

	if (!table)
		return fail(-ENOMEM, "no memory for the modules");
	table->many = MODULES_MANY;
	for (uint32_t i = 0; i < sizeof(always) / sizeof(*always); i++) {
		uint32_t id;
		int err = module_id(table, &always[i], &id);

		if (err)
			return err;
		module_hold(table, id);
	}
	*ret = GIVE(table);
	return 0;
}

static size_t make_key(const struct module *module, unsigned char *key)
{
	const struct module_identity identity = {
		.kind = module->kind,
		.maj = module->maj,
		.min = module->min,
		.ino = module->ino,
		.pid = module->kind == MODULE_JIT ? module->pid : 0,
		.incarnation = module->kind == MODULE_JIT ? module->incarnation : 0,
		.is_writable = module->kind == MODULE_FILE && module->is_writable,
	};
	size_t n = strnlen(module->path, PATH_BYTES - 1);

	memcpy(key, &identity, sizeof(identity));
	memcpy(key + sizeof(identity), module->path, n);
	return sizeof(identity) + n;
}

static struct module_entry *find(const struct module_table *table, uint64_t hash,
				 const unsigned char *key, size_t n)
{
	struct module_entry *entry = hmap_get(&table->by_hash, hash);

	while (entry && (entry->n_key != n || memcmp(entry->key, key, n) != 0))
		entry = entry->next;
	return entry;
}

/* So that as many as there may be fit. */
static size_t cost_of(size_t n_key)
{
	return n_key < MODULE_BYTES_MAX / MODULES_MAX ? MODULE_BYTES_MAX / MODULES_MAX
						      : n_key;
}

size_t module_bytes_left(const struct module_table *table)
{
	return MODULE_BYTES_MAX - table->key_bytes;
}

bool module_is_there(const struct module_table *table, const struct module *module)
{
	unsigned char key[sizeof(struct module_identity) + PATH_BYTES];
	size_t n = make_key(module, key);

	return find(table, hash_bytes(key, n), key, n);
}

/* An id that was given up, or the next. */
static int take_id(struct module_table *table, uint32_t *ret)
{
	if (table->unused.n) {
		*ret = table->unused.items[--table->unused.n];
		return 0;
	}
	*ret = (uint32_t)table->entries.n;
	return vec_push(&table->entries, NULL);
}

static int insert(struct module_table *table, struct module_entry *entry)
{
	int err;

	entry->next = hmap_get(&table->by_hash, entry->hash);
	err = hmap_put(&table->by_hash, entry->hash, entry);
	if (!err && take_id(table, &entry->id)) {
		err = -ENOMEM;
		if (entry->next)
			hmap_put(&table->by_hash, entry->hash, entry->next);
		else
			hmap_remove(&table->by_hash, entry->hash);
	}
	if (err)
		return err;
	table->entries.items[entry->id] = entry;
	entry->serial = ++table->serial;
	table->key_bytes += cost_of(entry->n_key);
	table->n++;
	return 0;
}

static int add(struct module_table *table, const struct module *module,
	       const unsigned char *key, size_t n, struct module_entry **ret)
{
	struct module_entry *entry;
	int err;

	if (cost_of(n) > module_bytes_left(table)) {
		table->is_full = true;
		return INTERN_FULL;
	}
	entry = calloc(1, sizeof(*entry) + n + 1);
	if (!entry)
		return fail(-ENOMEM, "no memory for a module");
	memcpy(entry->key, key, n);
	entry->n_key = n;
	entry->hash = hash_bytes(key, n);
	entry->module = *module;
	entry->module.path = (const char *)entry->key + sizeof(struct module_identity);
	err = insert(table, entry);
	if (err) {
		free(entry);
		return err;
	}
	*ret = entry;
	return 0;
}

int module_id(struct module_table *table, const struct module *module, uint32_t *ret)
{
	unsigned char key[sizeof(struct module_identity) + PATH_BYTES];
	size_t n = make_key(module, key);
	struct module_entry *entry = find(table, hash_bytes(key, n), key, n);
	int err = entry ? 0 : add(table, module, key, n, &entry);

	if (err)
		return err;
	entry->round = table->round;
	*ret = entry->id;
	return 0;
}

const struct module *module_get(const struct module_table *table, uint32_t id)
{
	const struct module_entry *entry = table->entries.items[id];

	return entry ? &entry->module : NULL;
}

/* A number of at most INT32_MAX, as they are written; 0: it is none. */
static uint32_t read_number(const char *text, const char **ret_end)
{
	char *end;
	unsigned long number;

	if (*text < '1' || *text > '9')
		return 0;
	number = strtoul(text, &end, 10);
	*ret_end = end;
	return number > INT32_MAX ? 0 : (uint32_t)number;
}

uint32_t module_jitdump_pid(const struct module *module)
{
	const char *slash = strrchr(module->path, '/');
	const char *name = slash ? slash + 1 : module->path, *end;
	uint32_t pid;

	if (module->kind != MODULE_FILE || strncmp(name, "jit-", 4) != 0)
		return 0;
	pid = read_number(name + 4, &end);
	if (pid && *end == '-') /* that was a thread's */
		pid = read_number(end + 1, &end);
	if (pid && *end == '-' && strlen(end + 1) == strlen("XXXXXX")) /* mkstemp(3)'s */
		return pid;
	return pid && !strcmp(end, ".dump") ? pid : 0;
}

uint32_t module_count(const struct module_table *table)
{
	return (uint32_t)table->entries.n;
}

uint64_t module_serial(const struct module_table *table, uint32_t id)
{
	const struct module_entry *entry =
		id < table->entries.n ? table->entries.items[id] : NULL;

	return entry ? entry->serial : 0;
}

void module_hold(struct module_table *table, uint32_t id)
{
	table->entries.items[id]->holders++;
}

void module_release(struct module_table *table, uint32_t id)
{
	table->entries.items[id]->holders--;
	table->entries.items[id]->round = table->round;
}

bool module_table_is_crowded(const struct module_table *table)
{
	return table->n >= table->many || table->is_full;
}

void module_mark(struct module_table *table, uint32_t id)
{
	table->entries.items[id]->round = table->round;
}

static void unlink_entry(struct module_table *table, const struct module_entry *entry)
{
	struct module_entry *first = hmap_get(&table->by_hash, entry->hash);

	if (first != entry) {
		while (first->next != entry)
			first = first->next;
		first->next = entry->next;
	} else if (entry->next) { /* put in its place: there is room */
		hmap_put(&table->by_hash, entry->hash, entry->next);
	} else {
		hmap_remove(&table->by_hash, entry->hash);
	}
}

static void let_go(struct module_table *table, struct module_entry *entry)
{
	unlink_entry(table, entry);
	table->entries.items[entry->id] = NULL;
	table->key_bytes -= cost_of(entry->n_key);
	table->n--;
	table->counts.let_go++;
	free(entry);
}

int module_trim(struct module_table *table, void (*gone)(void *arg, uint32_t id),
		void *arg)
{
	int err = vec_reserve(&table->unused, table->n);

	if (err)
		return err;
	for (uint32_t id = 0; id < table->entries.n; id++) {
		struct module_entry *entry = table->entries.items[id];

		if (!entry || entry->holders || entry->round == table->round)
			continue;
		gone(arg, id);
		let_go(table, entry);
		table->unused.items[table->unused.n++] = id;
	}
	table->round++;
	table->many = table->n + MODULES_MANY;
	table->is_full = false;
	return 0;
}

struct module_counts module_counts(const struct module_table *table)
{
	struct module_counts counts = table->counts;

	counts.now = table->n;
	return counts;
}
