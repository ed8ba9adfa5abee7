/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process context that an OpenTelemetry SDK publishes in its process's memory: the
 * attributes of its resource, behind a header in a mapping that is called OTEL_CTX.
 * OpenTelemetry's OTEP 4719, as merged in April 2026: version 2 of the header. Both the
 * search and the reading may wait: see proc/opener.h.
 */
#ifndef WEFT_PROC_OPEN_CONTEXT_H
#define WEFT_PROC_OPEN_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CONTEXT_BYTES_MAX    (16u << 10) /* of a payload; SDKs write at most 16 KB */
#define CONTEXT_MAPPINGS_MAX (64u << 10) /* that are looked through */

/*
 * A sealed copy of the payload, whose bytes may be anything (obj/process_context.h).
 * -ENOENT: the process has none; -EAGAIN: it is writing one; -ESRCH: it is gone;
 * -EBADMSG: what is called so is none, or none of version 2; -EFBIG: it is too large, or
 * the process has too many mappings; -EFAULT: it is not where the header says.
 */
int open_context(pid_t pid, int *ret_fd);

/* Its header, as it lies there. */
struct context_header {
	char signature[8]; /* without a NUL */
	uint32_t version, payload_bytes;
	uint64_t published_ns; /* CLOCK_BOOTTIME, another one at each change; 0: being
				* written */
	uint64_t payload;      /* its address */
};

/* As open_context() has them. */
int context_check(const struct context_header *header);

/* Does a line of /proc/PID/maps show a mapping of this name? It begins there. */
bool context_is_mapping(const char *line, uint64_t *ret_start);

#endif
