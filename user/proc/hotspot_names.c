// SPDX-License-Identifier: BSD-2-Clause
#include "proc/hotspot_names.h"

#include "base/error.h"
#include "proc/open_copy.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define HOPS_MAX	    64
#define CLASS_BYTES_MAX	    1024 /* of a class, a method, a signature */
#define BLOB_BYTES_MAX	    64
#define CODE_NAME_BYTES_MAX 4096

struct jvm_naming {
	struct hotspot_look look;
	const struct hotspot *vm;
	uint64_t pool_bytes; /* of a ConstantPool, without its entries */
};

/* Some text of the process, which is longer than this, perhaps. */
struct some_text {
	char of[CLASS_BYTES_MAX + 1];
	size_t n;
};

/* As ticks find it (bpf/hotspot.bpf.c); 0: in none that is in use. */
static uint64_t find_block(struct jvm_naming *naming, uint64_t addr)
{
	const struct hotspot_heap *heap = NULL;
	uint64_t segment, back;

	for (int i = 0; i < HOTSPOT_HEAPS; i++)
		if (addr - naming->vm->heaps[i].low <
		    naming->vm->heaps[i].high - naming->vm->heaps[i].low)
			heap = &naming->vm->heaps[i];
	if (!heap)
		return 0;
	segment = (addr - heap->low) >> heap->segment_shift;
	for (int i = 0; i < HOPS_MAX; i++) {
		back = hotspot_look_at(&naming->look, heap->segments + segment, 1);
		if (naming->look.err || back == HOTSPOT_SEGMENT_FREE)
			return 0;
		if (!back)
			return heap->low + (segment << heap->segment_shift);
		segment -= back;
	}
	return 0;
}

static void read_text(struct jvm_naming *naming, uint64_t at, size_t n,
		      struct some_text *ret)
{
	ret->n = n < CLASS_BYTES_MAX ? n : CLASS_BYTES_MAX;
	if (!naming->look.err && ret->n)
		naming->look.err = naming->look.memory->read(naming->look.memory, at,
							     ret->of, ret->n, ret->n);
	if (naming->look.err)
		ret->n = 0;
	ret->of[ret->n] = 0;
}

/* A Symbol: its length, and its bytes. */
static void read_symbol(struct jvm_naming *naming, uint64_t symbol, struct some_text *ret)
{
	size_t n = hotspot_look_field(&naming->look, symbol, TEXT_LENGTH, 2);

	read_text(naming, symbol + naming->look.layout->of[TEXT], n, ret);
}

static void add_class(struct str *out, const char *name, size_t n)
{
	const char *hidden = memrchr(name, '+', n);

	for (size_t i = 0; i < n; i++)
		str_add_char(out, name[i] == '/' || name + i == hidden
					  ? name[i] == '/' ? '.' : '/'
					  : name[i]);
}

static const char *word_of(char type)
{
	static const struct {
		char type;
		const char *word;
	} words[] = {
		{ 'B', "byte" },  { 'C', "char" }, { 'D', "double" },
		{ 'F', "float" }, { 'I', "int" },  { 'J', "long" },
		{ 'S', "short" }, { 'V', "void" }, { 'Z', "boolean" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (words[i].type == type)
			return words[i].word;
	return "?";
}

/* The type that begins there, as Java writes it; where the next one begins. */
static const char *add_type(struct str *out, const char *at, const char *end)
{
	size_t dimensions = 0;
	const char *close;

	for (; at < end && *at == '['; at++)
		dimensions++;
	if (at < end && *at == 'L') {
		close = memchr(at, ';', (size_t)(end - at));
		close = close ? close : end;
		add_class(out, at + 1, (size_t)(close - at) - 1);
		at = close;
	} else if (at < end) {
		str_add(out, word_of(*at));
	}
	for (; dimensions && out->n < CODE_NAME_BYTES_MAX; dimensions--)
		str_add(out, "[]");
	return at < end ? at + 1 : end;
}

/* "(II)V" of "run": "void Class.run(int, int)". */
static void add_method(struct str *out, const struct some_text *class,
		       const struct some_text *method, const struct some_text *signature)
{
	const char *at = signature->of, *end = at + signature->n;
	const char *close = memchr(at, ')', signature->n);

	if (close) {
		add_type(out, close + 1, end);
		str_add_char(out, ' ');
	}
	add_class(out, class->of, class->n);
	str_add_char(out, '.');
	str_add_bytes(out, method->of, method->n);
	if (!close)
		return;
	str_add_char(out, '(');
	for (at++; at < close;) {
		at = add_type(out, at, close);
		if (at < close)
			str_add(out, ", ");
	}
	str_add_char(out, ')');
}

static void add_java_method(struct jvm_naming *naming, uint64_t method, struct str *out)
{
	struct hotspot_look *look = &naming->look;
	struct some_text class, name, signature;
	uint64_t constant = hotspot_look_field(look, method, CONST_METHOD, 8);
	uint64_t pool = hotspot_look_field(look, constant, CONSTANTS, 8);
	uint64_t holder = hotspot_look_field(look, pool, HOLDER, 8);
	uint64_t entries = pool + naming->pool_bytes;
	uint64_t at;

	read_symbol(naming, hotspot_look_field(look, holder, CLASS_NAME, 8), &class);
	at = hotspot_look_field(look, constant, NAME_INDEX, 2);
	read_symbol(naming, hotspot_look_at(look, entries + 8 * at, 8), &name);
	at = hotspot_look_field(look, constant, SIGNATURE_INDEX, 2);
	read_symbol(naming, hotspot_look_at(look, entries + 8 * at, 8), &signature);
	if (!look->err)
		add_method(out, &class, &name, &signature);
}

/* What the blob is of, into *ret. */
static void name_block(struct jvm_naming *naming, uint64_t block, struct str *ret)
{
	struct hotspot_look *look = &naming->look;
	uint64_t blob = block + naming->vm->blob_at;
	uint64_t at = hotspot_look_field(look, blob, BLOB_NAME, 8);
	char kind[BLOB_BYTES_MAX + 1] = "";

	/* a constant of the JVM's */
	if (!look->err && at)
		look->err = look->memory->read(look->memory, at, kind, 1, BLOB_BYTES_MAX);
	if (!strcmp(kind, "nmethod") || !strcmp(kind, "native nmethod"))
		add_java_method(naming, hotspot_look_field(look, blob, METHOD, 8), ret);
	else if (!look->err)
		str_add(ret, kind);
}

/* Anything that is no text would end the line, or be two words. */
static void add_line(struct str *out, uint64_t addr, const struct str *name)
{
	char clean[CODE_NAME_BYTES_MAX + 1];

	str_addf(out, "%" PRIx64 " 1 %s\n", addr,
		 str_clean(clean, sizeof(clean), name->s, name->n));
}

int hotspot_names(const struct hotspot_memory *memory,
		  const struct hotspot_wanted *wanted, struct str *ret)
{
	struct hotspot_layout layout;
	struct hotspot vm;
	struct jvm_naming naming = { .look = { memory, &layout, 0 }, .vm = &vm };
	AUTO_STR name = { 0 };
	uint64_t block, before = 0;
	int err = hotspot_layout_read(memory, wanted->symbols.structs, &layout);

	if (!err)
		err = hotspot_take(memory, &layout, &vm);
	if (!err)
		err = hotspot_size_read(memory, wanted->symbols.types, "ConstantPool",
					&naming.pool_bytes);
	for (enum place i = BLOB_NAME; !err && i < N_PLACES; i++)
		if (!layout.has[i])
			err = fail(-ENOTSUP, "its JVM has no names that are known");
	for (size_t i = 0; !err && i < wanted->n; i++) {
		naming.look.err = 0;
		block = find_block(&naming, wanted->addrs[i]);
		if (block && block != before) {
			str_clear(&name);
			name_block(&naming, block, &name);
			before = naming.look.err ? 0 : block;
		}
		error_clear();
		if (block && !naming.look.err && name.n)
			add_line(ret, wanted->addrs[i], &name);
	}
	return err ? err : str_error(ret);
}

int open_hotspot_names(pid_t pid, const struct hotspot_wanted *wanted, int *ret_fd)
{
	const struct hotspot_memory memory = hotspot_memory_of(pid);
	AUTO_STR text = { 0 };
	int err = hotspot_names(&memory, wanted, &text);

	return err ? err : open_copy_bytes(text.s, text.n, ret_fd);
}
