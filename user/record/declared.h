/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes say of themselves: the name of their service, and variables of their
 * environment that somebody asked for. Read once in the life of a process, soon after its
 * first sample, and again when it runs another program. A process context is looked for
 * once it may have been published, and a few times more while there is none. Anybody can
 * say anything here: it is a claim, of bounded size and clean text, about this process
 * alone.
 */
#ifndef WEFT_RECORD_DECLARED_H
#define WEFT_RECORD_DECLARED_H

#include "base/label.h"
#include "core/aggregator.h"
#include "proc/process.h"
#include "record/context_values.h"
#include "worker/worker.h"

#define ATTRIBUTE_NAMES_MAX    16  /* that may be allowed */
#define DECLARED_VARIABLES_MAX 16  /* that may be asked for */
#define DECLARED_NAME_BYTES    256 /* of the longest name of these, with its NUL */
#define DECLARED_BYTES_MAX     (4u << 20)
#define DECLARED_PROCESSES_MAX 16384

struct declared_options {
	bool by_environment; /* OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES */
	bool by_context;     /* proc/open_context.h */
	/* Names with commas; labels are called so in small letters. NULL: none. */
	const char *variables;
	/* Keys of threads' attributes that are allowed, with commas; NULL: none. */
	const char *attributes;
};

enum declared_by {
	DECLARED_CONTEXT,
	DECLARED_ENVIRONMENT,
	DECLARED_VARIABLES,
	N_DECLARED
};

struct declared_counts {
	uint64_t read;	  /* processes that were asked */
	uint64_t refused; /* what can't be read, is broken, or too much */
};

struct declared;

/* Does anybody want to know? */
bool declared_is_wanted(const struct declared_options *options);

/* Starts an opener of its own, so that who holds it up loses nothing but this. options
 * is borrowed. */
int declared_new(struct declared **ret, const struct declared_options *options);
void declared_free(struct declared *declared);
DEFINE_FREEP(declared)

/* Those that came to the open window's aggregator since. */
void declared_look(struct declared *declared, const struct aggregator *aggregator,
		   const struct process_table *processes);

/* From now on another window is open. Forgets who has ended, once no window that waits
 * for its names can ask for it. */
void declared_next_window(struct declared *declared,
			  const struct process_table *processes);

/* Takes apart what processes of this window published. Of a worker of the caller's: it
 * may take a moment. */
void declared_parse(struct declared *declared, const struct aggregator *aggregator,
		    struct worker *worker);

/* Labels, one after the other: for (at = declared_of(…); declared_next(&at, &label);) */
const char *declared_of(const struct declared *declared, uint32_t incarnation,
			enum declared_by by);
bool declared_next(const char **at, struct label *ret);

/* NULL: not known. */
const struct attribute_keys *declared_keys(const struct declared *declared,
					   uint32_t incarnation);
/* The process has more of them meanwhile: its context is looked for again. */
void declared_ask_again(struct declared *declared, uint32_t incarnation);
const char *declared_attribute_names(const struct declared *declared);

/* NULL: nothing was asked. */
struct declared_counts declared_counts(const struct declared *declared);

#endif
