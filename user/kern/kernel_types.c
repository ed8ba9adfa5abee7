// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is copied of a struct: the members that any local struct of its name has (behind
 * its flavor, "___"), and of structs without a name within it the same. What a member
 * that points points to nobody asks: each step that a program makes names its own type.
 */
#include "kern/kernel_types.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/search.h"
#include "base/vec.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define KERNEL_BTF	"/sys/kernel/btf/vmlinux"
#define FLAVOR		"___"
#define NESTED_MAX	32
#define INT_BITS(x)	((x)&0xff)
#define INT_OFFSET(x)	((x) >> 16 & 0xff)
#define INT_ENCODING(x) ((x) >> 24 & 0xf)

struct wanted {
	const char *name;
	size_t n; /* without its flavor */
	const struct btf_type *type;
};

struct pick {
	const char *names;
	size_t names_bytes;
	VEC(const struct btf_type *) types; /* by id; the first is void */
	const struct btf *local;
	struct btf *made;
	uint32_t *ids; /* of those that were made, by the kernel's; 0: not yet */
	VEC(struct wanted) wanted; /* local ones, by name */
	bool begins[256];	   /* do names of these begin so? */
};

static const char *name_at(const struct pick *pick, uint32_t at)
{
	return at < pick->names_bytes ? pick->names + at : "";
}

/* Of the bytes that follow a type's first three words; SIZE_MAX: no such kind. */
static size_t rest_of(const struct btf_type *type)
{
	size_t n = btf_vlen(type);

	switch (btf_kind(type)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return n * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return n * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return n * sizeof(struct btf_var_secinfo);
	default:
		return SIZE_MAX;
	}
}

static int not_known(void)
{
	return fail(-ENOTSUP, "the kernel's types have a form that weft does not know");
}

/* Where each type is. */
static int index_types(struct pick *pick, const void *bytes, size_t n)
{
	static const struct btf_type nothing;
	const struct btf_header *head = bytes;
	const char *at = (const char *)bytes, *end;

	if (n < sizeof(*head) || head->magic != BTF_MAGIC || head->hdr_len > n ||
	    head->type_off > n - head->hdr_len ||
	    head->type_len > n - head->hdr_len - head->type_off ||
	    head->str_off > n - head->hdr_len || !head->str_len ||
	    head->str_len > n - head->hdr_len - head->str_off)
		return not_known();
	pick->names = at + head->hdr_len + head->str_off;
	pick->names_bytes = head->str_len;
	if (pick->names[pick->names_bytes - 1])
		return not_known();
	at += head->hdr_len + head->type_off;
	end = at + head->type_len;
	if (vec_push(&pick->types, &nothing))
		return -ENOMEM;
	while ((size_t)(end - at) >= sizeof(struct btf_type)) {
		const struct btf_type *type = (const void *)at;
		size_t rest = rest_of(type);

		at += sizeof(*type);
		if (rest > (size_t)(end - at))
			return not_known();
		at += rest;
		if (vec_push(&pick->types, type))
			return -ENOMEM;
	}
	return at == end ? 0 : not_known();
}

static bool has_members(const struct btf_type *type)
{
	return btf_is_composite(type) || btf_is_any_enum(type);
}

/* A name without its flavor. */
static size_t essential(const char *name)
{
	const char *flavor = strstr(name, FLAVOR);

	return flavor && flavor > name ? (size_t)(flavor - name) : strlen(name);
}

static int compare_names(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
	int order = strncmp(a, b, a_bytes < b_bytes ? a_bytes : b_bytes);

	return order ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

static bool is_named(const char *local, const char *name)
{
	return *name && !compare_names(local, essential(local), name, strlen(name));
}

/* Has a local type a member of that name, in itself or in what has no name in it? */
static bool type_has(const struct btf *local, const struct btf_type *type,
		     const char *member, int depth)
{
	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		uint32_t at = btf_is_enum(type)	    ? btf_enum(type)[i].name_off
			      : btf_is_enum64(type) ? btf_enum64(type)[i].name_off
						    : btf_members(type)[i].name_off;
		const struct btf_type *inner;

		if (is_named(btf__name_by_offset(local, at), member))
			return true;
		if (!btf_is_composite(type) || depth == NESTED_MAX)
			continue;
		inner = btf__type_by_id(local, btf_members(type)[i].type);
		if (inner && btf_is_composite(inner) && !inner->name_off &&
		    type_has(local, inner, member, depth + 1))
			return true;
	}
	return false;
}

/* The first local type of a name, in their order; pick->wanted.n: there is none. */
static size_t find_wanted(const struct pick *pick, const char *name)
{
	const struct wanted *all = pick->wanted.items;
	size_t n = strlen(name);
	size_t at = LOWER_BOUND(pick->wanted.n, i,
				compare_names(all[i].name, all[i].n, name, n) < 0);

	return at < pick->wanted.n && is_named(all[at].name, name) ? at : pick->wanted.n;
}

/* Do the local types of that name have it? */
static bool is_wanted(const struct pick *pick, const char *name, const char *member)
{
	for (size_t i = find_wanted(pick, name);
	     i < pick->wanted.n && is_named(pick->wanted.items[i].name, name); i++)
		if (type_has(pick->local, pick->wanted.items[i].type, member, 0))
			return true;
	return false;
}

static int make(struct pick *pick, uint32_t id, const char *within, int depth);

static int make_enum(struct pick *pick, const struct btf_type *type, const char *name)
{
	bool is_64 = btf_is_enum64(type);
	int id = is_64 ? btf__add_enum64(pick->made, name, type->size, btf_kflag(type))
		       : btf__add_enum(pick->made, name, type->size);
	int err = 0;

	for (uint32_t i = 0; id > 0 && !err && i < btf_vlen(type); i++) {
		const struct btf_enum64 *wide = btf_enum64(type) + i;
		const struct btf_enum *one = btf_enum(type) + i;
		const char *of = name_at(pick, is_64 ? wide->name_off : one->name_off);

		if (!is_wanted(pick, name, of))
			continue;
		err = is_64 ? btf__add_enum64_value(pick->made, of,
						    btf_enum64_value(wide))
			    : btf__add_enum_value(pick->made, of, one->val);
	}
	return err ? err : id;
}

/* A struct's members are made before it, since libbpf has one type open at a time. */
static int make_composite(struct pick *pick, const struct btf_type *type,
			  const char *within, int depth)
{
	const char *name = name_at(pick, type->name_off);
	AUTO_FREE int *ids = calloc(btf_vlen(type) + 1U, sizeof(*ids));
	int id, err = ids ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < btf_vlen(type); i++) {
		const struct btf_member *member = btf_members(type) + i;
		const char *of = name_at(pick, member->name_off);

		ids[i] = -1;
		if (*of && !is_wanted(pick, within, of))
			continue;
		ids[i] = make(pick, member->type, within, depth + 1);
		err = ids[i] < 0 ? ids[i] : 0;
	}
	if (err)
		return err;
	id = btf_is_union(type) ? btf__add_union(pick->made, name, type->size)
				: btf__add_struct(pick->made, name, type->size);
	for (uint32_t i = 0; id > 0 && !err && i < btf_vlen(type); i++)
		if (ids[i] >= 0)
			err = btf__add_field(pick->made,
					     name_at(pick, btf_members(type)[i].name_off),
					     ids[i], btf_member_bit_offset(type, i),
					     btf_member_bitfield_size(type, i));
	return err ? err : id;
}

static int make_int(struct pick *pick, const struct btf_type *type)
{
	uint32_t how = *(const uint32_t *)(type + 1);

	if (INT_OFFSET(how) || INT_BITS(how) != 8 * type->size) /* a bitfield of old */
		return not_known();
	return btf__add_int(pick->made, name_at(pick, type->name_off), type->size,
			    (int)INT_ENCODING(how));
}

static int make_array(struct pick *pick, const struct btf_type *type, const char *within,
		      int depth)
{
	const struct btf_array *array = btf_array(type);
	int of = make(pick, array->type, within, depth + 1);
	int by = of < 0 ? of : make(pick, array->index_type, within, depth + 1);

	return by < 0 ? by : btf__add_array(pick->made, by, of, array->nelems);
}

static int make_new(struct pick *pick, const struct btf_type *type, const char *within,
		    int depth)
{
	const char *name = name_at(pick, type->name_off);

	switch (btf_kind(type)) {
	case BTF_KIND_INT:
		return make_int(pick, type);
	case BTF_KIND_FLOAT:
		return btf__add_float(pick->made, name, type->size);
	case BTF_KIND_PTR:
		return btf__add_ptr(pick->made, 0);
	case BTF_KIND_ARRAY:
		return make_array(pick, type, within, depth);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return make_enum(pick, type, name);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return make_composite(pick, type, *name ? name : within, depth);
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		return make(pick, type->type, within, depth + 1);
	default:
		return not_known();
	}
}

/* The id of a copy of that type, for a member of what is called so; or -errno. */
static int make(struct pick *pick, uint32_t id, const char *within, int depth)
{
	int made;

	if (!id)
		return 0;
	if (id >= pick->types.n || depth > NESTED_MAX)
		return not_known();
	if (pick->ids[id])
		return (int)pick->ids[id];
	made = make_new(pick, pick->types.items[id], within, depth);
	/* one without a name may be in two, which want other members of it */
	if (made > 0 && pick->types.items[id]->name_off)
		pick->ids[id] = (uint32_t)made;
	return made;
}

static int by_name(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return compare_names(x->name, x->n, y->name, y->n);
}

static int list_wanted(struct pick *pick)
{
	int err = 0;

	for (uint32_t id = 1; !err && id < btf__type_cnt(pick->local); id++) {
		const struct btf_type *type = btf__type_by_id(pick->local, id);
		const char *name = btf__name_by_offset(pick->local, type->name_off);

		if (!has_members(type) || !*name)
			continue;
		pick->begins[(uint8_t)*name] = true;
		err = vec_push(&pick->wanted,
			       (struct wanted){ name, essential(name), type });
	}
	vec_sort(&pick->wanted, by_name);
	return err;
}

static int make_all(struct pick *pick)
{
	int made = list_wanted(pick);

	for (uint32_t id = 1; made >= 0 && id < pick->types.n; id++) {
		const struct btf_type *type = pick->types.items[id];
		const char *name;

		if (!has_members(type))
			continue;
		name = name_at(pick, type->name_off);
		if (pick->begins[(uint8_t)*name] &&
		    find_wanted(pick, name) < pick->wanted.n)
			made = make(pick, id, name, 0);
	}
	return made < 0 ? made : 0;
}

int kernel_types_pick(struct btf **ret, const struct kernel_types *from)
{
	struct pick pick = { .local = from->local, .made = btf__new_empty() };
	int err = pick.made ? index_types(&pick, from->bytes, from->n) : -ENOMEM;

	if (!err)
		pick.ids = calloc(pick.types.n, sizeof(*pick.ids));
	if (!err)
		err = pick.ids ? make_all(&pick) : -ENOMEM;
	vec_free(&pick.types);
	vec_free(&pick.wanted);
	free(pick.ids);
	if (err)
		btf__free(pick.made);
	else
		*ret = pick.made;
	return err;
}

/* The types that the compiler wrote into an object. */
static struct btf *local_types(const void *object, size_t bytes)
{
	const Elf64_Ehdr *elf = object;
	const Elf64_Shdr *sections = (const void *)((const char *)object + elf->e_shoff);
	const char *names = (const char *)object + sections[elf->e_shstrndx].sh_offset;

	for (int i = 0; i < elf->e_shnum; i++)
		if (!strcmp(names + sections[i].sh_name, BTF_ELF_SEC) &&
		    sections[i].sh_offset + sections[i].sh_size <= bytes)
			return btf__new((const char *)object + sections[i].sh_offset,
					(uint32_t)sections[i].sh_size);
	errno = ENOENT;
	return NULL;
}

/* Kernels before 6.16 let nobody map it. */
static int read_kernel_types(int fd, size_t bytes, void **ret)
{
	void *buf = malloc(bytes);
	size_t at = 0;
	ssize_t got = 1;

	if (!buf)
		return -ENOMEM;
	for (; at < bytes && got > 0; at += got > 0 ? (size_t)got : 0)
		got = read(fd, (char *)buf + at, bytes - at);
	if (at == bytes) {
		*ret = buf;
		return 0;
	}
	free(buf);
	return fail(-EIO, "cannot read " KERNEL_BTF);
}

static int pick_kernels(struct btf **ret, const struct btf *local)
{
	AUTO_CLOSE int fd = open(KERNEL_BTF, O_RDONLY | O_CLOEXEC);
	struct kernel_types from = { .local = local };
	void *copy = NULL, *mapped;
	struct stat st;
	int err = 0;

	if (fd < 0 || fstat(fd, &st))
		return fail_errno(-errno, "cannot open " KERNEL_BTF);
	from.n = (size_t)st.st_size;
	mapped = mmap(NULL, from.n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (mapped == MAP_FAILED)
		err = read_kernel_types(fd, from.n, &copy);
	from.bytes = copy ? copy : mapped;
	if (!err)
		err = kernel_types_pick(ret, &from);
	if (mapped != MAP_FAILED)
		munmap(mapped, from.n);
	free(copy);
	return err;
}

static int write_types(const struct btf *types, int *ret_fd)
{
	AUTO_CLOSE int fd = memfd_create("weft-types", MFD_CLOEXEC);
	uint32_t n;
	const void *bytes = btf__raw_data(types, &n);

	if (fd < 0 || !bytes || write(fd, bytes, n) != (ssize_t)n)
		return fail_errno(-errno, "cannot keep the kernel's types");
	*ret_fd = GIVE_FD(fd);
	return 0;
}

int kernel_types_file(const void *object, size_t bytes,
		      char ret_path[KERNEL_TYPES_PATH_BYTES], int *ret_fd)
{
	struct btf *local = local_types(object, bytes), *picked = NULL;
	int err = local ? pick_kernels(&picked, local)
			: fail_errno(-errno, "an object has no types");

	if (!err)
		err = write_types(picked, ret_fd);
	if (!err)
		snprintf(ret_path, KERNEL_TYPES_PATH_BYTES, "/proc/self/fd/%d", *ret_fd);
	btf__free(local);
	btf__free(picked);
	return err == -ENOMEM ? fail(err, "no memory for the kernel's types") : err;
}
