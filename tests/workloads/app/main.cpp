// SPDX-License-Identifier: BSD-2-Clause
/*
 * An application of coroutines, two of whose threads ask three executors for all
 * kinds of things at the same time; see scenes.hpp and scenes_many.hpp.
 *
 *	app all MS      every scene, again and again
 *	app SCENE MS    one of them
 */
#include "scenes_many.hpp"

static const struct {
	const char *name;
	void (*play)(void);
} scenes[] = {
	{ "calls", scene_calls },	{ "deep", scene_deep },
	{ "generate", scene_generate }, { "all-of", scene_all },
	{ "any-of", scene_any },	{ "time", scene_time },
	{ "semi", scene_semi },		{ "threads", scene_threads },
	{ "nested", scene_nested },
};

#define N_SCENES (sizeof(scenes) / sizeof(*scenes))

/* One, or N_SCENES: all of them, from `first` on. */
static FN void play(size_t which, size_t first)
{
	for (size_t i = first;; i = (i + 1) % N_SCENES)
		scenes[which < N_SCENES ? which : i].play();
}

static size_t wanted = N_SCENES;

static FN void *second_thread(void *arg)
{
	play(wanted, N_SCENES / 2);
	return arg;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return work_usage(argv[0], "all|SCENE MS");
	work_lifetime(argv[2]);
	for (size_t i = 0; i < N_SCENES; i++)
		if (!strcmp(argv[1], scenes[i].name))
			wanted = i;
	arena = (char *)malloc(ARENA_SIZE);
	if (!arena)
		return 2;
	pool_start(&pool_a, pool_a_thread);
	pool_start(&pool_b, pool_b_thread);
	pool_start(&pool_c, pool_c_thread);
	work_thread(timer_thread, NULL);
	work_thread(second_thread, NULL);
	work_ready();
	play(wanted, 0);
}
