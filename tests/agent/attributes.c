/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attributes [SECONDS [HOW]]
 *
 * Publishes a map of keys (otel_ctx.h, made as HOW says), and has threads that say by it
 * what they work for, as OTEP 4947 has it: each says one thing and works in a function of
 * its own, which says what its samples must have.
 *
 *	says_route      trace 1111…, http.route=/route, http.method=GET, and
 *	                unallowed.id=unallowed-secret
 *	says_no_trace   http.route=/only, and no ids
 *	says_twice      http.route=/old, then http.route=/new
 *	says_cut        http.route=/cut, and a method that ends behind the record's end
 *	says_unknown    trace 4444…, a key that the map does not have, http.route=/known
 *	says_much       http.route=/much, 900 bytes of unallowed.id, and a method
 *	says_lost       trace 6666…, and attributes on a page that is not there
 *	says_invalid    http.route=/invalid, in a record that is being written
 *	says_nothing    nothing is attached
 *	says_later      http.later=/later: the map gets this key after SECONDS
 *
 * It runs until it is killed.
 */
#include <pthread.h>
#include <stdio.h>

#include "mild.h"
#include "otel_ctx.h"

enum { ROUTE, USER, METHOD, LATER, UNKNOWN = 200 };

struct record {
	unsigned char trace[16], span[8];
	unsigned char valid, flags;
	uint16_t attributes_bytes;
	unsigned char attributes[1200];
};

__thread struct record *volatile otel_thread_ctx_v1;

#define WORK(name)                                                                       \
	__attribute__((noipa, used)) static void says_##name(void)                       \
	{                                                                                \
		mild_turn(5 * MILD_REST_US);                                             \
	}
WORK(route)
WORK(no_trace)
WORK(twice)
WORK(cut)
WORK(unknown)
WORK(much)
WORK(lost)
WORK(invalid)
WORK(nothing)
WORK(later)

/* digit: of its ids; 0: none */
static struct record *new_record(int digit)
{
	struct record *record = calloc(1, sizeof(*record));

	memset(record->trace, digit * 0x11, sizeof(record->trace));
	memset(record->span, digit * 0x11, sizeof(record->span));
	record->valid = 1;
	return record;
}

static void say(struct record *record, int key, const char *value)
{
	unsigned char *at = record->attributes + record->attributes_bytes;
	size_t n = strlen(value);

	at[0] = (unsigned char)key;
	at[1] = (unsigned char)n;
	memcpy(at + 2, value, n);
	record->attributes_bytes += (uint16_t)(2 + n);
}

static struct record *route(int digit, const char *value)
{
	struct record *record = new_record(digit);

	say(record, ROUTE, value);
	return record;
}

static struct record *much(void)
{
	struct record *record = route(0, "/much");
	char text[226];

	memset(text, '~', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < 4; i++)
		say(record, USER, text);
	say(record, METHOD, "unallowed-late");
	return record;
}

/* Its head ends where the page does, and nothing is behind that. */
static struct record *lost(void)
{
	size_t n = (size_t)sysconf(_SC_PAGESIZE);
	char *page = mmap(NULL, 2 * n, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct record *record = (struct record *)(page + n - 28), *made = route(6, "/x");

	if (page == MAP_FAILED || munmap(page + n, n))
		exit(1);
	memcpy(record, made, 28);
	return record;
}

struct job {
	struct record *record;
	void (*work)(void);
};

static void *run(void *arg)
{
	const struct job *job = arg;

	otel_thread_ctx_v1 = job->record;
	for (;;)
		job->work();
	return NULL;
}

static void begin(struct record *record, void (*work)(void))
{
	struct job *job = malloc(sizeof(*job));
	pthread_t thread;

	*job = (struct job){ record, work };
	if (pthread_create(&thread, NULL, run, job))
		exit(1);
}

static void add_key(const char *key)
{
	size_t from = n_payload;

	add_text(1, key); /* AnyValue */
	wrap(1, from);	  /* ArrayValue */
}

/* ProcessContext.attributes: the keys so far */
static void write_payload(int has_later)
{
	size_t from, value;

	n_payload = 0;
	add_attribute("service.name", "attributes");
	wrap(1, 0);
	from = n_payload;
	add_text(1, "threadlocal.attribute_key_map");
	value = n_payload;
	add_key("http.route");
	add_key("unallowed.id");
	add_key("http.method");
	if (has_later)
		add_key("http.later");
	wrap(5, value); /* AnyValue */
	wrap(2, value); /* KeyValue */
	wrap(2, from);
}

static void publish(struct header *header, uint64_t at)
{
	struct header made = { .signature = "OTEL_CT",
			       .version = 2,
			       .payload_bytes = (uint32_t)n_payload,
			       .payload = (uint64_t)(uintptr_t)payload };

	made.signature[7] = 'X';
	*header = made;
	__atomic_store_n(&header->published_ns, at, __ATOMIC_RELEASE);
}

int main(int argc, char **argv)
{
	struct header *header = new_mapping(argc > 2 ? argv[2] : "memfd");
	struct record *record = route(1, "/route");

	nice(19); /* who samples it does not wait for it */
	write_payload(0);
	publish(header, 1);
	say(record, USER, "unallowed-secret");
	say(record, METHOD, "GET");
	begin(record, says_route);
	begin(route(0, "/only"), says_no_trace);
	record = route(0, "/old");
	say(record, ROUTE, "/new");
	begin(record, says_twice);
	record = route(0, "/cut");
	say(record, METHOD, "POST");
	record->attributes_bytes -= 1;
	begin(record, says_cut);
	record = new_record(4);
	say(record, UNKNOWN, "unknown");
	say(record, ROUTE, "/known");
	begin(record, says_unknown);
	begin(much(), says_much);
	begin(lost(), says_lost);
	record = route(0, "/invalid");
	record->valid = 0;
	begin(record, says_invalid);
	begin(NULL, says_nothing);
	record = new_record(0);
	say(record, LATER, "/later");
	begin(record, says_later);
	puts("ready");
	fflush(stdout);
	sleep(argc > 1 ? (unsigned int)atoi(argv[1]) : 0);
	__atomic_store_n(&header->published_ns, 0, __ATOMIC_RELEASE);
	write_payload(1);
	publish(header, 2);
	for (;;)
		pause();
}
