// SPDX-License-Identifier: BSD-2-Clause
#include "kern/ksyms.h"

#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "kern/kernel_memory.h"
#include "shared/ksyms.h"

#include "ksyms.skel.h"

#include <bpf/bpf.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PROGRAM	   "bpf_prog_"
#define TRAMPOLINE "bpf_trampoline_"
#define TAG_DIGITS 16

struct ksyms {
	struct ksyms_bpf *skel; /* NULL: nobody asked yet */
	struct ksym *batch;	/* the map's own memory */
	int err;		/* why this kernel can't be asked */
};

int ksyms_new(struct ksyms **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : fail(-ENOMEM, "no memory for names of the kernel");
}

void ksyms_free(struct ksyms *k)
{
	if (!k)
		return;
	if (k->batch)
		munmap(k->batch, KSYMS_BATCH * sizeof(*k->batch));
	ksyms_bpf__destroy(k->skel);
	free(k);
}

uint64_t ksyms_kernel_bytes(const struct ksyms *k)
{
	return k->skel ? kernel_memory_of_object(k->skel->obj) : 0;
}

static int load(struct ksyms *k)
{
	void *batch;

	k->skel = ksyms_bpf__open_and_load();
	if (!k->skel)
		return fail_errno(-errno, "the kernel can't be asked for its names");
	batch = mmap(NULL, KSYMS_BATCH * sizeof(*k->batch), PROT_READ | PROT_WRITE,
		     MAP_SHARED, bpf_map__fd(k->skel->maps.ksyms), 0);
	if (batch == MAP_FAILED)
		return fail_errno(-errno, "the kernel's names can't be mapped");
	k->batch = batch;
	return 0;
}

/* Only /proc/kallsyms says so of code that BPF programs were compiled to. */
static bool is_bpf(const char *name)
{
	size_t n = strlen(PROGRAM);

	if (!strncmp(name, PROGRAM, n))
		return strspn(name + n, "0123456789abcdef") >= TAG_DIGITS;
	n = strlen(TRAMPOLINE);
	return !strncmp(name, TRAMPOLINE, n) && isdigit((unsigned char)name[n]);
}

/* The line of /proc/kallsyms for "NAME+0x10/0x40 [MODULE]"; false: it is none. */
static bool add_line(struct str *list, const struct ksym *sym)
{
	char name[KSYM_BYTES], *plus, *space;
	const char *module = "";
	uint64_t offset;

	memcpy(name, sym->text, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	space = strstr(name, " [");
	if (space) {
		*space = '\0';
		module = space + 1;
	}
	plus = strrchr(name, '+');
	if (!plus || sscanf(plus, "+0x%" SCNx64 "/0x", &offset) != 1 ||
	    offset > sym->addr)
		return false;
	*plus = '\0';
	if (!space && is_bpf(name))
		module = "[bpf]";
	str_addf(list, "%016" PRIx64 " T %s%s%s\n", (uint64_t)sym->addr - offset, name,
		 *module ? "\t" : "", module);
	return true;
}

/* n: at most KSYMS_BATCH. */
static int ask(struct ksyms *k, const uint64_t *addrs, size_t n, struct str *list)
{
	LIBBPF_OPTS(bpf_test_run_opts, none);

	memset(k->batch, 0, KSYMS_BATCH * sizeof(*k->batch));
	for (size_t i = 0; i < n; i++)
		k->batch[i].addr = addrs[i];
	if (bpf_prog_test_run_opts(bpf_program__fd(k->skel->progs.ksyms_name), &none))
		return fail_errno(-errno, "the kernel does not tell its names");
	for (size_t i = 0; i < n; i++)
		if (!add_line(list, &k->batch[i]))
			return fail(-ENOENT, "the kernel has no name for an address");
	return 0;
}

static int write_list(const struct str *list)
{
	AUTO_CLOSE int fd = memfd_create("ksyms", MFD_CLOEXEC);

	if (fd < 0)
		return fail_errno(-errno, "no memory for names of the kernel");
	if (write(fd, list->s, list->n) != (ssize_t)list->n)
		return fail_errno(-EIO, "names of the kernel can't be written");
	return GIVE_FD(fd);
}

int ksyms_list(struct ksyms *k, const uint64_t *addrs, size_t n)
{
	AUTO_STR list = { 0 };

	if (!k->skel && !k->err)
		k->err = load(k);
	for (size_t i = 0; !k->err && i < n; i += KSYMS_BATCH) {
		size_t left = n - i;
		int err =
			ask(k, addrs + i, left < KSYMS_BATCH ? left : KSYMS_BATCH, &list);

		if (err)
			return err;
	}
	if (k->err)
		return k->err;
	return str_error(&list) ? -ENOMEM : write_list(&list);
}
