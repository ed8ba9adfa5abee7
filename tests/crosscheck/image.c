// SPDX-License-Identifier: BSD-2-Clause
#include "image.h"

#include "base/error.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

struct segment {
	uint64_t vaddr, offset, file_bytes;
};

struct image {
	char *path;
	char open_as[64];	  /* the vDSO's bytes, in a file of ours; else "" */
	bool is_read, is_fixed;	  /* ET_EXEC: lies where it was linked for */
	VEC(struct segment) code; /* empty: not to be read */
	VEC(uint64_t) biases;	  /* that were reported since images_begin() */
};

struct images {
	VEC(struct image *) all;
	Dwfl_Callbacks callbacks;
	int vdso_fd;
};

#define VDSO "[vdso]"

/* Every process's vDSO is this process's, and libdwfl wants a file. */
static int copy_vdso(void)
{
	const unsigned char *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	AUTO_FCLOSE FILE *file = tmpfile();
	const Elf64_Ehdr *head = (const void *)vdso;
	size_t bytes;

	if (!vdso || !file)
		return -1;
	/* its section headers come last */
	bytes = head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;
	if (fwrite(vdso, 1, bytes, file) != bytes || fflush(file))
		return -1;
	return dup(fileno(file));
}

/* Only what the mapped file itself says: no files of debug information. */
static int no_debug_file(Dwfl_Module *module, void **data, const char *name,
			 Dwarf_Addr base, const char *file, const char *link,
			 GElf_Word crc, char **ret)
{
	return -1;
}

int images_new(struct images **ret)
{
	AUTO(images) images = calloc(1, sizeof(*images));

	if (!images)
		return fail(-ENOMEM, "no memory for files");
	elf_version(EV_CURRENT);
	images->callbacks.find_elf = dwfl_linux_proc_find_elf;
	images->callbacks.find_debuginfo = no_debug_file;
	images->vdso_fd = copy_vdso();
	*ret = GIVE(images);
	return 0;
}

static void image_free(struct image *image)
{
	vec_free(&image->code);
	vec_free(&image->biases);
	free(image->path);
	free(image);
}

void images_free(struct images *images)
{
	if (!images)
		return;
	for (size_t i = 0; i < images->all.n; i++)
		image_free(images->all.items[i]);
	vec_free(&images->all);
	if (images->vdso_fd >= 0)
		close(images->vdso_fd);
	free(images);
}

static struct image *find(struct images *images, const char *path)
{
	for (size_t i = 0; i < images->all.n; i++) {
		if (!strcmp(images->all.items[i]->path, path))
			return images->all.items[i];
	}
	return NULL;
}

static struct image *add(struct images *images, const char *path)
{
	struct image *image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	image->path = strdup(path);
	if (!strcmp(path, VDSO))
		snprintf(image->open_as, sizeof(image->open_as), "/proc/self/fd/%d",
			 images->vdso_fd);
	if (image->path && !vec_push(&images->all, image))
		return image;
	image_free(image);
	return NULL;
}

const char *images_path(struct images *images, const char *path)
{
	struct image *image;

	if (*path != '/' && strcmp(path, VDSO) != 0)
		return NULL;
	if (!strncmp(path, "//", 2) || !strncmp(path, "/dev/zero", 9))
		return NULL; /* "//anon" and shared memory */
	image = find(images, path);
	if (!image)
		image = add(images, path);
	return image ? image->path : NULL;
}

static const char *file_of(const struct image *image)
{
	return *image->open_as ? image->open_as : image->path;
}

static void read_code(struct image *image)
{
	AUTO_CLOSE int fd = open(file_of(image), O_RDONLY | O_CLOEXEC);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	GElf_Ehdr head;
	size_t n = 0;

	image->is_read = true;
	image->is_fixed = elf && gelf_getehdr(elf, &head) && head.e_type == ET_EXEC;
	if (!elf || elf_getphdrnum(elf, &n))
		n = 0;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD &&
		    ph.p_flags & PF_X)
			vec_push(&image->code, (struct segment){ ph.p_vaddr, ph.p_offset,
								 ph.p_filesz });
	}
	elf_end(elf);
}

/* What was added to the addresses that the file was linked for. */
static bool find_bias(const struct image *image, uint64_t start, uint64_t pgoff,
		      uint64_t *ret)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < image->code.n; i++) {
		const struct segment *s = &image->code.items[i];

		if (pgoff >= (s->offset & -page) && pgoff < s->offset + s->file_bytes) {
			*ret = start - (s->vaddr + (pgoff - s->offset));
			return true;
		}
	}
	return false;
}

Dwfl *images_begin(struct images *images)
{
	Dwfl *dwfl = dwfl_begin(&images->callbacks);

	for (size_t i = 0; i < images->all.n; i++)
		images->all.items[i]->biases.n = 0;
	if (dwfl)
		dwfl_report_begin(dwfl);
	else
		fail(-ENOMEM, "libdwfl: %s", dwfl_errmsg(-1));
	return dwfl;
}

/* Is that one there already? */
static bool is_reported(const struct image *image, uint64_t bias)
{
	for (size_t i = 0; i < image->biases.n; i++) {
		if (image->biases.items[i] == bias)
			return true;
	}
	return false;
}

bool images_report(struct images *images, Dwfl *dwfl, const char *path, uint64_t start,
		   uint64_t pgoff)
{
	struct image *image = find(images, path);
	uint64_t bias;

	if (!image)
		return false;
	if (!image->is_read)
		read_code(image);
	if (!find_bias(image, start, pgoff, &bias))
		return false;
	/* V8 maps its own code a second time, nearer to what it compiles */
	if (is_reported(image, bias) || (image->is_fixed && bias))
		return true;
	return dwfl_report_elf(dwfl, path, file_of(image), -1, bias, true) &&
	       !vec_push(&image->biases, bias);
}
