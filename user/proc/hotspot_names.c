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
	const struct hotspot_view *view;
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
		if (addr - naming->view->vm.heaps[i].low <
		    naming->view->vm.heaps[i].high - naming->view->vm.heaps[i].low)
			heap = &naming->view->vm.heaps[i];
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

	read_text(naming, symbol + naming->view->layout.of[TEXT], n, ret);
}

/* "a/B" is a.B; what follows a hidden class's last '+' tells it from others. */
static void add_class(struct str *out, const char *name, size_t n)
{
	const char *hidden = memrchr(name, '+', n);

	for (const char *c = name; c < name + n; c++)
		str_add_char(out, *c == '/' ? '.' : c == hidden ? '/' : *c);
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
	uint64_t entries = pool + naming->view->pool_bytes;
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
	uint64_t blob = block + naming->view->vm.blob_at;
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

int hotspot_view_read(const struct hotspot_memory *memory,
		      const struct hotspot_symbols *symbols, struct hotspot_view *ret)
{
	int err = hotspot_layout_read(memory, symbols->structs, &ret->layout);

	if (!err)
		err = hotspot_take(memory, &ret->layout, &ret->vm);
	if (!err)
		err = hotspot_size_read(memory, symbols->types, "ConstantPool",
					&ret->pool_bytes);
	for (enum place i = BLOB_NAME; !err && i < N_PLACES; i++)
		if (!ret->layout.has[i])
			err = fail(-ENOTSUP, "its JVM has no names that are known");
	return err;
}

int open_hotspot_view(pid_t pid, const struct hotspot_symbols *symbols,
		      struct hotspot_view *ret)
{
	const struct hotspot_memory memory = hotspot_memory_of(pid);

	return hotspot_view_read(&memory, symbols, ret);
}

/* What was named last: a block's addresses, or a method. */
struct named_last {
	uint64_t begin, end;
	struct str name;
};

static void name_one(struct jvm_naming *naming, uint64_t addr, struct named_last *last)
{
	struct hotspot_look *look = &naming->look;
	uint64_t block;

	if (addr - last->begin < last->end - last->begin)
		return;
	str_clear(&last->name);
	look->err = 0;
	block = addr & HOTSPOT_METHOD ? addr : find_block(naming, addr);
	last->begin = block;
	last->end = block + (block != 0);
	if (block & HOTSPOT_METHOD)
		add_java_method(naming, block & ~HOTSPOT_METHOD, &last->name);
	else if (block)
		name_block(naming, block, &last->name);
	if (block && !(block & HOTSPOT_METHOD))
		last->end =
			block + hotspot_look_field(look, block + naming->view->vm.blob_at,
						   BLOB_BYTES, 4);
	if (look->err) {
		str_clear(&last->name);
		last->end = last->begin;
	}
	error_clear();
}

int hotspot_names(const struct hotspot_memory *memory, const struct hotspot_view *view,
		  const uint64_t *addrs, size_t n, struct str *ret)
{
	struct jvm_naming naming = { .look = { memory, &view->layout, 0 }, .view = view };
	struct named_last last = { 0 };
	int err;

	for (size_t i = 0; i < n; i++) {
		name_one(&naming, addrs[i], &last);
		if (last.name.n)
			add_line(ret, addrs[i] & ~HOTSPOT_METHOD, &last.name);
	}
	err = str_error(last.name.failed ? &last.name : ret);
	str_free(&last.name);
	return err;
}

int open_hotspot_names(pid_t pid, const struct hotspot_view *view, const uint64_t *addrs,
		       size_t n, int *ret_fd)
{
	const struct hotspot_memory memory = hotspot_memory_of(pid);
	AUTO_STR text = { 0 };
	int err = hotspot_names(&memory, view, addrs, n, &text);

	return err ? err : open_copy_bytes(text.s, text.n, ret_fd);
}
