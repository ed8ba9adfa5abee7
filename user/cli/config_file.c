// SPDX-License-Identifier: BSD-2-Clause
#include "cli/config_file.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "cli/values.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SECRET_BYTES_MAX 4096
#define EVERYBODY	 (S_IROTH | S_IWOTH)

struct config {
	const char *path;
	const struct config_section *sections;
	size_t n;
	void *arg;
	char *values; /* where the next one is copied to */
	int err;      /* of the first key that is wrong */
};

static int open_file(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err = 0;

	if (fd < 0)
		return fail_errno(-errno, "cannot read %s", path);
	if (fstat(fd, st))
		err = fail_errno(-errno, "cannot read %s", path);
	else if (!S_ISREG(st->st_mode))
		err = fail(-EINVAL, "%s is not a regular file", path);
	if (err)
		close(fd);
	return err ? err : fd;
}

/* All of it, with a NUL. Nobody may have the rights `forbidden`. */
static int read_file(const char *path, size_t most, mode_t forbidden, char **ret)
{
	struct stat st;
	AUTO_CLOSE int fd = open_file(path, &st);
	AUTO_FREE char *text = NULL;
	ssize_t n;

	if (fd < 0)
		return fd;
	if (st.st_mode & forbidden) {
		fail(-EPERM, "everybody may read %s", path);
		return fail_hint(-EPERM, "chmod 600 %s", path);
	}
	if ((uint64_t)st.st_size > most)
		return fail(-EFBIG, "%s has more than %zu bytes", path, most);
	most = (size_t)st.st_size;
	text = malloc(most + 1);
	if (!text)
		return fail(-ENOMEM, "no memory for %s", path);
	n = read(fd, text, most);
	if (n < 0)
		return fail_errno(-errno, "cannot read %s", path);
	text[n] = '\0';
	if (strlen(text) != (size_t)n)
		return fail(-EINVAL, "%s holds bytes that are no text", path);
	*ret = GIVE(text);
	return 0;
}

static const struct config_section *find_section(const struct config *config,
						 const char *name, const char **ret_title)
{
	size_t n = strcspn(name, " ");

	*ret_title = name + n + strspn(name + n, " ");
	for (size_t i = 0; i < config->n; i++)
		if (strlen(config->sections[i].name) == n &&
		    !memcmp(config->sections[i].name, name, n))
			return &config->sections[i];
	return NULL;
}

static int no_section(const struct config *config, const char *name, const char *key)
{
	AUTO_STR known = { 0 };
	char shown[64];

	str_clean(shown, sizeof(shown), *name ? name : key, strlen(*name ? name : key));
	if (*name)
		fail(-EINVAL, "unknown section [%s]", shown);
	else
		fail(-EINVAL, "'%s' is in no section", shown);
	for (size_t i = 0; i < config->n; i++)
		str_addf(&known, "%s[%s]", i ? ", " : "", config->sections[i].name);
	return fail_hint(-EINVAL, "it can be %s", known.s ? known.s : "");
}

int config_value(const struct option *option, const char *value, void *into)
{
	if (option->kind != OPTION_FLAG)
		return values_read(option, value, into);
	if (!strcmp(value, "yes") || !strcmp(value, "true"))
		return values_read(option, NULL, into);
	if (!strcmp(value, "no") || !strcmp(value, "false"))
		return 0;
	fail(-EINVAL, "%s: neither yes nor no", option->name);
	return -EINVAL;
}

static int read_key(struct config *config, const char *name, const char *key,
		    const char *value)
{
	const char *title;
	const struct config_section *section = find_section(config, name, &title);
	const struct option *option;
	char *kept;
	void *into;

	if (!section)
		return no_section(config, name, key);
	option = options_find(section->options, key);
	if (!option)
		return -EINVAL;
	if (section->given && options_given(section->given, option->name))
		return 0;
	into = section->place(config->arg, title);
	if (!into)
		return -EINVAL;
	*(uint64_t *)((char *)into + section->seen_offset) |=
		1ULL << (option - section->options);
	kept = config->values;
	config->values = stpcpy(kept, value) + 1;
	return config_value(option, kept, into);
}

/* For inih: 0 is an error, whose line it then returns. */
static int on_key(void *arg, const char *section, const char *key, const char *value)
{
	struct config *config = arg;

	if (config->err || !key) /* a first mistake is told, not the last */
		return 1;
	config->err = read_key(config, section, key, value ? value : "");
	return !config->err;
}

static int parse(struct config *config, const char *text)
{
	char why[512], hint[256];
	int line = ini_parse_string(text, on_key, config);

	if (!line)
		return 0;
	snprintf(why, sizeof(why), "%s",
		 config->err ? error_sentence() : "not a section, a key, or a comment");
	snprintf(hint, sizeof(hint), "%s", config->err ? error_hint() : "");
	fail(-EINVAL, "%s: line %d: %s", config->path, line, why);
	return *hint ? fail_hint(-EINVAL, "%s", hint) : -EINVAL;
}

int config_read(const char *path, const struct config_section *sections, size_t n,
		void *arg, char **ret_text)
{
	AUTO_FREE char *text = NULL, *values = NULL;
	struct config config = { path, sections, n, arg, NULL, 0 };
	int err = read_file(path, CONFIG_BYTES_MAX, 0, &text);

	if (err)
		return err;
	values = malloc(strlen(text) + 1); /* each value and a NUL: its line is longer */
	if (!values)
		return fail(-ENOMEM, "no memory for %s", path);
	config.values = values;
	err = parse(&config, text);
	if (err)
		return err;
	*ret_text = GIVE(values);
	return 0;
}

int config_read_text(const char *path, char **ret)
{
	return read_file(path, CONFIG_BYTES_MAX, 0, ret);
}

int config_read_private(const char *path, char **ret)
{
	return read_file(path, CONFIG_BYTES_MAX, EVERYBODY, ret);
}

int config_read_secret(const char *path, char **ret)
{
	int err = read_file(path, SECRET_BYTES_MAX, EVERYBODY, ret);

	if (!err)
		(*ret)[strcspn(*ret, "\r\n")] = '\0';
	return err;
}
