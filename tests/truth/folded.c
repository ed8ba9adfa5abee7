/* SPDX-License-Identifier: BSD-2-Clause */
#include "folded.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int folded_read_text(char **ret, const char *path)
{
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	AUTO_FREE char *text = NULL;
	size_t room = 1 << 16, n = 0;

	if (!f)
		return fail_errno(-errno, "open %s", path);
	for (;;) {
		char *more = realloc(text, room);

		if (!more)
			return fail(-ENOMEM, "no memory for %s", path);
		text = more;
		n += fread(text + n, 1, room - n - 1, f);
		if (n < room - 1)
			break;
		room *= 2;
	}
	if (ferror(f))
		return fail(-EIO, "read %s", path);
	text[n] = '\0';
	*ret = GIVE(text);
	return 0;
}

static int is_kernel(const char *frame)
{
	size_t n = strlen(frame);

	return n >= 4 && !strcmp(frame + n - 4, "_[k]");
}

static int add_frame(struct folded_stack *stack, const char *frame)
{
	if (!*frame)
		return fail(-EINVAL, "an empty frame in a stack of %s", stack->comm);
	return vec_push(&stack->frames, frame);
}

/* "comm;a;b;c 12", which is cut up where it lies */
static int read_line(struct folded_stack *stack, char *line)
{
	char *space = strrchr(line, ' '), *end, *frame;
	int err = 0;

	if (!space || !isdigit((unsigned char)space[1]))
		return fail(-EINVAL, "no folded stack: %.200s", line);
	stack->count = strtoull(space + 1, &end, 10);
	if (*end || !stack->count)
		return fail(-EINVAL, "no count: %.200s", space + 1);
	*space = '\0';

	stack->comm = strsep(&line, ";");
	if (!*stack->comm)
		return fail(-EINVAL, "a stack without a name of its process");
	while (!err && (frame = strsep(&line, ";")))
		err = add_frame(stack, frame);
	stack->n_user = stack->frames.n;
	while (stack->n_user && is_kernel(stack->frames.items[stack->n_user - 1]))
		stack->n_user--;
	return err;
}

int folded_read(struct folded *ret, const char *path)
{
	char *line, *rest;
	int err;

	*ret = (struct folded){ 0 };
	err = folded_read_text(&ret->text, path);
	rest = ret->text;
	while (!err && (line = strsep(&rest, "\n"))) {
		if (!*line && !rest) /* behind the last newline */
			break;
		err = vec_push(&ret->stacks, (struct folded_stack){ 0 });
		if (!err)
			err = read_line(&ret->stacks.items[ret->stacks.n - 1], line);
		if (!err)
			ret->total += ret->stacks.items[ret->stacks.n - 1].count;
	}
	if (err)
		folded_free(ret);
	return err;
}

void folded_free(struct folded *folded)
{
	for (size_t i = 0; i < folded->stacks.n; i++)
		vec_free(&folded->stacks.items[i].frames);
	vec_free(&folded->stacks);
	free(folded->text);
	folded->text = NULL;
}
