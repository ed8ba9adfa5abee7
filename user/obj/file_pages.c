// SPDX-License-Identifier: BSD-2-Clause
#include "obj/file_pages.h"

#include "base/clock.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE_BYTES 4096
#define PAGES_KEPT 256 /* a power of two */
#define UNLIMITED  UINT64_MAX

struct file_page {
	uint64_t number; /* in its file */
	int fd;
	unsigned int n; /* bytes that are there; 0: none is kept here */
};

struct file_pages {
	struct file_page kept[PAGES_KEPT];
	uint64_t left_us; /* UNLIMITED: as long as one likes */
	uint8_t bytes[PAGES_KEPT][PAGE_BYTES];
};

int file_pages_new(struct file_pages **ret)
{
	struct file_pages *pages = malloc(sizeof(*pages));

	if (!pages)
		return fail(-ENOMEM, "no memory for pages of files");
	memset(pages->kept, 0, sizeof(pages->kept));
	pages->left_us = UNLIMITED;
	*ret = pages;
	return 0;
}

void file_pages_free(struct file_pages *pages)
{
	free(pages);
}

void file_pages_allow(struct file_pages *pages, uint64_t us)
{
	pages->left_us = us;
}

uint64_t file_pages_left_us(const struct file_pages *pages)
{
	return pages->left_us;
}

void file_pages_spend(struct file_pages *pages, uint64_t us)
{
	if (pages->left_us != UNLIMITED)
		pages->left_us -= us < pages->left_us ? us : pages->left_us;
}

/* What is in memory comes at once, so it is asked for alone first. */
static ssize_t read_page(struct file_pages *pages, int fd, uint64_t number,
			 uint8_t bytes[PAGE_BYTES])
{
	struct iovec into = { bytes, PAGE_BYTES };
	off_t at = (off_t)(number * PAGE_BYTES);
	uint64_t begun_ns;
	ssize_t got;

	if (pages->left_us == UNLIMITED)
		return pread(fd, bytes, PAGE_BYTES, at);
	file_pages_spend(pages, 1);
	if (preadv2(fd, &into, 1, at, RWF_NOWAIT) == PAGE_BYTES)
		return PAGE_BYTES;
	begun_ns = clock_now_ns();
	got = pread(fd, bytes, PAGE_BYTES, at);
	file_pages_spend(pages, (clock_now_ns() - begun_ns) / 1000);
	return got;
}

/* Where it is kept; another may be there. */
static size_t place_of(int fd, uint64_t number)
{
	return (number + (uint64_t)(unsigned int)fd * 61) & (PAGES_KEPT - 1);
}

/* How many of its bytes there are, at *ret. */
static size_t page_at(const struct paged_file *file, uint64_t number, const uint8_t **ret)
{
	struct file_pages *pages = file->pages;
	size_t place = place_of(file->fd, number);
	struct file_page *page = &pages->kept[place];
	ssize_t got;

	*ret = pages->bytes[place];
	if (page->n && page->fd == file->fd && page->number == number)
		return page->n;
	if (!file_pages_left_us(pages))
		return 0;
	got = read_page(pages, file->fd, number, pages->bytes[place]);
	*page = (struct file_page){ number, file->fd, got > 0 ? (unsigned int)got : 0 };
	return page->n;
}

size_t paged_read(const struct paged_file *file, uint64_t offset, void *buf, size_t n)
{
	size_t got = 0;

	while (got < n && offset + got >= offset) {
		uint64_t at = offset + got;
		size_t into = at % PAGE_BYTES, one = n - got;
		const uint8_t *bytes;
		size_t there = page_at(file, at / PAGE_BYTES, &bytes);

		if (there <= into)
			break;
		if (one > there - into)
			one = there - into;
		memcpy((uint8_t *)buf + got, bytes + into, one);
		got += one;
		if (into + one < PAGE_BYTES && got < n) /* it ends there */
			break;
	}
	return got;
}
