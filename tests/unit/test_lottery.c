/* SPDX-License-Identifier: BSD-2-Clause */
/* Which hosts sample in an hour: as many as were asked for, by turns, and each for all of
 * its hour. The draw is a hash, so that what is found once is found always. */
#include "agent/lottery.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define HOSTS 20000
#define HOURS 1000
#define TENTH (LOTTERY_ALL / 10)

/* One of many, with an id as machines have them. */
static struct lottery made_host(unsigned int n, unsigned int share_ppm)
{
	struct lottery lottery;
	char id[33], name[32];

	snprintf(id, sizeof(id), "%032x", n * 2654435761U);
	snprintf(name, sizeof(name), "node-%u.example.org", n);
	lottery_begin(&lottery, share_ppm, id, name);
	return lottery;
}

/* Within 4 standard errors of n draws. */
static void check_share(unsigned int won, unsigned int n, double share)
{
	double off = won - n * share;

	assert_true(off * off <= 16 * n * share * (1 - share));
}

static unsigned int winners(unsigned int share_ppm, uint64_t hour)
{
	unsigned int won = 0;

	for (unsigned int n = 0; n < HOSTS; n++) {
		struct lottery lottery = made_host(n, share_ppm);

		won += lottery_wins(&lottery, hour);
	}
	return won;
}

static void each_hour_has_its_share_of_the_hosts(void **state)
{
	for (uint64_t hour = 491000; hour < 491010; hour++) {
		check_share(winners(TENTH, hour), HOSTS, 0.1);
		check_share(winners(LOTTERY_ALL / 2, hour), HOSTS, 0.5);
		check_share(winners(LOTTERY_ALL / 1000, hour), HOSTS, 0.001);
		assert_int_equal(winners(LOTTERY_ALL, hour), HOSTS);
	}
}

static void each_host_has_its_share_of_the_hours(void **state)
{
	for (unsigned int n = 0; n < 200; n++) {
		struct lottery lottery = made_host(n, TENTH);
		unsigned int won = 0;

		for (uint64_t hour = 0; hour < HOURS; hour++)
			won += lottery_wins(&lottery, hour);
		check_share(won, HOURS, 0.1);
	}
}

/* Of this hour and the next, and of a host and the next, one in a hundred wins both. */
static void check_pairs(uint64_t hour)
{
	unsigned int hours = 0, hosts = 0;

	for (unsigned int n = 0; n < HOSTS; n++) {
		struct lottery lottery = made_host(n, TENTH);
		struct lottery next = made_host(n + 1, TENTH);

		if (!lottery_wins(&lottery, hour))
			continue;
		hours += lottery_wins(&lottery, hour + 1);
		hosts += lottery_wins(&next, hour);
	}
	check_share(hours, HOSTS, 0.01);
	check_share(hosts, HOSTS, 0.01);
}

static void draws_are_independent(void **state)
{
	for (uint64_t hour = 491000; hour < 491010; hour++)
		check_pairs(hour);
}

static void who_wins_a_small_share_wins_a_larger_one(void **state)
{
	for (unsigned int n = 0; n < HOSTS; n++) {
		struct lottery few = made_host(n, TENTH), more = made_host(n, 2 * TENTH);

		assert_true(!lottery_wins(&few, 7) || lottery_wins(&more, 7));
	}
}

static void an_hour_lasts_an_hour(void **state)
{
	struct lottery lottery = made_host(3, TENTH);
	unsigned int left, first_left;
	uint64_t begun = 1795420800, hour = lottery_hour(&lottery, begun, &first_left);

	assert_in_range(first_left, 1, LOTTERY_HOUR_S);
	for (uint64_t s = 0; s < first_left; s++) {
		assert_int_equal(lottery_hour(&lottery, begun + s, &left), hour);
		assert_int_equal(left, first_left - s);
	}
	assert_int_equal(lottery_hour(&lottery, begun + first_left, &left), hour + 1);
	assert_int_equal(left, LOTTERY_HOUR_S);
}

/* Of 60 minutes each begins the hour of a sixtieth of the hosts. */
static void hours_begin_at_all_minutes(void **state)
{
	unsigned int begins[60] = { 0 };

	for (unsigned int n = 0; n < HOSTS; n++) {
		struct lottery lottery = made_host(n, TENTH);
		unsigned int left;

		lottery_hour(&lottery, 1795420800, &left);
		begins[(left - 1) / 60]++;
	}
	for (int minute = 0; minute < 60; minute++)
		check_share(begins[minute], HOSTS, 1.0 / 60);
}

/* An image of which hosts are made gives them an id, a careless one a name. */
static void either_name_makes_another_host(void **state)
{
	struct lottery one, other_id, other_name, same;

	lottery_begin(&one, TENTH, "ab", "c");
	lottery_begin(&other_id, TENTH, "ad", "c");
	lottery_begin(&other_name, TENTH, "ab", "d");
	assert_true(one.host != other_id.host && one.host != other_name.host);
	lottery_begin(&same, TENTH, "ab", "c");
	assert_true(one.host == same.host);
	/* where one ends and the other begins matters */
	lottery_begin(&same, TENTH, "a", "bc");
	assert_true(one.host != same.host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_hour_has_its_share_of_the_hosts),
		cmocka_unit_test(each_host_has_its_share_of_the_hours),
		cmocka_unit_test(draws_are_independent),
		cmocka_unit_test(who_wins_a_small_share_wins_a_larger_one),
		cmocka_unit_test(an_hour_lasts_an_hour),
		cmocka_unit_test(hours_begin_at_all_minutes),
		cmocka_unit_test(either_name_makes_another_host),
	};

	return cmocka_run_group_tests_name("lottery", tests, NULL, NULL);
}
