/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of a profile has a name, and from where: of all user frames of all samples, in
 * the thread view. A profile may be complete to the last frame and say nothing, if most
 * of its frames have no name; so this stands beside the other sums. For the modules that
 * hold most frames without a symbol, what would bring more.
 */
#ifndef WEFT_RECORD_NAME_LEDGER_H
#define WEFT_RECORD_NAME_LEDGER_H

#include "base/json.h"
#include "core/module.h"
#include "core/names.h"
#include "core/profile.h"
#include "sym/files.h"
#include "sym/packages.h"

#define NAME_LEDGER_MODULES    3
#define NAME_LEDGER_PATH_BYTES 256 /* longer paths are cut */

/* What of a module's would bring names. */
enum name_remedy {
	REMEDY_PACKAGE, /* the distribution has its debug symbols, in `package` */
	REMEDY_BUILD,	/* it was stripped by whoever built it */
	REMEDY_JIT,	/* its runtime can tell them */
	REMEDY_NONE,	/* it could not be opened: see `missed` */
};

struct unnamed_module {
	uint64_t frames; /* without a symbol */
	enum name_remedy remedy;
	uint32_t maj, min; /* of the file that was mapped; 0: of none */
	uint64_t ino;
	bool has_build_id; /* by which debug symbols are found: data that runs has none */
	char path[NAME_LEDGER_PATH_BYTES]; /* clean */
	char package[PACKAGE_BYTES];
	const char *asked; /* JIT: what makes it tell, or NULL (record/runtimes.h) */
	int missed;	   /* NONE: why, a negative errno */
};

struct name_ledger {
	uint64_t frames; /* of code in user mode, summed over samples */
	uint64_t by_origin[N_NAME_ORIGINS];
	uint64_t inlined;     /* beside these: functions that were inlined into them */
	uint64_t interpreted; /* of these: an interpreter's, which could name its code */
	const char *interpreter; /* what makes it do so; NULL: none, or it does */
	struct unnamed_module modules[NAME_LEDGER_MODULES]; /* those with most first */
	uint32_t n_modules;
	bool has_servers; /* debuginfod's were named, and asked */
};

/* What names were made for. */
struct name_ledger_source {
	const struct aggregator *aggregator;
	const struct module_table *modules;
	const struct names *names;
	const struct profile *profile; /* made of these */
	const struct files *files;     /* NULL: there are none */
};

/* 0 or -ENOMEM. */
int name_ledger_count(struct name_ledger *ret, const struct name_ledger_source *source);

/* Whose package has debug symbols. Reads all of the distribution's lists, some 10 MB for
 * each module, so it is for who shows the answer. */
void name_ledger_find_packages(struct name_ledger *ledger);

void name_ledger_summary(struct str *out, const struct name_ledger *ledger);
void name_ledger_json(struct json *json, const struct name_ledger *ledger);

#endif
