// SPDX-License-Identifier: BSD-2-Clause
#include "record/declared.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/hmap.h"
#include "base/list.h"
#include "base/log.h"
#include "base/str.h"
#include "proc/open_environ.h"
#include "proc/opener.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define SERVICE	   "OTEL_SERVICE_NAME"
#define ATTRIBUTES "OTEL_RESOURCE_ATTRIBUTES"

/* A process this old may have published its context: its SDK has begun. */
#define PUBLISHING_NS (2 * SECOND_NS)
#define KEYS_AGAIN_NS (10 * SECOND_NS) /* at least between two looks at its keys */
#define CONTEXTS_MAX  64	       /* that wait for being taken apart */

/* Windows that may still ask for who has ended: those that wait for names, and more. */
#define WINDOWS_KEPT 8

#define TEXT_BYTES_MAX                                                                   \
	((size_t)ENVIRON_VARIABLES_MAX * (ENVIRON_VALUE_MAX + DECLARED_NAME_BYTES))

_Static_assert(DECLARED_VARIABLES_MAX + 2 <= ENVIRON_VARIABLES_MAX, "all can be had");

struct declared_process {
	uint32_t tgid, incarnation;
	uint64_t window; /* the last one that it was sampled in */
	/* NAME, NUL, value, NUL, …, NUL; NULL: nothing */
	char *labels[N_DECLARED];
	size_t bytes;
	unsigned int tries;	     /* to find a process context */
	uint64_t next_ns;	     /* when the next one is due */
	uint64_t looked_ns;	     /* when the last one was */
	int context;		     /* one that was not taken apart yet; -1: none */
	struct attribute_keys *keys; /* NULL: not known */
};

struct declared {
	const struct declared_options *options;
	struct opener *opener;
	char *names;	       /* of all variables, with commas; NULL: none */
	struct hmap processes; /* struct declared_process, by incarnation */
	size_t looked;	       /* processes of the open window */
	uint64_t window;
	size_t bytes;	 /* of all labels */
	size_t contexts; /* that were not taken apart yet */
	struct log_pace pace;
	struct declared_counts counts;
};

bool declared_is_wanted(const struct declared_options *options)
{
	return options->by_environment || options->by_context || options->variables ||
	       options->attributes;
}

static int list_names(struct declared *declared)
{
	const struct declared_options *options = declared->options;
	AUTO_STR names = { 0 };

	if (options->by_environment)
		str_add(&names, SERVICE "," ATTRIBUTES);
	if (options->variables)
		str_addf(&names, "%s%s", names.n ? "," : "", options->variables);
	if (str_error(&names))
		return -ENOMEM;
	declared->names = GIVE(names.s);
	return 0;
}

int declared_new(struct declared **ret, const struct declared_options *options)
{
	AUTO(declared) declared = calloc(1, sizeof(*declared));
	int err;

	if (!declared)
		return fail(-ENOMEM, "no memory for what processes say");
	declared->options = options;
	err = list_names(declared);
	if (!err)
		err = opener_new(&declared->opener);
	if (err)
		return err;
	*ret = GIVE(declared);
	return 0;
}

static void free_entry(struct declared_process *entry)
{
	for (int by = 0; by < N_DECLARED; by++)
		free(entry->labels[by]);
	if (entry->context >= 0)
		close(entry->context);
	free(entry->keys);
	free(entry);
}

void declared_free(struct declared *declared)
{
	struct declared_process *entry;

	if (!declared)
		return;
	for (size_t i = 0; (entry = hmap_next(&declared->processes, &i));)
		free_entry(entry);
	hmap_free(&declared->processes);
	opener_free(declared->opener);
	log_pace_end(&declared->pace);
	free(declared->names);
	free(declared);
}

/* Counts what error_sentence() says. */
static void refuse(struct declared *declared, const struct declared_process *entry)
{
	declared->counts.refused++;
	log_verbose_paced(&declared->pace,
			  "what process %u says of itself is left out: %s", entry->tgid,
			  error_sentence());
	error_clear();
}

static void add_label(struct str *labels, const char *name, const char *value)
{
	if (!*value)
		return;
	str_add_bytes(labels, name, strlen(name) + 1);
	str_add_bytes(labels, value, strlen(value) + 1);
}

static int keep(struct declared *declared, struct declared_process *entry,
		enum declared_by by, struct str *labels)
{
	if (!labels->n && !labels->failed)
		return 0;
	str_add_char(labels, '\0');
	if (str_error(labels))
		return -ENOMEM;
	if (declared->bytes + labels->n > DECLARED_BYTES_MAX)
		return fail(-ENOSPC, "there is too much of it");
	free(entry->labels[by]);
	entry->labels[by] = GIVE(labels->s);
	entry->bytes += labels->n;
	declared->bytes += labels->n;
	return 0;
}

static int keep_resource(struct declared *declared, struct declared_process *entry,
			 enum declared_by by, const struct resource *resource)
{
	static const char *const names[] = {
#define X(name, key, label) label,
		RESOURCE_ATTRIBUTES(X)
#undef X
	};
	AUTO_STR labels = { 0 };

	for (int i = 0; i < N_RESOURCE_ATTRIBUTES; i++)
		add_label(&labels, names[i], resource->values[i]);
	return keep(declared, entry, by, &labels);
}

/* NULL: no such variable. */
static const char *value_of(const char *text, const char *end, const char *name, size_t n)
{
	for (const char *s = text; s < end; s += strlen(s) + 1)
		if (!strncmp(s, name, n) && s[n] == '=')
			return s + n + 1;
	return NULL;
}

static int take_service(struct declared *declared, struct declared_process *entry,
			const char *text, const char *end)
{
	const char *service = value_of(text, end, SERVICE, strlen(SERVICE));
	const char *attributes = value_of(text, end, ATTRIBUTES, strlen(ATTRIBUTES));
	struct resource resource = { 0 };

	if (service)
		resource_add(&resource, "service.name", strlen("service.name"), service,
			     strlen(service));
	if (attributes && resource_add_text(&resource, attributes))
		refuse(declared, entry);
	return keep_resource(declared, entry, DECLARED_ENVIRONMENT, &resource);
}

static void add_variable(struct str *labels, const char *name, size_t n,
			 const char *value)
{
	char small[DECLARED_NAME_BYTES], clean[RESOURCE_VALUE_BYTES];

	for (size_t i = 0; i < n; i++)
		small[i] = (char)tolower((unsigned char)name[i]);
	small[n] = '\0';
	add_label(labels, small, str_clean(clean, sizeof(clean), value, strlen(value)));
}

static int take_variables(struct declared *declared, struct declared_process *entry,
			  const char *text, const char *end)
{
	const char *names = declared->options->variables, *name;
	AUTO_STR labels = { 0 };
	size_t n;

	while (list_next(&names, &name, &n)) {
		const char *value = value_of(text, end, name, n);

		if (value && n < DECLARED_NAME_BYTES)
			add_variable(&labels, name, n, value);
	}
	return keep(declared, entry, DECLARED_VARIABLES, &labels);
}

/* All of what weft's own opener copied there, ended by a NUL. */
static int read_copy(int fd, char **ret, size_t *ret_n)
{
	AUTO_FREE char *text = malloc(TEXT_BYTES_MAX + 1);
	ssize_t n = text ? read(fd, text, TEXT_BYTES_MAX) : -1;

	if (n < 0)
		return fail(-ENOMEM, "no memory for an environment");
	text[n] = '\0';
	*ret = GIVE(text);
	*ret_n = (size_t)n;
	return 0;
}

static int read_environment(struct declared *declared, struct declared_process *entry)
{
	AUTO_CLOSE int fd = -1;
	AUTO_FREE char *text = NULL;
	size_t n = 0;
	int err = opener_environ(declared->opener, (pid_t)entry->tgid, declared->names,
				 &fd);

	if (!err)
		err = read_copy(fd, &text, &n);
	if (!err && declared->options->by_environment)
		err = take_service(declared, entry, text, text + n);
	if (!err && declared->options->variables)
		err = take_variables(declared, entry, text, text + n);
	return err;
}

/* What goes wrong with a process costs it its labels, and nobody else anything. */
static void live_with(struct declared *declared, const struct declared_process *entry,
		      int err)
{
	if (err == -ESRCH)
		error_clear();
	else if (err)
		refuse(declared, entry);
}

static void read_one(struct declared *declared, struct declared_process *entry)
{
	declared->counts.read++;
	if (declared->names)
		live_with(declared, entry, read_environment(declared, entry));
}

/* One that is not there, or not whole, may be the next time. */
static void look_for_context(struct declared *declared, struct declared_process *entry)
{
	static const uint64_t pauses_ns[] = { 10 * SECOND_NS, 60 * SECOND_NS,
					      600 * SECOND_NS };
	uint64_t now = clock_now_ns();
	int err;

	if (now < entry->next_ns || entry->context >= 0 ||
	    declared->contexts >= CONTEXTS_MAX)
		return;
	err = opener_context(declared->opener, (pid_t)entry->tgid, &entry->context);
	entry->looked_ns = now;
	entry->next_ns = UINT64_MAX;
	if (!err)
		declared->contexts++;
	if ((err == -ENOENT || err == -EAGAIN) &&
	    entry->tries < sizeof(pauses_ns) / sizeof(*pauses_ns))
		entry->next_ns = now + pauses_ns[entry->tries++];
	if (err == -ENOENT)
		error_clear();
	else
		live_with(declared, entry, err);
}

static struct declared_process *add_entry(struct declared *declared,
					  const struct aggregator_process *process)
{
	struct declared_process *entry;

	if (declared->processes.n >= DECLARED_PROCESSES_MAX)
		return NULL;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->tgid = process->tgid;
	entry->incarnation = process->incarnation;
	entry->context = -1;
	if (!hmap_put(&declared->processes, process->incarnation, entry))
		return entry;
	error_clear();
	free(entry);
	return NULL;
}

/* Who has just begun has published nothing yet, and may be gone soon. */
static uint64_t published_ns(const struct process *process)
{
	return process->is_told ? process->born_ns + PUBLISHING_NS : 0;
}

static void look_at(struct declared *declared, const struct aggregator_process *of,
		    const struct process_table *processes)
{
	struct declared_process *entry = hmap_get(&declared->processes, of->incarnation);
	const struct process *process =
		process_running(processes, of->tgid, of->incarnation);
	bool is_new = !entry && process;

	if (is_new)
		entry = add_entry(declared, of);
	if (is_new && !entry)
		declared->counts.refused++;
	if (!entry)
		return;
	entry->window = declared->window;
	if (is_new) {
		entry->next_ns = published_ns(process);
		read_one(declared, entry);
	}
	if (process && (declared->options->by_context || declared->options->attributes))
		look_for_context(declared, entry);
}

void declared_look(struct declared *declared, const struct aggregator *aggregator,
		   const struct process_table *processes)
{
	while (declared->looked < intern_count(aggregator->processes)) {
		size_t bytes;
		const struct aggregator_process *process = intern_bytes(
			aggregator->processes, (uint32_t)declared->looked++, &bytes);

		look_at(declared, process, processes);
	}
}

/* One that nobody asks for any more, or NULL. */
static struct declared_process *find_old(const struct declared *declared,
					 const struct process_table *processes,
					 size_t *at)
{
	struct declared_process *entry;

	while ((entry = hmap_next(&declared->processes, at)))
		if (entry->window + WINDOWS_KEPT < declared->window &&
		    !process_running(processes, entry->tgid, entry->incarnation))
			return entry;
	return NULL;
}

void declared_next_window(struct declared *declared,
			  const struct process_table *processes)
{
	struct declared_process *entry;
	VEC(struct declared_process *) old = { 0 };

	declared->looked = 0;
	declared->window++;
	for (size_t at = 0; (entry = find_old(declared, processes, &at));)
		if (vec_push(&old, entry)) {
			error_clear(); /* the others' turn comes */
			break;
		}
	for (size_t i = 0; i < old.n; i++) {
		hmap_remove(&declared->processes, old.items[i]->incarnation);
		declared->bytes -= old.items[i]->bytes;
		declared->contexts -= old.items[i]->context >= 0;
		free_entry(old.items[i]);
	}
	vec_free(&old);
}

static int keep_keys(struct declared *declared, struct declared_process *entry,
		     const struct attribute_keys *keys)
{
	if (!keys->n)
		return 0;
	if (!entry->keys) {
		if (declared->bytes + sizeof(*keys) > DECLARED_BYTES_MAX)
			return fail(-ENOSPC, "there is too much of it");
		entry->keys = calloc(1, sizeof(*keys));
		if (!entry->keys)
			return fail(-ENOMEM, "no memory for keys of attributes");
		entry->bytes += sizeof(*keys);
		declared->bytes += sizeof(*keys);
	}
	*entry->keys = *keys;
	return 0;
}

static void parse_one(struct declared *declared, struct declared_process *entry,
		      struct worker *worker)
{
	const struct declared_options *options = declared->options;
	struct context_values values = { 0 };
	AUTO_CLOSE int fd = GIVE_FD(entry->context);
	int err = context_values_ask(worker, fd, options->attributes, &values);

	declared->contexts--;
	if (!err && options->by_context && !entry->labels[DECLARED_CONTEXT])
		err = keep_resource(declared, entry, DECLARED_CONTEXT, &values.resource);
	if (!err)
		err = keep_keys(declared, entry, &values.keys);
	live_with(declared, entry, err);
}

void declared_parse(struct declared *declared, const struct aggregator *aggregator,
		    struct worker *worker)
{
	size_t n = intern_count(aggregator->processes), bytes;

	for (uint32_t i = 0; declared->contexts && i < n; i++) {
		const struct aggregator_process *process =
			intern_bytes(aggregator->processes, i, &bytes);
		struct declared_process *entry =
			hmap_get(&declared->processes, process->incarnation);

		if (entry && entry->context >= 0)
			parse_one(declared, entry, worker);
	}
}

const char *declared_of(const struct declared *declared, uint32_t incarnation,
			enum declared_by by)
{
	const struct declared_process *entry =
		declared ? hmap_get(&declared->processes, incarnation) : NULL;

	return entry && entry->labels[by] ? entry->labels[by] : "";
}

bool declared_next(const char **at, struct label *ret)
{
	if (!**at)
		return false;
	ret->name = *at;
	ret->value = ret->name + strlen(ret->name) + 1;
	*at = ret->value + strlen(ret->value) + 1;
	return true;
}

const struct attribute_keys *declared_keys(const struct declared *declared,
					   uint32_t incarnation)
{
	const struct declared_process *entry =
		hmap_get(&declared->processes, incarnation);

	return entry ? entry->keys : NULL;
}

void declared_ask_again(struct declared *declared, uint32_t incarnation)
{
	struct declared_process *entry = hmap_get(&declared->processes, incarnation);

	if (entry && entry->next_ns == UINT64_MAX)
		entry->next_ns = entry->looked_ns + KEYS_AGAIN_NS;
}

const char *declared_attribute_names(const struct declared *declared)
{
	return declared->options->attributes;
}

struct declared_counts declared_counts(const struct declared *declared)
{
	return declared ? declared->counts : (struct declared_counts){ 0 };
}
