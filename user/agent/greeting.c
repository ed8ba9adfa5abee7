// SPDX-License-Identifier: BSD-2-Clause
#include "agent/greeting.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/url.h"

#include <string.h>

/* "http://user:password@host:4040/path" is http://host:4040. */
static void add_server(struct str *line, const char *url)
{
	const char *scheme_end = strstr(url, "://");
	int n_scheme = scheme_end ? (int)(scheme_end - url) + 3 : 0;
	size_t n;
	const char *server = url_server(url, &n);

	str_addf(line, "%.*s%.*s", n_scheme, url, (int)n, server);
}

static void add_receivers(struct str *line, const struct agent_options *options)
{
	for (size_t i = 0; i < options->n_receivers; i++) {
		const struct agent_receiver *receiver = &options->receivers[i];

		str_addf(line, "%s %s at ", i ? " and" : ", sends them to",
			 receiver->kind->name);
		add_server(line, receiver->target.url);
	}
}

void greeting_tell(const struct agent_options *options)
{
	const char *address = options->listen.address;
	AUTO_STR line = { 0 };

	str_addf(&line, "samples each CPU at %u Hz, in profiles of %g s",
		 options->record.hz, (double)options->window_ns / SECOND_NS);
	add_receivers(&line, options);
	if (options->keep)
		str_addf(&line, ", keeps them in %s", options->keep);
	if (address)
		str_addf(&line, "; its status is at %s%s",
			 strncmp(address, "unix:", 5) ? "http://" : "", address);
	else
		str_add(&line, "; nobody can ask for its status without --listen");
	if (str_error(&line))
		error_clear();
	else
		log_info("%s", line.s);
}
