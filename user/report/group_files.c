// SPDX-License-Identifier: BSD-2-Clause
#include "report/group_files.h"

#include "base/error.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_NAME_MAX 100 /* without its ending */

struct grouping {
	const struct group_files *files;
	struct profile *profile;
	struct intern *texts; /* of groups with samples; their numbers */
	struct intern *names; /* of files that were written */
	uint32_t *of_thread;
	bool *keep; /* by sample key: is it of the group at hand? */
};

#define IN_NO_GROUP UINT32_MAX

static int find_group(struct grouping *g, uint32_t thread)
{
	AUTO_STR text = { 0 };
	int err;

	if (g->of_thread[thread] != IN_NO_GROUP)
		return 0;
	tree_group_text(&text, g->profile, g->files->group, thread);
	err = str_error(&text);
	if (!err)
		err = intern_id(g->texts, text.s ? text.s : "", text.n,
				&g->of_thread[thread]);
	if (err != INTERN_FULL)
		return err;
	fail(-E2BIG, "there are more than %d groups, and a file for each",
	     GROUP_FILES_MAX);
	return fail_hint(-E2BIG, "choose some with --filter, or group by something else");
}

static int find_groups(struct grouping *g)
{
	const struct timeline *timeline = &g->profile->timeline;
	int err = 0;

	for (uint32_t i = 0; i < g->profile->threads.n; i++)
		g->of_thread[i] = IN_NO_GROUP;
	for (size_t i = 0; !err && i < timeline->sample_keys.n; i++)
		if (timeline->counts.items[i])
			err = find_group(g, timeline->sample_keys.items[i].b);
	return err;
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '-' || c == '.';
}

/* All else becomes one '_' between plain ones; and nothing is hidden, or an option. */
static void plain_name(char out[FILE_NAME_MAX + 1], const char *text)
{
	size_t n = 0;

	for (; *text && n < FILE_NAME_MAX; text++) {
		if (is_plain(*text) && (n || (*text != '.' && *text != '-')))
			out[n++] = *text;
		else if (n && out[n - 1] != '_')
			out[n++] = '_';
	}
	while (n && out[n - 1] == '_')
		n--;
	out[n] = '\0';
	if (!n)
		strcpy(out, "unnamed");
}

/* Two groups are never one file. Some file systems tell no case apart. */
static int unused_name(struct grouping *g, const char *text, struct str *ret)
{
	char plain[FILE_NAME_MAX + 1];
	uint32_t id;

	plain_name(plain, text);
	for (unsigned int i = 1;; i++) {
		AUTO_STR lower = { 0 };

		str_clear(ret);
		str_add(ret, plain);
		if (i > 1)
			str_addf(ret, "_%u", i);
		str_add_lower(&lower, ret->s ? ret->s : "");
		if (str_error(ret) || str_error(&lower))
			return fail(-ENOMEM, "no memory for the name of a file");
		if (!intern_has(g->names, lower.s, lower.n))
			return intern_id(g->names, lower.s, lower.n, &id);
	}
}

static int write_file(struct grouping *g, const char *title)
{
	const struct group_files *files = g->files;
	struct writer_options how = files->how;
	const char *slash = files->folder[strlen(files->folder) - 1] == '/' ? "" : "/";
	AUTO_STR name = { 0 };
	AUTO_STR path = { 0 };
	AUTO(outfile) file = NULL;
	int err = unused_name(g, title, &name);

	if (err)
		return err;
	str_addf(&path, "%s%s%s%s", files->folder, slash, name.s,
		 files->writer->endings[0] ? files->writer->endings[0] : "");
	err = str_error(&path);
	how.title = title;
	if (!err)
		err = outfile_new(&file, path.s);
	if (!err)
		err = files->writer->write(file, g->profile, &how);
	return err ? err : outfile_finish(file);
}

static int write_group(struct grouping *g, uint32_t group)
{
	struct timeline whole = g->profile->timeline;
	int err;

	for (size_t i = 0; i < whole.sample_keys.n; i++)
		g->keep[i] = g->of_thread[whole.sample_keys.items[i].b] == group;
	err = timeline_part(&whole, g->keep, &g->profile->timeline);
	if (!err)
		err = write_file(g, intern_string(g->texts, group));
	timeline_part_free(&g->profile->timeline);
	g->profile->timeline = whole;
	return err;
}

static int make_folder(const char *path)
{
	struct stat st;

	if (!mkdir(path, 0777))
		return 0;
	if (errno != EEXIST)
		return fail_errno(-errno, "cannot make the folder %s", path);
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return 0;
	return fail(-ENOTDIR, "%s is no folder", path);
}

int group_files_write(const struct group_files *files, struct profile *profile)
{
	AUTO(intern) texts = NULL;
	AUTO(intern) names = NULL;
	AUTO_FREE uint32_t *of_thread = calloc(profile->threads.n + 1, sizeof(uint32_t));
	AUTO_FREE bool *keep = calloc(profile->timeline.sample_keys.n + 1, sizeof(bool));
	struct grouping g = { files, profile, NULL, NULL, of_thread, keep };
	int err = of_thread && keep ? 0 : fail(-ENOMEM, "no memory for groups");

	if (!err)
		err = intern_new(&texts, GROUP_FILES_MAX);
	if (!err)
		err = intern_new(&names, GROUP_FILES_MAX);
	if (err)
		return err;
	g.texts = texts;
	g.names = names;
	err = find_groups(&g);
	if (!err)
		err = make_folder(files->folder);
	for (uint32_t i = 0; !err && i < intern_count(texts); i++)
		err = write_group(&g, i);
	return err;
}
