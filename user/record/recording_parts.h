/* SPDX-License-Identifier: BSD-2-Clause */
/* What a live recording is made of. recording.c wires it; recording_look.c reads in /proc
 * what the sideband does not tell. */
#ifndef WEFT_RECORD_RECORDING_PARTS_H
#define WEFT_RECORD_RECORDING_PARTS_H

#include "kern/ksyms.h"
#include "kern/sampler.h"
#include "pipeline/pipeline.h"
#include "proc/scan_all.h"
#include "publish/publisher.h"
#include "record/command.h"
#include "record/declared.h"
#include "record/record.h"
#include "record/sideband_filter.h"
#include "record/watched_pids.h"
#include "record/windows.h"
#include "sym/debug_servers.h"
#include "sym/jitdumps.h"
#include "sym/jvm_names.h"
#include "sym/perf_maps.h"
#include "tape/tape.h"

struct recording {
	const struct record_options *options;
	struct worker *worker;
	struct opener *opener;		  /* of what processes name and map */
	struct declared *declared;	  /* NULL: nobody wants to know */
	struct worker *large_file_worker; /* NULL: no tables */
	struct debug_servers *servers;	  /* of debug files; NULL: nobody is asked */
	struct command command;
	enum tick_event event;
	struct sampler *sampler;
	struct cache *cache; /* of unwind tables; NULL: none */
	struct publisher *publisher;
	struct pipeline *pipeline;
	struct windows windows; /* of what the pipeline hands on */
	struct files *files;	/* the publisher's */
	struct jitdumps *jitdumps;
	struct perf_maps *perf_maps;
	struct jvm_names *jvm_names;
	struct ksyms *ksyms;
	struct tape_writer *tape; /* NULL: none asked for */
	struct sideband_filter filter;
	struct watched_pids watched;
	uint64_t begun_ns, started_ns, stopped_ns;
	int nice;	       /* weft's own, as it was started */
	uint64_t looked_ns;    /* when /proc was last read through */
	uint64_t stirred_ns;   /* when something was last told that may need an answer */
	bool is_stirred;       /* it was since */
	bool ticks_find_files; /* of processes that nothing was told of */
	bool was_told_much; /* the sampler ended the last wait, and many before that, */
	uint64_t told_ns;   /* since when it was counted how often: */
	unsigned int n_told;
	uint64_t trimmed_ns;	  /* when the module table was gone through */
	bool must_look;		  /* something about processes was not told since */
	struct scan_queue unread; /* they run where nothing is known, or had to wait */
};

/* Only of processes that were asked for, so whoever waits for their files wants that. */
static inline bool recording_is_of_some(const struct recording *recording)
{
	return !recording->filter.everyone || recording->options->command;
}

#endif
