/* SPDX-License-Identifier: BSD-2-Clause */
#include "app_places.h"

#define POOL(x)	   "pool_" #x "_thread;pool_loop;"
#define ON(x)	   POOL(x) "run_resume;resume_with_root"
#define ASK(scene) DRIVER ";--;" scene ";wait_on"

#define WAITS_ON                                                                         \
	"wait_on;here|current_holder|sys_call "                                          \
	"wait_on;pool_post;sys_call "
#define ASKS   "call_task "
#define CALLED "finish_task "
#define OF_ALL "finish_task;arrive;pool_post;sys_call "
#define OF_ANY                                                                           \
	OF_ALL "finish_task;arrive;cancel;sys_call "                                     \
	       "finish_task;arrive;cancel;wake_sleeper;sys_call "                        \
	       "finish_task;arrive;cancel;wake_sleeper;pool_post;sys_call "
#define MOVES	    "move_task;pool_post;sys_call "
#define TAKES_TURNS "requeue;pool_post;sys_call "
#define STARTS	    "start_child;resume_with_root;current_holder "
#define CHILD	    ";start_child;resume_with_root"
/* a child's thread until it is first resumed elsewhere, and what lies below its root */
#define CHILD_OF(thread, gather)     .host = thread ";" B(gather) CHILD
#define CHILD_IN(before, by, gather) .outer = before ";" by ";--;" B(gather) CHILD

/* scenes: who calls whom */
#define CALLS HERE("scene_calls")
#define SERVE B(serve)
#define READ  B(read_body)
#define CALL(coroutine, before, by, burns, makes_, more)                                 \
	{                                                                                \
		.name = coroutine, .callers = before, .awaiter = by,                     \
		.host = RUNS("scene_calls"), .leaves = burns, .makes = makes_,           \
		.yields = ASKS more                                                      \
	}

/* a calls b calls c calls a, 301 in all */
#define DEEP	     ASK("scene_deep")
#define ROUND(times) ";(" B(deep_a) ";" B(deep_b) ";" B(deep_c) ")*" times
#define RECURSION(coroutine, before, by, burns, next, more)                              \
	{                                                                                \
		.name = coroutine, .callers = before, .awaiter = by, .host = ON(a),      \
		.leaves = burns, .makes = next, .yields = ASKS more                      \
	}

#define SUMS HERE("scene_generate")
#define FLOW(coroutine, before, by, burns, makes_, more)                                 \
	{                                                                                \
		.name = coroutine, .callers = before, .awaiter = by,                     \
		.host = RUNS("scene_generate"), .leaves = burns, .makes = makes_,        \
		.yields = ASKS more                                                      \
	}

#define ALL	 ASK("scene_all")
#define ALL_KIDS ALL ";" B(fan_out) ";" B(collect_all)
#define NEAR_ALL CHILD_OF(ON(a), collect_all), CHILD_IN(ALL, B(fan_out), collect_all)

#define ANY	 ASK("scene_any")
#define ANY_KIDS ANY ";" B(race) ";" B(collect_any)
#define NEAR_ANY CHILD_OF(ON(a), collect_any), CHILD_IN(ANY, B(race), collect_any)

#define TIME	  ASK("scene_time")
#define TIME_IN	  TIME ";" B(guard)
#define TIME_ANY  TIME_IN ";" B(with_timeout)
#define TIME_KIDS TIME_ANY ";" B(collect_any)
#define NEAR_TIME                                                                        \
	CHILD_OF(ON(c), collect_any), CHILD_IN(TIME_IN, B(with_timeout), collect_any)
#define SLEEPS "lie_down;sys_call "

#define SEMI ASK("scene_semi")

#define LEVEL_1 ASK("scene_threads")
#define LEVEL_2 LEVEL_1 ";--;" B(level_1) ";wait_on"
#define LEVEL_3 LEVEL_2 ";--;" B(level_2) ";wait_on"
#define LEVEL_4 LEVEL_3 ";--;" B(level_3) ";wait_here"

const struct app_place app_places[] = {
	CALL("serve", CALLS, NULL, "request_work", "read_header|read_body", WAITED),
	CALL("read_header", CALLS, SERVE, "header_work", "read_byte", CALLED),
	CALL("read_byte", CALLS ";" SERVE, B(read_header), "byte_work", NULL, CALLED),
	CALL("read_body", CALLS, SERVE, "body_work|body_mend", "decode", CALLED),
	CALL("decode", CALLS ";" SERVE, READ, "decode_work", "inflate", CALLED),
	CALL("inflate", CALLS ";" SERVE ";" READ, B(decode), "inflate_work", NULL,
	     CALLED),

	RECURSION("deep_a", DEEP, NULL, NULL, "deep_b", WAITED),
	RECURSION("deep_b", DEEP ROUND("0-99"), B(deep_a), NULL, "deep_c", CALLED),
	RECURSION("deep_c", DEEP ROUND("0-99") ";" B(deep_a), B(deep_b), NULL, "deep_a",
		  CALLED),
	RECURSION("deep_a", DEEP ROUND("0-99") ";" B(deep_a) ";" B(deep_b), B(deep_c),
		  NULL, "deep_b", CALLED),
	RECURSION("deep_a", DEEP ROUND("99") ";" B(deep_a) ";" B(deep_b), B(deep_c),
		  "deep_end", NULL, CALLED),

	FLOW("sum_up", SUMS, NULL, "sum_work", "evens", WAITED),
	FLOW("evens", SUMS, B(sum_up), "evens_work", "numbers", CALLED "yield_task "),
	FLOW("numbers", SUMS ";" B(sum_up), B(evens), "numbers_work", NULL,
	     CALLED "yield_task "),

	{ .name = "fan_out",
	  .callers = ALL,
	  .host = ON(a),
	  .leaves = "fan_before|fan_after",
	  .makes = "near|left|right|collect_all",
	  .holds = "near|left|right",
	  .yields = ASKS WAITED },
	{ .name = "collect_all",
	  .callers = ALL,
	  .awaiter = B(fan_out),
	  .host = ON(a),
	  .acts = STARTS,
	  .yields = "await_children " CALLED },
	{ .name = "near",
	  .callers = ALL_KIDS,
	  NEAR_ALL,
	  .leaves = "near_work",
	  .yields = OF_ALL },
	{ .name = "left", .callers = ALL_KIDS, NEAR_ALL, .yields = MOVES },
	{ .name = "left",
	  .callers = ALL_KIDS,
	  .host = ON(b),
	  .leaves = "left_work",
	  .yields = OF_ALL },
	{ .name = "right",
	  .callers = ALL_KIDS,
	  NEAR_ALL,
	  .leaves = "right_work",
	  .yields = TAKES_TURNS },
	{ .name = "right",
	  .callers = ALL_KIDS,
	  .host = ON(a),
	  .leaves = "right_work",
	  .yields = MOVES },
	{ .name = "right",
	  .callers = ALL_KIDS,
	  .host = ON(c),
	  .leaves = "mover_there",
	  .makes = "moved",
	  .yields = ASKS OF_ALL },
	{ .name = "moved",
	  .callers = ALL_KIDS,
	  .awaiter = B(right),
	  .host = ON(c),
	  .leaves = "moved_work",
	  .yields = CALLED },

	{ .name = "race",
	  .callers = ANY,
	  .host = ON(a),
	  .leaves = "race_before|race_after",
	  .makes = "swift|endless|collect_any",
	  .holds = "swift|endless",
	  .yields = ASKS WAITED },
	{ .name = "collect_any",
	  .callers = ANY,
	  .awaiter = B(race),
	  .host = ON(a),
	  .acts = STARTS,
	  .yields = "await_children " CALLED },
	{ .name = "swift",
	  .callers = ANY_KIDS,
	  NEAR_ANY,
	  .leaves = "swift_work",
	  .yields = TAKES_TURNS },
	{ .name = "swift",
	  .callers = ANY_KIDS,
	  .host = ON(a),
	  .leaves = "swift_work",
	  .yields = TAKES_TURNS OF_ANY },
	{ .name = "endless", .callers = ANY_KIDS, NEAR_ANY, .yields = MOVES },
	{ .name = "endless",
	  .callers = ANY_KIDS,
	  .host = ON(b),
	  .leaves = "endless_work",
	  .yields = TAKES_TURNS OF_ANY },

	{ .name = "guard",
	  .callers = TIME,
	  .host = ON(c),
	  .leaves = "guard_after|guard_late",
	  .makes = "hasty|lazy|with_timeout",
	  .holds = "hasty|lazy",
	  .yields = ASKS WAITED },
	{ .name = "with_timeout",
	  .callers = TIME,
	  .awaiter = B(guard),
	  .host = ON(c),
	  .makes = "sleep_us|collect_any",
	  .holds = "sleep_us|hasty|lazy",
	  .yields = ASKS CALLED },
	{ .name = "collect_any",
	  .callers = TIME_IN,
	  .awaiter = B(with_timeout),
	  .host = ON(c),
	  .acts = STARTS,
	  .yields = "await_children " CALLED },
	{ .name = "hasty",
	  .callers = TIME_KIDS,
	  NEAR_TIME,
	  .leaves = "hasty_work",
	  .yields = OF_ANY },
	{ .name = "lazy",
	  .callers = TIME_KIDS,
	  NEAR_TIME,
	  .leaves = "lazy_work",
	  .makes = "sleep_us",
	  .yields = ASKS },
	{ .name = "sleep_us",
	  .callers = TIME_KIDS,
	  .awaiter = B(lazy),
	  NEAR_TIME,
	  .acts = "sys_call ",
	  .yields = SLEEPS },
	{ .name = "sleep_us",
	  .callers = TIME_KIDS,
	  NEAR_TIME,
	  .acts = "sys_call ",
	  .yields = SLEEPS OF_ANY },
	{ .name = "sleep_us",
	  .callers = TIME_KIDS,
	  .awaiter = B(lazy),
	  .host = ON(c),
	  .acts = "sys_call ",
	  .yields = CALLED },
	{ .name = "sleep_us",
	  .callers = TIME_KIDS,
	  .host = ON(c),
	  .acts = "sys_call ",
	  .yields = OF_ANY },
	{ .name = "lazy",
	  .callers = TIME_KIDS,
	  .host = ON(c),
	  .leaves = "lazy_late",
	  .makes = "sleep_us",
	  .yields = OF_ANY },

	{ .name = "fetch_twice",
	  .callers = SEMI,
	  .host = ON(a),
	  .makes = "fetch",
	  .yields = ASKS WAITED },
	{ .name = "fetch",
	  .callers = SEMI,
	  .awaiter = B(fetch_twice),
	  .host = ON(a),
	  .leaves = "fetch_before|fetch_after",
	  .acts = "pool_post;sys_call ",
	  .yields = "await_semi;sys_call " CALLED },

	{ .name = "level_1",
	  .callers = LEVEL_1,
	  .host = ON(a),
	  .leaves = "first_work",
	  .makes = "level_2",
	  .acts = WAITS_ON,
	  .yields = WAITED },
	{ .name = "level_2",
	  .callers = LEVEL_2,
	  .host = ON(b),
	  .leaves = "second_work",
	  .makes = "level_3",
	  .acts = WAITS_ON,
	  .yields = WAITED },
	{ .name = "level_3",
	  .callers = LEVEL_3,
	  .host = ON(c),
	  .leaves = "third_work",
	  .makes = "level_4",
	  .acts = WAITS_HERE,
	  .yields = WAITED },
	{ .name = "level_4",
	  .callers = LEVEL_4,
	  .host = ON(c) ";" B(level_3) ";wait_here;resume_with_root",
	  .outer = LEVEL_3 ";--;" B(level_3) ";wait_here;resume_with_root",
	  .leaves = "fourth_work",
	  .yields = WAITED },
};

const size_t n_app_places = sizeof(app_places) / sizeof(*app_places);

#define SCENE(scene, makes_, holds_, waits)                                              \
	{                                                                                \
		.path = DRIVER ";" scene, .makes = makes_, .holds = holds_,              \
		.acts = waits                                                            \
	}
#define QUEUE "pool_take;sys_call sys_call run_resume;resume_with_root;current_holder "

const struct app_plain app_plains[] = {
	SCENE("scene_calls", "serve", NULL, WAITS_HERE),
	SCENE("scene_deep", "deep_a", NULL, WAITS_ON),
	SCENE("scene_generate", "sum_up", NULL, WAITS_HERE),
	SCENE("scene_all", "fan_out", NULL, WAITS_ON),
	SCENE("scene_any", "race", NULL, WAITS_ON),
	SCENE("scene_time", "guard", NULL, WAITS_ON),
	SCENE("scene_semi", "fetch_twice", NULL, WAITS_ON),
	SCENE("scene_threads", "level_1", NULL, WAITS_ON),
	SCENE("scene_nested", "nest_01", NULL, WAITS_HERE),
	{ .path = "pool_a_thread;pool_loop", .acts = QUEUE },
	{ .path = "pool_b_thread;pool_loop",
	  .acts = QUEUE "run_compute;compute_work run_compute;semi_set;sys_call "
			"run_compute;semi_set;pool_post;sys_call " },
	{ .path = "pool_c_thread;pool_loop",
	  .acts = QUEUE "run_double;double_work run_double;semi_set;sys_call "
			"run_double;semi_set;pool_post;sys_call " },
	{ .path = "timer_thread;timer_loop",
	  .acts = "sys_call fire_timers;sys_call fire_timers;pool_post;sys_call " },
	{ .path = "main", .acts = "sys_call " },
};

const size_t n_app_plains = sizeof(app_plains) / sizeof(*app_plains);
