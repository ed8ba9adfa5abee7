/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that processes map, for libdwfl. This is a test of programs that we
 * started ourselves on this machine: files are opened by their paths.
 */
#ifndef CROSSCHECK_IMAGE_H
#define CROSSCHECK_IMAGE_H

#include "base/cleanup.h"

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

struct images;

int images_new(struct images **ret);
void images_free(struct images *images);
DEFINE_FREEP(images)

/* The path as one that lives as long as this; NULL: of no file. */
const char *images_path(struct images *images, const char *path);

/* An empty list that is being filled, or NULL. */
Dwfl *images_begin(struct images *images);

/* Adds the file of a mapping, once. False: it can't be read or is not taken. */
bool images_report(struct images *images, Dwfl *dwfl, const char *path, uint64_t start,
		   uint64_t pgoff);

#endif
