// SPDX-License-Identifier: BSD-2-Clause
/* fixture FILE: the profile of tests/unit/made.h as a recording. */
#include "../unit/made.h"
#include "base/error.h"
#include "format/writer.h"

int main(int argc, char **argv)
{
	const struct writer_options options = { 0 };
	AUTO(profile) r = NULL;
	AUTO(outfile) out = NULL;

	if (argc != 2 || made_profile(&r, "alpha") || outfile_new(&out, argv[1]) ||
	    weft_writer.write(out, r, &options) || outfile_finish(out)) {
		fprintf(stderr, "fixture: %s\n", error_sentence());
		return 1;
	}
	return 0;
}
