/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields of a recording's pieces and of its file, as docs/weft.proto has
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
#define PIECE_RAW_USUALLY (4u << 20) /* a larger one is split, where it can be */

/* Columns: packed numbers. What ends in _STEP is the distance to the one before
 * it in the column, zigzag. */
enum piece_field {
	PIECE_STRING = 1,
	PIECE_MODULE_PATH = 2,
	PIECE_MODULE_BUILD_ID = 3,
	PIECE_FRAME_OFFSET = 4,
	PIECE_FRAME_MODULE = 5,
	PIECE_FRAME_PLACE = 6, /* doubled, plus 1 if it is a return address */
	PIECE_FRAME_NAME = 7,
	PIECE_FRAME_FILE = 8,
	PIECE_FRAME_LINE = 9,
	PIECE_NODE_UP = 10,   /* own number - 1 - parent */
	PIECE_NODE_CODE = 11, /* zigzag step of the frame, doubled; or a mark + 1 */
	PIECE_STACK_ASYNC_STEP = 12,
	PIECE_STACK_THREAD = 13, /* zigzag of async - thread */
	PIECE_STACK_NOTES = 14,
	PIECE_PROCESS_HOST = 15,
	PIECE_PROCESS_PID = 16,
	PIECE_PROCESS_NAME = 17,
	PIECE_PROCESS_CGROUP = 18,
	PIECE_PROCESS_LIFE = 19,
	PIECE_THREAD_PROCESS = 20,
	PIECE_THREAD_TID = 21,
	PIECE_THREAD_NAME = 22,
	PIECE_USE_STACK_STEP = 23,
	PIECE_USE_THREAD_STEP = 24,
	PIECE_LOG = 25, /* core/timeline.c */
	PIECE_UNDATED_USE = 26,
	PIECE_UNDATED_COUNT = 27,
	PIECE_NAMED_FRAME_STEP = 28,
	PIECE_NAMED_NAME = 29,
	PIECE_AGAIN_STACK_STEP = 30,
	PIECE_AGAIN_ASYNC_STEP = 31,
	PIECE_AGAIN_THREAD = 32,
	PIECE_AGAIN_NOTES = 33,
	PIECE_KNOWN_MODULE_STEP = 34,
	PIECE_KNOWN_BUILD_ID = 35,
	PIECE_RUN = 36,
	PIECE_COUNT = 37,
	PIECE_VALUE_TYPE = 38,
	PIECE_VALUE_UNIT = 39,
	PIECE_PERIOD_NS = 40,
	PIECE_ONE_VIEW = 41,
	PIECE_LEFT_OUT = 42,
	PIECE_COMPLETE = 43,
	PIECE_NAMED_FILE = 44,
	PIECE_NAMED_LINE = 45,
	PIECE_STACK_HOOK = 46,
	PIECE_AGAIN_HOOK = 47,
	PIECE_UNDATED_WEIGHT_NS = 48,
	PIECE_FIELDS
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
