// SPDX-License-Identifier: BSD-2-Clause
#include "pipeline/translate.h"

#include "base/error.h"
#include "base/str.h"
#include "core/module.h"
#include "core/sample.h"
#include "shared/knobs.h"

#include <errno.h>
#include <string.h>

#define UNREADABLE "a label that can't be read"

_Static_assert(sizeof(UNREADABLE) <= LABEL_WORDS_MAX * LABEL_WORD_BYTES, "its own text");

/* What a word of a sample came to in this window. At few samples a second all of this is
 * in nobody's cache: to find a mapping and a frame anew is to wait for memory six times,
 * for these it is asked at once (await_words()). */
#define KNOWN_WORD_BITS	  12
#define KNOWN_WORD_SPREAD 0x9e3779b97f4a7c15ULL /* 2^64 by the golden ratio */

struct known_word {
	uint64_t word;
	uint64_t where; /* whose, where_of() or in_kernel(); 0: this is none */
	uint32_t code;
};

struct translator {
	struct aggregator *aggregator;
	uint64_t time_ns; /* of the sample */
	uint64_t code_ns; /* of its generated code */
	uint64_t where;	  /* its words in user mode are */
	uint32_t n;
	uint32_t n_text; /* of a label, so far */
	char text[LABEL_WORDS_MAX * LABEL_WORD_BYTES + 1];
	struct {
		struct trace_attributes of;
		unsigned char room[ATTRIBUTES_BYTES_MAX];
	} trace;
	uint32_t codes[STACK_HEAD + 2 * RECORD_WORDS_MAX];
	struct known_word known[1 << KNOWN_WORD_BITS];
};

int translator_new(struct translator **ret, struct aggregator *aggregator)
{
	struct translator *translator = calloc(1, sizeof(*translator));

	if (!translator)
		return fail(-ENOMEM, "no memory for a stack");
	translator->aggregator = aggregator;
	*ret = translator;
	return 0;
}

void translator_free(struct translator *translator)
{
	free(translator);
}

static struct known_word *known_slot(struct translator *t, uint64_t word, uint64_t where)
{
	uint64_t key = (word ^ where * KNOWN_WORD_SPREAD) * KNOWN_WORD_SPREAD;

	return &t->known[key >> (64 - KNOWN_WORD_BITS)];
}

static uint64_t in_kernel(bool returned)
{
	return UINT64_MAX - returned;
}

/* Who has the same mappings has the same frames; 0: but for when they were sampled. */
static uint64_t where_of(const struct translator *t, const struct process *process)
{
	if (t->code_ns)
		return 0;
	return process ? 1 + process_version(process) : 1;
}

/* The words of a sample will be asked for: all lines of memory that know them. */
static void await_words(struct translator *t, const struct sample_rec *rec)
{
	for (unsigned int i = 0; i < rec->n_kernel; i++)
		__builtin_prefetch(known_slot(t, rec->words[i], in_kernel(i > 0)));
	for (unsigned int i = rec->n_kernel; i < sample_stack_words(rec); i++)
		__builtin_prefetch(known_slot(t, rec->words[i], t->where));
}

static bool recall(struct translator *t, uint64_t word, uint64_t where)
{
	const struct known_word *known = known_slot(t, word, where);

	if (!where || known->word != word || known->where != where)
		return false;
	t->codes[t->n++] = known->code;
	return true;
}

static struct frame kernel_frame(uint64_t addr, bool returned)
{
	return (struct frame){ addr, MODULE_ID_KERNEL, returned, 0, 0, 0 };
}

static struct frame user_frame(const struct translator *t, const struct process *process,
			       uint64_t addr, bool returned)
{
	const struct mapping *map =
		process ? process_mapping(process, addr - returned) : NULL;
	struct frame frame = { addr, MODULE_ID_UNMAPPED, returned, 0, 0, 0 };

	if (!map)
		return frame;
	frame.module = map->module;
	if (map->module == MODULE_ID_VDSO)
		frame.offset = addr - map->start;
	else if (!map->is_jit)
		frame.offset = addr - map->start + map->pgoff;
	else
		frame.code_ns = t->code_ns;
	return frame;
}

static int put_frame(struct translator *t, const struct frame *frame)
{
	uint32_t id;
	int err = aggregator_frame_id(t->aggregator, frame, &id);

	if (err == INTERN_FULL) {
		struct frame none = { 0, MODULE_ID_UNMAPPED, 0, 0, 0, 0 };

		t->aggregator->samples.frames_dropped++;
		err = aggregator_frame_id(t->aggregator, &none, &id);
		if (err == INTERN_FULL) { /* not even that: a gap is true */
			t->codes[t->n++] = CODE_GAP;
			return 0;
		}
	}
	if (!err && frame->code_ns)
		err = aggregator_frame_seen(t->aggregator, id, t->time_ns);
	if (!err)
		t->codes[t->n++] = CODE_FRAME | id;
	return err;
}

/* With more than where it is: kind, CODE_…; but a gap stays one. */
static int put_frame_as(struct translator *t, const struct frame *frame, uint32_t kind)
{
	int err = put_frame(t, frame);

	if (!err && (t->codes[t->n - 1] & CODE_KIND) == CODE_FRAME)
		t->codes[t->n - 1] |= kind;
	return err;
}

/* What is the same whenever it is met; known from then on, if there was room for it. */
static int put_place(struct translator *t, const struct frame *frame, uint32_t kind,
		     const struct known_word *of)
{
	uint64_t dropped = t->aggregator->samples.frames_dropped;
	int err = put_frame_as(t, frame, kind);

	if (err || !of->where || t->aggregator->samples.frames_dropped != dropped)
		return err;
	*known_slot(t, of->word, of->where) =
		(struct known_word){ of->word, of->where, t->codes[t->n - 1] };
	return 0;
}

static int put_kernel(struct translator *t, uint64_t addr, bool returned)
{
	const struct known_word of = { addr, in_kernel(returned), 0 };
	struct frame frame = kernel_frame(addr, returned);

	return recall(t, addr, of.where) ? 0 : put_place(t, &frame, CODE_FRAME, &of);
}

static int put_user(struct translator *t, const struct process *process, uint64_t word)
{
	const struct known_word of = { word, t->where, 0 };
	unsigned int kind = FRAME_KIND(word);
	struct frame frame;

	if (recall(t, word, of.where))
		return 0;
	frame = user_frame(t, process, FRAME_ADDR(word), kind != FRAME_USER);
	frame.unproven = kind == FRAME_UNPROVEN;
	frame.uncallable = kind == FRAME_SYSCALL || kind == FRAME_LAUNCH ||
			   kind == FRAME_RESUMER || kind == FRAME_ASYNC;
	return put_place(t, &frame, kind == FRAME_RESUMER ? CODE_RESUMER : CODE_FRAME,
			 &of);
}

/* In the generated code of its process, where no code is. */
static int put_method(struct translator *t, const struct process *process, uint64_t addr)
{
	struct frame frame = { addr, MODULE_ID_UNMAPPED, 0, 0, 0, 0 };
	const struct mapping *map = process ? process_generated(process) : NULL;

	if (map)
		frame.module = map->module;
	return put_frame(t, &frame);
}

/* A frame only if its name says so. What its file says of it is asked as of callers. */
static int put_bottom(struct translator *t, const struct process *process, uint64_t addr)
{
	struct frame frame = user_frame(t, process, addr, true);

	return put_frame_as(t, &frame, CODE_BOTTOM);
}

/* The label's text is complete: a frame of its own, or too many are. */
static int put_label(struct translator *t)
{
	char clean[4 * sizeof(t->text)];
	struct frame frame = { 0, MODULE_ID_UNMAPPED, FRAME_IS_LABEL, 0, 0, 0 };
	uint32_t id;
	int err;

	str_clean(clean, sizeof(clean), t->text, t->n_text);
	t->n_text = 0;
	err = intern_id(t->aggregator->labels, clean, strlen(clean), &id);
	frame.offset = err ? UINT64_MAX : id; /* "[label]" */
	return err < 0 ? err : put_frame_as(t, &frame, CODE_LABEL);
}

/* In place of the text, or of its rest. */
static int put_unreadable(struct translator *t)
{
	t->aggregator->samples.labels_unreadable++;
	if (!t->n_text) {
		t->n_text = sizeof(UNREADABLE) - 1;
		memcpy(t->text, UNREADABLE, t->n_text);
	}
	return put_label(t);
}

static int put_text(struct translator *t, uint64_t word)
{
	size_t n = 0;

	if (FRAME_ADDR(word) == LABEL_UNREADABLE)
		return put_unreadable(t);
	while (n < LABEL_WORD_BYTES && word >> 8 * n & 0xff)
		n++;
	for (size_t i = 0; i < n && t->n_text < sizeof(t->text) - 1; i++)
		t->text[t->n_text++] = (char)(word >> 8 * i);
	if (n < LABEL_WORD_BYTES || t->n_text == sizeof(t->text) - 1)
		return put_label(t);
	t->codes[t->n++] = CODE_LABEL | CODE_LABEL_MORE;
	return 0;
}

/* Of a text that could not be read to its end, what there is. */
static int end_text(struct translator *t)
{
	t->n--; /* which said that there is more */
	return put_label(t);
}

static int put_word(struct translator *t, const struct process *process, uint64_t word)
{
	if (FRAME_KIND(word) != FRAME_LABEL && t->n_text) {
		int err = end_text(t);

		if (err)
			return err;
	}
	switch (FRAME_KIND(word)) {
	case FRAME_USER:
	case FRAME_SYSCALL:
	case FRAME_UNPROVEN:
	case FRAME_CALLER:
	case FRAME_LAUNCH:
	case FRAME_RESUMER:
	case FRAME_ASYNC:
		return put_user(t, process, word);
	case FRAME_METHOD:
		return put_method(t, process, FRAME_ADDR(word));
	case FRAME_BOTTOM:
		return put_bottom(t, process, FRAME_ADDR(word));
	case FRAME_LABEL:
		return put_text(t, word);
	case FRAME_ROOT:
		t->codes[t->n++] = CODE_ROOT | ROOT_NUMBER(word);
		return 0;
	case FRAME_GAP:
		t->codes[t->n++] = CODE_GAP | GAP_ENDING(word);
		return 0;
	case FRAME_SEGMENT:
		t->codes[t->n++] = CODE_SEGMENT | (SEGMENT_KIND(word) & 0xff) << 16 |
				   SEGMENT_ENDING(word) << 8 | SEGMENT_ROOT(word);
		t->codes[t->n++] = SEGMENT_TARGET(word) << 16 | SEGMENT_COUNT(word);
		return 0;
	default:
		return fail(-EBADMSG, "a sample with a word of kind %u",
			    FRAME_KIND(word));
	}
}

static int put_comm(struct translator *t, const char *comm)
{
	char clean[TASK_COMM_BYTES];
	uint32_t id;
	int err;

	str_clean(clean, sizeof(clean), comm, TASK_COMM_BYTES);
	err = intern_id(t->aggregator->comms, clean, strlen(clean), &id);
	if (err == INTERN_FULL) /* whoever renames threads without end */
		id = 0;
	t->codes[STACK_COMM] = id;
	return err < 0 ? err : 0;
}

static int put_trace(struct translator *t, const struct sample_rec *rec,
		     uint32_t incarnation)
{
	static const struct trace_ids none;
	const unsigned long long *words = &rec->words[sample_stack_words(rec)];
	bool is_traced = rec->flags & SAMPLE_TRACED;
	uint32_t bytes, id = 0;
	int err = 0;

	t->trace.of.ids = none;
	t->trace.of.incarnation = incarnation;
	if (is_traced)
		memcpy(&t->trace.of.ids, words, sizeof(t->trace.of.ids));
	if (rec->flags & SAMPLE_ATTRIBUTED) {
		bytes = ATTRIBUTES_BYTES(rec->words[rec->n_words - 1]);
		memcpy(t->trace.room, &words[is_traced ? TRACE_WORDS : 0], bytes);
		err = intern_id(t->aggregator->traces, &t->trace,
				sizeof(t->trace.of) + bytes, &id);
	} else if (is_traced) {
		err = intern_id(t->aggregator->traces, &t->trace.of.ids,
				sizeof(t->trace.of.ids), &id);
	}
	if (err == INTERN_FULL) {
		t->aggregator->samples.traces_dropped++;
		id = 0;
	}
	t->codes[STACK_TRACE] = id;
	return err < 0 ? err : 0;
}

/* By what generated code of a sample is told from that of others: if its dump did not
 * grow since before the sample, all is as it was; else this very sample's time. Of more
 * of these than there is room for, none is told from another. */
static uint64_t code_time(struct aggregator *aggregator, const struct process *process,
			  uint64_t time_ns)
{
	if (!process || !process->code_since_ns)
		return 0;
	if (time_ns > process->code_since_ns)
		return process->code_since_ns;
	if (aggregator->code_times >= CODE_TIMES_MAX)
		return 1;
	aggregator->code_times++;
	return time_ns;
}

int translate_sample(struct translator *t, const struct sample_rec *rec,
		     const struct process *process)
{
	const struct sample_owner owner = {
		.time_ns = rec->ts_ns,
		.weight_ns = rec->weight_ns,
		.tgid = rec->tgid,
		.incarnation = process ? process->incarnation : 0,
		.tid = rec->tid,
	};
	int err = put_comm(t, rec->comm);

	if (!err)
		err = aggregator_begin_sample(t->aggregator, rec->user);
	if (!err)
		err = put_trace(t, rec, owner.incarnation);
	t->codes[STACK_HOOK] = rec->hook;
	t->codes[STACK_ENDING] = rec->ending;
	t->codes[STACK_KERNEL] = rec->n_kernel;
	t->codes[STACK_THREAD] = rec->n_thread;
	t->time_ns = rec->ts_ns;
	t->code_ns = code_time(t->aggregator, process, rec->ts_ns);
	t->where = where_of(t, process);
	await_words(t, rec);
	t->n = STACK_HEAD;
	t->n_text = 0;
	for (unsigned int i = 0; !err && i < rec->n_kernel; i++)
		err = put_kernel(t, rec->words[i], i > 0);
	for (unsigned int i = rec->n_kernel; !err && i < sample_stack_words(rec); i++)
		err = put_word(t, process, rec->words[i]);
	if (!err && t->n_text)
		err = end_text(t);
	return err ? err : aggregator_add(t->aggregator, t->codes, t->n, &owner);
}
