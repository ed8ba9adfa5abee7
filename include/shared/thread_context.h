/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The trace and the span that a thread works for, where OpenTelemetry's SDKs publish
 * them: OTEP 4947, "Thread Context", as merged on 17 July 2026. A thread-local variable,
 * exported in .dynsym, points to the record of the context that is attached to the
 * thread, or is null. The thread alone writes it, so a tick on that thread sees it as
 * a signal handler would.
 */
#ifndef WEFT_SHARED_THREAD_CONTEXT_H
#define WEFT_SHARED_THREAD_CONTEXT_H

#define THREAD_CONTEXT_SYMBOL "otel_thread_ctx_v1"
#define THREAD_CONTEXT_VALID  1 /* every other value: it is being written, or no one's */

#define TRACE_ID_BYTES 16
#define SPAN_ID_BYTES  8

/* Both as W3C Trace Context has them: zeroes are no id. */
struct trace_ids {
	unsigned char trace[TRACE_ID_BYTES];
	unsigned char span[SPAN_ID_BYTES];
};

/* Bytes without padding; attributes follow. */
struct thread_context {
	struct trace_ids ids;
	unsigned char valid;
	unsigned char trace_flags;
	unsigned char attributes_bytes[2]; /* a number in the machine's byte order */
};

_Static_assert(sizeof(struct thread_context) == 28, "OTEP 4947's record");

/* An attribute: a key's index in the map that the process publishes, the number of the
 * value's bytes, the value. A record is read as far as OTEP 4947 advises that it goes. */
#define ATTRIBUTE_HEAD_BYTES 2
#define ATTRIBUTE_KEYS	     256 /* that a map may have */
#define ATTRIBUTES_BYTES_MAX (640 - 28)

/* A sample carries ids as words behind those of its stacks. */
#define TRACE_WORDS 3

_Static_assert(sizeof(struct trace_ids) == 8 * TRACE_WORDS, "whole words");

/* And attributes as words behind these, the last of which says how many bytes they are,
 * and how many the record has. */
#define ATTRIBUTES_WORD(bytes, said) ((unsigned long long)(said) << 32 | (bytes))
#define ATTRIBUTES_BYTES(word)	     ((unsigned int)(word))
#define ATTRIBUTES_SAID(word)	     ((unsigned int)((word) >> 32))
#define ATTRIBUTES_WORDS(bytes)	     (((bytes) + 7) / 8 + 1)
#define ATTRIBUTES_WORDS_MAX	     ATTRIBUTES_WORDS(ATTRIBUTES_BYTES_MAX)

/*
 * How a thread's copy of the variable is found. A library's code finds it by words that
 * the dynamic linker has set for it, by a relocation for the symbol.
 */
enum tls_access {
	TLS_NONE,	   /* there is no such variable */
	TLS_BY_OFFSET,	   /* it lies that far from the thread pointer: a program's own */
	TLS_BY_WORD,	   /* the word there says how far: initial-exec */
	TLS_BY_MODULE,	   /* words: the module's number, and how far in its block */
	TLS_BY_DESCRIPTOR, /* its second word: how far from the thread pointer, or the
			    * address of two words as above */
	N_TLS_ACCESSES
};

struct tls_variable {
	long long at;	     /* an offset; or the address of words, as linked in a file */
	unsigned int access; /* enum tls_access */
	unsigned int reserved;
};

#endif
