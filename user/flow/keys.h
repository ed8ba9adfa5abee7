/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which processes have async roots, and where: watches what processes map,
 * looks each file through once, and publishes the addresses of the key
 * variables for the ticks to read. A process that has none costs nothing.
 */
#ifndef WEFT_FLOW_KEYS_H
#define WEFT_FLOW_KEYS_H

#include "flow/pipeline.h"
#include "kern/sampler.h"
#include "sym/files.h"

struct keys;

struct keys_counts {
	unsigned long processes; /* published, each life once */
	unsigned long refused;	 /* table full, identity hidden */
	unsigned long stale;	 /* published anew because a sample said so */
	unsigned long measured;	 /* late mappings with a key */
	uint64_t delay_median_ns, delay_most_ns; /* from mapping to published */
};

int keys_new(struct keys **ret, struct sampler *sampler);
void keys_free(struct keys *keys);
DEFINE_FREEP(keys)

/* What the pipeline is to call; and then, whom it calls. */
struct pipeline_sink keys_sink(struct keys *keys);
void keys_attach(struct keys *keys, struct pipeline *pipeline, struct files *files);

/* A file's facts are there: file_sink of sym/files.h. */
void keys_file_known(void *arg, uint32_t module, const struct elf_facts *facts);

/* Where an address as linked lies in a process that maps the file so; 0: not. */
uint64_t keys_address(const struct elf_facts *facts, const struct mapping *map,
		      uint64_t vaddr);

/* Mappings born after this are late: their delay is measured. */
void keys_started(struct keys *keys, uint64_t now_ns);

/* The first error that a callback met; they have no way to return it. */
int keys_error(const struct keys *keys);

void keys_count(const struct keys *keys, struct keys_counts *ret);

#endif
