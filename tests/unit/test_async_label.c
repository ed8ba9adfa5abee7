/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Labels of weft/async.h: they hold their text, and nothing that outlives a pushed one
 * leads to it. Frames that are marked once, and contexts, which hold their record.
 */
#include "weft/async.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static struct weft_frame running;

static void test_label_between_frame_and_parent(void **state)
{
	struct weft_frame parent, frame;
	struct weft_label label, other;

	weft_frame_init(&parent, NULL, WEFT_HERE());
	weft_frame_init(&frame, &parent, WEFT_HERE());
	weft_frame_label(&frame, &label, "GET /users");
	assert_ptr_equal(frame.parent, &label.frame);
	assert_ptr_equal(label.frame.parent, &parent);
	assert_ptr_equal(label.frame.ip, folly_async_stack_metadata_frame_cookie);
	assert_null(label.frame.root);
	assert_string_equal(label.text, "GET /users");
	assert_int_equal(label.tag, WEFT_LABEL_TAG);
	/* folly's tools read their metadata there */
	assert_int_equal(offsetof(struct weft_label, text), sizeof(struct weft_frame));
	weft_frame_unlabel(&frame, &other);
	assert_ptr_equal(frame.parent, &label.frame);
	weft_frame_unlabel(&frame, &label);
	assert_ptr_equal(frame.parent, &parent);
}

static void test_label_around_a_part(void **state)
{
	struct weft_entry entry;
	struct weft_label label;
	struct weft_frame step;

	weft_root_enter(&entry, &running);
	weft_label_push(&entry.root, &label, "retry");
	assert_ptr_equal(label.frame.parent, &running);
	weft_frame_push(&entry.root, &step, WEFT_HERE());
	assert_ptr_equal(step.parent, &label.frame);
	weft_frame_pop(&entry.root, &step);
	weft_label_pop(&entry.root, &label);
	assert_ptr_equal(weft_frame_current(), &running);
	weft_root_leave(&entry);
	weft_label_push(NULL, &label, "nowhere");
	weft_label_pop(NULL, &label);
}

/* Whatever becomes of the text, and however long it is. */
static void test_label_keeps_its_text(void **state)
{
	struct weft_frame frame = { NULL, NULL, NULL };
	struct weft_label label;
	char text[80];

	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		size_t most = n < WEFT_LABEL_BYTES ? n : WEFT_LABEL_BYTES - 1;

		memset(text, 'x', n);
		text[n] = '\0';
		weft_frame_label(&frame, &label, text);
		memset(text, 'y', sizeof(text));
		assert_int_equal(strlen(label.text), most);
		assert_int_equal(strspn(label.text, "x"), most);
		weft_frame_unlabel(&frame, &label);
	}
	weft_frame_label(&frame, &label, "a literal of more than thirty-five bytes");
	assert_string_equal(label.text, "a literal of more than thirty-five ");
}

static void test_queued_work_leads_to_no_pushed_label(void **state)
{
	struct weft_entry entry;
	struct weft_label first, second;
	struct weft_frame asked;
	struct weft_op op;
	const struct weft_frame *last;

	weft_root_enter(&entry, &running);
	weft_label_push(&entry.root, &first, "retry");
	weft_label_push(&entry.root, &second, "again");
	weft_frame_mark(&asked);
	weft_capture(&op);
	assert_ptr_equal(weft_frame_current(), &second.frame);
	assert_ptr_equal(weft_frame_asker(), &running);
	weft_label_pop(&entry.root, &second);
	weft_label_pop(&entry.root, &first);
	weft_root_leave(&entry);
	assert_ptr_equal(asked.parent, &running);
	for (last = op.frame.parent; last->parent; last = last->parent)
		;
	assert_ptr_equal(last, &running);
}

static void test_a_label_comes_along_as_a_copy(void **state)
{
	struct weft_label pushed, kept = { { NULL, NULL, NULL }, NULL, 0, "" };
	struct weft_entry entry;
	struct weft_frame asked;

	weft_root_enter(&entry, &running);
	weft_frame_mark_labelled(&asked, &kept);
	assert_ptr_equal(asked.parent, &running);
	assert_null(kept.text);
	weft_label_push(&entry.root, &pushed, "retry");
	weft_frame_mark_labelled(&asked, &kept);
	weft_label_pop(&entry.root, &pushed);
	weft_root_leave(&entry);
	memset(&pushed, 0xff, sizeof(pushed));
	assert_ptr_equal(asked.parent, &kept.frame);
	assert_ptr_equal(kept.frame.parent, &running);
	assert_string_equal(kept.text, "retry");
}

static void test_a_handler_that_queues_itself_again(void **state)
{
	struct weft_frame asker = { NULL, NULL, NULL }, frame = { NULL, NULL, NULL };
	struct weft_entry entry;
	void *place;

	weft_root_enter(&entry, &asker);
	weft_frame_mark_once(&frame);
	weft_root_leave(&entry);
	place = frame.ip;
	assert_non_null(place);
	weft_root_enter(&entry, &frame);
	weft_frame_mark_once(&frame);
	weft_root_leave(&entry);
	assert_ptr_equal(frame.parent, &asker);
	assert_ptr_equal(frame.ip, place);
	weft_frame_clear(&frame);
	weft_root_enter(&entry, &running);
	weft_frame_mark_once(&frame);
	weft_root_leave(&entry);
	assert_ptr_equal(frame.parent, &running);
	assert_ptr_not_equal(frame.ip, place);
}

static void test_a_context_is_a_copy_of_its_record(void **state)
{
	unsigned char record[640];
	struct weft_frame parent, frame;
	struct weft_context context;
	uint16_t n;

	weft_frame_init(&parent, NULL, WEFT_HERE());
	weft_frame_init(&frame, &parent, WEFT_HERE());
	memset(record, 0x5a, sizeof(record));
	record[24] = 0;
	weft_frame_carry(&frame, &context, record);
	weft_frame_carry(&frame, &context, NULL);
	assert_ptr_equal(frame.parent, &parent);
	record[24] = 1;
	for (n = 0; n <= 612; n += 102) {
		uint16_t kept = n < WEFT_CONTEXT_BYTES - 28 ? n : WEFT_CONTEXT_BYTES - 28;

		memcpy(record + 26, &n, sizeof(n));
		weft_frame_carry(&frame, &context, record);
		assert_ptr_equal(frame.parent, &context.frame);
		assert_ptr_equal(context.frame.parent, &parent);
		assert_ptr_equal(context.record, context.copy);
		assert_int_equal(context.tag, WEFT_CONTEXT_TAG);
		assert_memory_equal(context.copy, record, 26);
		assert_memory_equal(context.copy + 26, &kept, sizeof(kept));
		assert_memory_equal(context.copy + 28, record + 28, kept);
		weft_frame_uncarry(&frame, &context);
		weft_frame_uncarry(&frame, &context);
		assert_ptr_equal(frame.parent, &parent);
	}
	/* a reader finds it where a label has its text */
	assert_int_equal(offsetof(struct weft_context, record),
			 offsetof(struct weft_label, text));
}

static void test_a_context_of_ids(void **state)
{
	static const unsigned char trace[16] = { 1, 2 }, span[8] = { 3, 4 };
	struct weft_frame frame, *asker = &frame;
	struct weft_context context;
	struct weft_entry entry;
	unsigned char wanted[28] = { 1, 2, [16] = 3, 4, [24] = 1 };

	weft_frame_init(&frame, NULL, WEFT_HERE());
	weft_frame_carry_ids(&frame, &context, trace, span);
	assert_memory_equal(context.copy, wanted, sizeof(wanted));
	/* what is asked for leads to the operation, and so to its context */
	weft_root_enter(&entry, asker);
	assert_ptr_equal(weft_frame_asker(), asker);
	weft_root_leave(&entry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_label_between_frame_and_parent),
		cmocka_unit_test(test_label_around_a_part),
		cmocka_unit_test(test_label_keeps_its_text),
		cmocka_unit_test(test_queued_work_leads_to_no_pushed_label),
		cmocka_unit_test(test_a_label_comes_along_as_a_copy),
		cmocka_unit_test(test_a_handler_that_queues_itself_again),
		cmocka_unit_test(test_a_context_is_a_copy_of_its_record),
		cmocka_unit_test(test_a_context_of_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
