/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of a profile of pprof, by the names that profile.proto gives them;
 * tests/readers compares the two. */
#ifndef WEFT_FORMAT_PPROF_PPROF_FIELDS_H
#define WEFT_FORMAT_PPROF_PPROF_FIELDS_H

enum pprof_profile {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_DROP_FRAMES = 7,
	PROFILE_KEEP_FRAMES = 8,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};

enum pprof_value_type { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };

enum pprof_sample { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };

enum pprof_label { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3, LABEL_NUM_UNIT = 4 };

enum pprof_mapping {
	MAPPING_ID = 1,
	MAPPING_MEMORY_START = 2,
	MAPPING_MEMORY_LIMIT = 3,
	MAPPING_FILE_OFFSET = 4,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,
	MAPPING_HAS_INLINE_FRAMES = 10,
};

enum pprof_location {
	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LOCATION_IS_FOLDED = 5,
};

enum pprof_line { LINE_FUNCTION_ID = 1, LINE_LINE = 2 };

enum pprof_function {
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
	FUNCTION_START_LINE = 5,
};

/* How we write what stands between frames; the mapping of boundaries. */
#define PPROF_ASYNC_MAPPING "async"
#define PPROF_ASYNC	    "[async: asked for by]"
#define PPROF_WAITS	    "[async: this thread waits]"
#define PPROF_THREAD	    "[async: another thread waits]"
#define PPROF_FIBER	    "[fiber: resumed by]"

/* The labels of a sample of which a trace is known: ids in hex. */
#define PPROF_TRACE_LABEL "trace_id"
#define PPROF_SPAN_LABEL  "span_id"

/* How a file names the labels of samples that tell its series apart, in a comment; the
 * names follow, each after a space. */
#define PPROF_SERIES_COMMENT "series labels:"

#endif
