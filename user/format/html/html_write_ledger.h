/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WEFT_FORMAT_HTML_HTML_WRITE_LEDGER_H
#define WEFT_FORMAT_HTML_HTML_WRITE_LEDGER_H

struct html_line {
	const char *name;  /* of its list, in capitals */
	const char *group; /* "lost": as out/page/words.js names them */
	const char *text;
};

/* What a key of a profile's ledger means; one that is not known is itself. */
struct html_line html_ledger_line(const char *key);

#endif
