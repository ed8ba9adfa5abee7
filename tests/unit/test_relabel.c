/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules: what Prometheus' documentation says that they do to a set of labels, and what a
 * cgroup path says of its processes. */
#include "agent/relabel.h"
#include "agent/services.h"
#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DROPPED "dropped"

/* "a=1 b=2", as a set; the values have no spaces. */
static void fill(struct label_set *set, const char *text)
{
	char copy[512], *rest = copy, *word;

	snprintf(copy, sizeof(copy), "%s", text);
	while ((word = strsep(&rest, " "))) {
		char *value = strchr(word, '=');

		*value++ = '\0';
		label_set_put(set, word, value);
	}
}

static const char *written(const struct label_set *set)
{
	static char text[1024];
	struct label labels[SERIES_LABELS_MAX];
	size_t n = label_set_list(set, labels), at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s=%s",
				       i ? " " : "", labels[i].name, labels[i].value);
	return text;
}

/* What a rule makes of these labels. */
static const char *made(struct relabel_text text, const char *labels)
{
	AUTO(relabel_rule) rule = NULL;
	AUTO_LABEL_SET set = { 0 };

	text.title = "test";
	assert_int_equal(relabel_rule_new(&rule, &text), 0);
	fill(&set, labels);
	return relabel(&rule, 1, &set) ? written(&set) : DROPPED;
}

#define MADE(labels, ...) made((struct relabel_text){ __VA_ARGS__ }, labels)

static void a_regex_matches_the_whole(void **state)
{
	(void)state;
	assert_string_equal(
		MADE("a=foo", .action = RELABEL_KEEP, .sources = "a", .regex = "fo"),
		DROPPED);
	assert_string_equal(
		MADE("a=foo", .action = RELABEL_KEEP, .sources = "a", .regex = "fo+"),
		"a=foo");
	/* the anchors are around all alternatives */
	assert_string_equal(MADE("a=barn", .action = RELABEL_DROP, .sources = "a",
				 .regex = "foo|bar"),
			    "a=barn");
	assert_string_equal(
		MADE("a=bar", .action = RELABEL_DROP, .sources = "a", .regex = "foo|bar"),
		DROPPED);
	/* a label that is not there is "" */
	assert_string_equal(
		MADE("a=1", .action = RELABEL_DROP, .sources = "b", .regex = ".+"),
		"a=1");
	assert_string_equal(
		MADE("a=1", .action = RELABEL_KEEP, .sources = "b", .regex = ""), "a=1");
}

static void values_are_joined_and_replaced(void **state)
{
	(void)state;
	assert_string_equal(MADE("a=1 b=2", .sources = "a,b", .target = "c"),
			    "a=1 b=2 c=1;2");
	assert_string_equal(
		MADE("a=1 b=2", .sources = "b, a", .separator = "/", .target = "c"),
		"a=1 b=2 c=2/1");
	assert_string_equal(MADE("a=x-y", .sources = "a", .regex = "(.)-(.)",
				 .target = "b", .replacement = "$2${1}z$$$0"),
			    "a=x-y b=yxz$x-y");
	/* as Go has it: a name is as long as it can be, and one that is none is "" */
	assert_string_equal(
		MADE("a=x", .sources = "a", .target = "b", .replacement = "-$1z-$9-$"),
		"a=x b=---$");
	/* no match, no change; an empty result removes */
	assert_string_equal(MADE("a=x", .sources = "a", .regex = "y", .target = "a",
				 .replacement = "z"),
			    "a=x");
	assert_string_equal(
		MADE("a=x b=y", .sources = "a", .regex = "x()", .target = "b"), "a=x");
	/* a target may be made of what was matched, and then must be a name */
	assert_string_equal(
		MADE("a=k", .sources = "a", .target = "of_$1", .replacement = "v"),
		"a=k of_k=v");
	assert_string_equal(
		MADE("a=k-", .sources = "a", .target = "of_$1", .replacement = "v"),
		"a=k-");
}

static void names_are_mapped_dropped_and_kept(void **state)
{
	(void)state;
	assert_string_equal(
		MADE("m_a=1 m_b=2 c=3", .action = RELABEL_LABELMAP, .regex = "m_(.+)"),
		"a=1 b=2 c=3 m_a=1 m_b=2");
	assert_string_equal(
		MADE("m_a=1 a=9", .action = RELABEL_LABELMAP, .regex = "m_(.+)"),
		"a=1 m_a=1");
	assert_string_equal(
		MADE("m_a=1 m_b=2 c=3", .action = RELABEL_LABELDROP, .regex = "m_."),
		"c=3");
	assert_string_equal(
		MADE("m_a=1 m_b=2 c=3", .action = RELABEL_LABELKEEP, .regex = "m_."),
		"m_a=1 m_b=2");
}

static void values_are_compared_hashed_and_cased(void **state)
{
	(void)state;
	assert_string_equal(MADE("a=1 b=1", .action = RELABEL_KEEPEQUAL, .sources = "a",
				 .target = "b"),
			    "a=1 b=1");
	assert_string_equal(MADE("a=1 b=2", .action = RELABEL_KEEPEQUAL, .sources = "a",
				 .target = "b"),
			    DROPPED);
	assert_string_equal(MADE("a=1 b=1", .action = RELABEL_DROPEQUAL, .sources = "a",
				 .target = "b"),
			    DROPPED);
	/* as Prometheus' own test has it; md5sum agrees */
	assert_string_equal(MADE("a=foo b=bar c=baz", .action = RELABEL_HASHMOD,
				 .sources = "c", .target = "d", .modulus = 1000),
			    "a=foo b=bar c=baz d=976");
	assert_string_equal(
		MADE("a=Fo", .action = RELABEL_LOWERCASE, .sources = "a", .target = "b"),
		"a=Fo b=fo");
	assert_string_equal(
		MADE("a=Fo", .action = RELABEL_UPPERCASE, .sources = "a", .target = "a"),
		"a=FO");
}

static void what_others_wrote_is_cleaned(void **state)
{
	AUTO_LABEL_SET set = { 0 };
	char long_one[4 * LABEL_VALUE_BYTES_MAX];

	(void)state;
	memset(long_one, 'x', sizeof(long_one) - 1);
	long_one[sizeof(long_one) - 1] = '\0';
	label_set_put(&set, "a", "1\n\xff\x1b[m");
	label_set_put(&set, "b", long_one);
	assert_string_equal(label_set_get(&set, "a"), "1???[m");
	assert_int_equal(strlen(label_set_get(&set, "b")), LABEL_VALUE_BYTES_MAX);
	for (int i = 0; i < 2 * SERIES_LABELS_MAX; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		label_set_put(&set, name, "v");
	}
	assert_int_equal(set.n, SERIES_LABELS_MAX);
	assert_true(set.is_full);
}

#define ID   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD  "2c48913c-b29f-11e7-9350-020968147796"
#define POD_ "2c48913c_b29f_11e7_9350_020968147796"

static void a_cgroup_says_whose_a_process_is(void **state)
{
	static const struct {
		const char *cgroup, *service, *id, *pod;
	} cases[] = {
		{ "/", "", "", "" },
		{ "", "", "", "" },
		{ "/system.slice/nginx.service", "nginx", "", "" },
		{ "/system.slice/docker-" ID ".scope", "", ID, "" },
		{ "/user.slice/user-0.slice/user@0.service/init.scope", "", "", "" },
		{ "/user.slice/user@0.service/app.slice/x.service", "x", "", "" },
		{ "/kubepods/burstable/pod" POD "/" ID, "", ID, POD },
		{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_
		  ".slice/cri-containerd-" ID ".scope",
		  "", ID, POD },
		{ "/kubepods/pod0123456789abcdef0123456789abcdef/x", "", "",
		  "0123456789abcdef0123456789abcdef" },
		{ "/kubepods/pod0123/x", "", "", "" },
		{ "/pod" POD "/x", "", "", "" },
		{ "/a.service/b", "a", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char out[128];

		assert_string_equal(profile_service(out, sizeof(out), cases[i].cgroup),
				    cases[i].service);
		assert_string_equal(
			profile_container_id(out, sizeof(out), cases[i].cgroup),
			cases[i].id);
		assert_string_equal(profile_pod(out, sizeof(out), cases[i].cgroup),
				    cases[i].pod);
	}
}

static void too_many_series_are_told(void **state)
{
	const struct label host = { "service_name", "weft" };
	AUTO(series) series = NULL;
	size_t n;

	(void)state;
	assert_int_equal(series_new(&series, &host, 1), 0);
	for (int i = 0; i < 2 * SERIES_MAX; i++) {
		char value[16];

		snprintf(value, sizeof(value), "%d", i);
		assert_int_equal(
			series_add(series, &(struct label){ "service_name", value }, 1),
			0);
	}
	assert_int_equal(series->crowded, SERIES_MAX + 1);
	assert_int_equal(series->by_process.items[2 * SERIES_MAX - 1], 0);
	assert_int_equal(series->by_process.items[0], 1);
	series_pairs(series, 0, &n);
	assert_int_equal(n, 1);
	assert_true(series_has(series, "service_name"));
	assert_false(series_has(series, "service"));
	assert_false(series_has(NULL, "service_name"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_regex_matches_the_whole),
		cmocka_unit_test(values_are_joined_and_replaced),
		cmocka_unit_test(names_are_mapped_dropped_and_kept),
		cmocka_unit_test(values_are_compared_hashed_and_cased),
		cmocka_unit_test(what_others_wrote_is_cleaned),
		cmocka_unit_test(a_cgroup_says_whose_a_process_is),
		cmocka_unit_test(too_many_series_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
