// SPDX-License-Identifier: BSD-2-Clause
/* The part of check.h that looks at paths of outputs and inputs. */
#include "cli/check.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/library.h"
#include "base/nearest.h"
#include "base/str.h"
#include "record/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHOWN_BYTES = 256 };

static int bad_path(const struct named_path *what, const char *why, const char *hint)
{
	char name[SHOWN_BYTES];

	str_clean(name, sizeof(name), what->path, strlen(what->path));
	if (what->option)
		fail(-EINVAL, "--%s '%s': %s", what->option, name, why);
	else
		fail(-EINVAL, "cannot read '%s': %s", name, why);
	return fail_hint(-EINVAL, "%s", hint);
}

/* The folder that a path's last part lies in; the caller frees it. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* An output is written beside its place and then moved there; a link keeps
 * pointing, so its place is where it points to. */
static int check_folder(const struct named_path *output)
{
	AUTO_FREE char *real = realpath(output->path, NULL);
	AUTO_FREE char *folder = folder_of(real ? real : output->path);
	struct stat st;

	if (!folder)
		return fail(-ENOMEM, "no memory for a path");
	if (stat(folder, &st))
		return bad_path(output, "its folder does not exist or can't be reached",
				"make the folder first");
	if (!S_ISDIR(st.st_mode))
		return bad_path(output, "its folder is a file", "give another path");
	if (!faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS))
		return 0;
	return bad_path(output,
			errno == EROFS ? "its folder is read-only"
				       : "no permission to write in its folder",
			"give a path in a folder you can write to, or - for stdout");
}

static int check_output(const struct named_path *output)
{
	struct stat st;

	if (!strcmp(output->path, "-"))
		return 0;
	if (stat(output->path, &st) && errno == ENAMETOOLONG)
		return bad_path(output, "the name is too long", "give a shorter one");
	if (stat(output->path, &st))
		return check_folder(output);
	if (S_ISDIR(st.st_mode))
		return bad_path(output, "it is a folder", "give the name of a file");
	if (S_ISREG(st.st_mode))
		return check_folder(output);
	if (faccessat(AT_FDCWD, output->path, W_OK, AT_EACCESS))
		return bad_path(output, "no permission to write to it",
				"give another path, or - for stdout");
	return 0;
}

int check_outputs(const struct named_path *outputs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int err = outputs[i].path ? check_output(&outputs[i]) : 0;

		for (size_t j = 0; j < i && !err; j++)
			err = check_distinct(&outputs[j], &outputs[i]);
		if (err)
			return err;
	}
	return 0;
}

/* Is name "BASE.PID.part"? */
static bool is_part_of(const char *name, const char *base)
{
	size_t n = strlen(base);

	if (strncmp(name, base, n) != 0 || name[n] != '.')
		return false;
	name += n + 1;
	n = strspn(name, "0123456789");
	return n && !strcmp(name + n, ".part");
}

int check_hint_part(int err, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	AUTO_FREE char *folder = folder_of(path);
	DIR *dir = folder ? opendir(folder) : NULL;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (is_part_of(entry->d_name, base)) {
			fail_hint(err,
				  "%.*s%s holds what is recorded so far, or was until "
				  "weft was ended",
				  (int)(base - path), path, entry->d_name);
			break;
		}
	if (dir)
		closedir(dir);
	return err;
}

int check_input(const struct named_path *input)
{
	struct stat st;

	if (stat(input->path, &st)) {
		int missing = errno;

		bad_path(input, strerror(missing), "give the path of a file");
		return missing == ENOENT ? check_hint_part(-EINVAL, input->path)
					 : -EINVAL;
	}
	if (S_ISDIR(st.st_mode))
		return bad_path(input, "it is a folder", "give the path of a file");
	if (faccessat(AT_FDCWD, input->path, R_OK, AT_EACCESS))
		return bad_path(input, "no permission to read it",
				"ask its owner, or run as another user");
	return 0;
}

int check_symfs(const char *path, char **ret_path)
{
	const struct named_path symfs = { "symfs", path };
	AUTO_FREE char *real = realpath(path, NULL);
	struct stat st;

	if (!real || stat(real, &st) || access(real, R_OK | X_OK))
		return bad_path(&symfs, strerror(errno),
				"give a folder that you may read");
	if (!S_ISDIR(st.st_mode))
		return bad_path(&symfs, "not a folder", "give a folder");
	if (strlen(real) >= RECORD_SYMFS_BYTES)
		return bad_path(&symfs, "its path is too long", "move or bind it");
	*ret_path = GIVE(real);
	return 0;
}

static bool is_url(const char *text)
{
	return !strncmp(text, "http://", 7) || !strncmp(text, "https://", 8);
}

static bool is_none(const char *urls)
{
	return !strcmp(urls, "none");
}

int check_debuginfod(const char **urls)
{
	const struct named_path given = { "debuginfod", *urls };

	if (!*urls)
		*urls = getenv("DEBUGINFOD_URLS");
	else if (!is_none(*urls) && library_require("--debuginfod", "libcurl"))
		return -ENOSYS;
	else if (!is_none(*urls) && !is_url(*urls))
		return bad_path(&given, "no URL", "give URLs of http or https, or none");
	if (*urls && (!**urls || is_none(*urls)))
		*urls = NULL;
	return 0;
}

int check_debuginfod_said(const char **urls)
{
	const struct named_path given = { "debuginfod", *urls };
	const char *set = getenv("DEBUGINFOD_URLS");

	if (!*urls)
		return 0;
	if (!is_none(*urls) && library_require("--debuginfod", "libcurl"))
		return -ENOSYS;
	if (strcmp(*urls, "env") != 0 && !is_none(*urls) && !is_url(*urls))
		return bad_path(&given, "no URL",
				"give URLs of http or https, env, or none");
	if (!strcmp(*urls, "env") && (!set || !*set))
		return bad_path(&given, "DEBUGINFOD_URLS is not set",
				"set it, give URLs, or none");
	if (!strcmp(*urls, "env"))
		*urls = set;
	if (is_none(*urls))
		*urls = NULL;
	return 0;
}

static bool same_file(const char *a, const char *b)
{
	AUTO_FREE char *folder_a = folder_of(a);
	AUTO_FREE char *folder_b = folder_of(b);
	const char *name_a = strrchr(a, '/'), *name_b = strrchr(b, '/');
	struct stat st_a, st_b;

	if (!strcmp(a, b))
		return true;
	if (!stat(a, &st_a) && !stat(b, &st_b) && st_a.st_dev == st_b.st_dev &&
	    st_a.st_ino == st_b.st_ino)
		return true;
	if (!folder_a || !folder_b || stat(folder_a, &st_a) || stat(folder_b, &st_b))
		return false;
	return st_a.st_dev == st_b.st_dev && st_a.st_ino == st_b.st_ino &&
	       !strcmp(name_a ? name_a + 1 : a, name_b ? name_b + 1 : b);
}

/* What is written to is thrown away anyhow. */
static bool is_null_device(const char *path)
{
	return !strcmp(path, "/dev/null");
}

int check_distinct(const struct named_path *a, const struct named_path *b)
{
	if (!a->path || !b->path || is_null_device(a->path) ||
	    !same_file(a->path, b->path))
		return 0;
	if (a->option && !strcmp(a->option, b->option))
		fail(-EINVAL, "--%s names the same file twice", a->option);
	else if (a->option)
		fail(-EINVAL, "--%s and --%s name the same file", a->option, b->option);
	else
		fail(-EINVAL, "--%s names a file that is also an input", b->option);
	return fail_hint(-EINVAL, "give them different paths");
}

static int unknown_format(const char *format)
{
	const char *nearest = nearest_word(format, writer_name, NULL);
	AUTO_STR known = { 0 };
	char shown[64];

	for (size_t i = 0; writers[i]; i++)
		str_addf(&known, "%s%s", i ? ", " : "", writers[i]->name);
	str_clean(shown, sizeof(shown), format, strlen(format));
	fail(-EINVAL, "--format '%s': no such format", shown);
	return nearest ? fail_hint(-EINVAL, "did you mean %s?", nearest)
		       : fail_hint(-EINVAL, "it can be %s", known.s);
}

static int unknown_ending(const char *path)
{
	AUTO_STR known = { 0 };
	char shown[SHOWN_BYTES];

	for (size_t i = 0; writers[i]; i++)
		for (size_t k = 0; k < WRITER_ENDINGS_MAX && writers[i]->endings[k]; k++)
			str_addf(&known, "%s%s", known.n ? ", " : "",
				 writers[i]->endings[k]);
	str_clean(shown, sizeof(shown), path, strlen(path));
	fail(-EINVAL, "--output '%s': no format has that ending", shown);
	return fail_hint(-EINVAL, "use one of these endings: %s; or give --format",
			 known.s);
}

/* A device takes what is written to it, whatever it is called. */
static bool is_device(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

int check_writer(const char *path, const char *format, const struct writer **ret)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	if (format) {
		*ret = writer_named(format);
		return *ret ? 0 : unknown_format(format);
	}
	*ret = writer_for(path);
	if (*ret)
		return 0;
	*ret = writer_usual;
	if (!strcmp(path, "-") || is_device(path) || !strchr(name, '.'))
		return 0;
	return unknown_ending(path);
}
