/* SPDX-License-Identifier: BSD-2-Clause */
/* What an environment says of a service: which variables are taken out of it, and which
 * attributes of those; and what is none of that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "child.h"
#include "base/resource.h"
#include "proc/open_copy.h"
#include "proc/open_environ.h"

static struct resource resource_of(const char *text)
{
	struct resource resource = { 0 };

	assert_int_equal(resource_add_text(&resource, text), 0);
	return resource;
}

static void takes_the_attributes_that_are_labels(void **state)
{
	struct resource r =
		resource_of("a=b, service.name = x y ,service.namespace=s%2C%3d%25,,"
			    "deployment.environment=old,deployment.environment.name=new,"
			    "k8s.namespace.name=eu");

	assert_string_equal(r.values[RESOURCE_SERVICE_NAME], "x y");
	assert_string_equal(r.values[RESOURCE_SERVICE_NAMESPACE], "s,=%");
	assert_string_equal(r.values[RESOURCE_DEPLOYMENT], "old");
	assert_string_equal(r.values[RESOURCE_POD_NAMESPACE], "eu");
}

static void a_name_that_nobody_gave_is_none(void **state)
{
	struct resource r = resource_of("service.name=unknown_service:java");

	assert_string_equal(r.values[RESOURCE_SERVICE_NAME], "");
	r = resource_of("service.name=unknown_servic");
	assert_string_equal(r.values[RESOURCE_SERVICE_NAME], "unknown_servic");
}

static void takes_nothing_of_what_is_broken(void **state)
{
	static const char *const broken[] = { "service.name=a,b", "service.name=a,c=%",
					      "service.name=a%4", "service.name=a%4g",
					      "service.name=%-1" };

	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
		struct resource r = { 0 };

		assert_int_equal(resource_add_text(&r, broken[i]), -EBADMSG);
		assert_string_equal(r.values[RESOURCE_SERVICE_NAME], "");
		error_clear();
	}
}

static void values_are_bounded_and_clean(void **state)
{
	struct resource r;
	char text[2000] = "service.name=";

	memset(text + strlen(text), 'x', sizeof(text) - 20);
	r = resource_of(text);
	assert_int_equal(strlen(r.values[RESOURCE_SERVICE_NAME]),
			 RESOURCE_VALUE_BYTES - 1);
	r = resource_of("service.name=a%0ab%1b%ff%c3%a9");
	assert_string_equal(r.values[RESOURCE_SERVICE_NAME], "a?b??\303\251");
}

static void picks_what_was_asked_for(void **state)
{
	static const char bytes[] = "A=1\0AB=2\0SECRET=x\0B=\0A=3\0C\0B=4\0D=cut";
	static const char expected[] = "A=1\0B=\0";
	AUTO_STR out = { 0 };

	environ_pick(&out, "B,A,C,D,E", bytes, sizeof(bytes) - 1);
	assert_int_equal(out.n, sizeof(expected) - 1);
	assert_memory_equal(out.s, expected, out.n);
}

static void leaves_out_what_is_too_long(void **state)
{
	char bytes[ENVIRON_VALUE_MAX + 8] = "A=";
	AUTO_STR out = { 0 };

	memset(bytes + 2, 'x', sizeof(bytes) - 3);
	environ_pick(&out, "A", bytes, sizeof(bytes));
	assert_int_equal(out.n, 0);
}

static void reads_what_a_process_began_with(void **state)
{
	static const char expected[] = "WEFT_A=1\0";
	char *const environment[] = { (char *)"WEFT_A=1", (char *)"WEFT_B=2", NULL };
	char *const argv[] = { (char *)"sleep", (char *)"600", NULL };
	AUTO_CLOSE int fd = -1;
	pid_t pid = fork();
	char text[64];
	ssize_t n = 0;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execve("/bin/sleep", argv, environment);
		_exit(1);
	}
	for (int i = 0; i < 30000 && n <= 0; i++) { /* until its exec */
		if (fd >= 0)
			close(GIVE_FD(fd));
		assert_int_equal(open_environ(pid, "WEFT_A", &fd), 0);
		n = read(fd, text, sizeof(text));
		usleep(1000);
	}
	end_child(pid);
	assert_true(open_is_copy(fd));
	assert_int_equal(n, sizeof(expected) - 1);
	assert_memory_equal(text, expected, (size_t)n);
	assert_int_equal(open_environ(pid, "WEFT_A", &fd), -ESRCH);
	error_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_the_attributes_that_are_labels),
		cmocka_unit_test(a_name_that_nobody_gave_is_none),
		cmocka_unit_test(takes_nothing_of_what_is_broken),
		cmocka_unit_test(values_are_bounded_and_clean),
		cmocka_unit_test(picks_what_was_asked_for),
		cmocka_unit_test(leaves_out_what_is_too_long),
		cmocka_unit_test(reads_what_a_process_began_with),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
