/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields of a recording's batches and of its file, as docs/weft.proto has
 * them; docs/format.md says what they mean.
 */
#ifndef WEFT_FORMAT_WEFT_WEFT_FIELDS_H
#define WEFT_FORMAT_WEFT_WEFT_FIELDS_H

#define RECORDING_MAGIC "weft recording 2\n"
/* What a file begins with: the first field, whose length is in its second byte. */
#define RECORDING_START "\x0a\x11" RECORDING_MAGIC

enum recording_field { RECORDING_MAGIC_FIELD = 1, RECORDING_BLOCK = 2 };

enum block_field { BLOCK_CRC32 = 1, BLOCK_RAW_BYTES = 2, BLOCK_DEFLATED = 3 };

#define BLOCK_RAW_MAX	  (64u << 20)
#define BATCH_RAW_USUALLY (4u << 20) /* a larger one is split, where it can be */

/* Columns: packed numbers. What ends in _STEP is the distance to the one before
 * it in the column, zigzag. */
enum batch_field {
	BATCH_STRING = 1,
	BATCH_MODULE_PATH = 2,
	BATCH_MODULE_BUILD_ID = 3,
	BATCH_FRAME_OFFSET = 4,
	BATCH_FRAME_MODULE = 5,
	BATCH_FRAME_TYPE = 6, /* doubled, plus 1 if it is a return address */
	BATCH_FRAME_NAME = 7,
	BATCH_FRAME_FILE = 8,
	BATCH_FRAME_LINE = 9,
	BATCH_NODE_UP = 10,   /* own number - 1 - parent */
	BATCH_NODE_CODE = 11, /* zigzag step of the frame, doubled; or a mark + 1 */
	BATCH_STACK_ASYNC_STEP = 12,
	BATCH_STACK_THREAD = 13, /* zigzag of async - thread */
	BATCH_STACK_NOTES = 14,
	BATCH_PROCESS_HOST = 15,
	BATCH_PROCESS_PID = 16,
	BATCH_PROCESS_NAME = 17,
	BATCH_PROCESS_CGROUP = 18,
	BATCH_PROCESS_LIFE = 19,
	BATCH_THREAD_PROCESS = 20,
	BATCH_THREAD_TID = 21,
	BATCH_THREAD_NAME = 22,
	BATCH_SAMPLE_KEY_STACK_STEP = 23,
	BATCH_SAMPLE_KEY_THREAD_STEP = 24,
	BATCH_LOG = 25, /* core/timeline.c */
	BATCH_UNDATED_SAMPLE_KEY = 26,
	BATCH_UNDATED_COUNT = 27,
	BATCH_NAMED_FRAME_STEP = 28,
	BATCH_NAMED_NAME = 29,
	BATCH_AGAIN_STACK_STEP = 30,
	BATCH_AGAIN_ASYNC_STEP = 31,
	BATCH_AGAIN_THREAD = 32,
	BATCH_AGAIN_NOTES = 33,
	BATCH_KNOWN_MODULE_STEP = 34,
	BATCH_KNOWN_BUILD_ID = 35,
	BATCH_RUN = 36,
	BATCH_COUNT = 37,
	BATCH_VALUE_TYPE = 38,
	BATCH_VALUE_UNIT = 39,
	BATCH_PERIOD_NS = 40,
	BATCH_ONE_VIEW = 41,
	BATCH_LEFT_OUT = 42,
	BATCH_COMPLETE = 43,
	BATCH_NAMED_FILE = 44,
	BATCH_NAMED_LINE = 45,
	BATCH_STACK_HOOK = 46,
	BATCH_AGAIN_HOOK = 47,
	BATCH_UNDATED_WEIGHT_NS = 48,
	BATCH_FIELDS
};

enum run_field {
	RUN_HOST = 1,
	RUN_KERNEL = 2,
	RUN_ARCH = 3,
	RUN_COMMAND = 4,
	RUN_EVENT = 5,
	RUN_HZ = 6,
	RUN_STARTED_UNIX_NS = 7,
	RUN_DURATION_NS = 8,
};

enum count_field { COUNT_KEY = 1, COUNT_VALUE = 2 };

#endif
