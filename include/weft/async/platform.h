/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of <weft/async.h> and <weft/fiber.h>: whether there is anything for them to do
 * here, and whether this file defines what all files of a program share.
 */
#ifndef WEFT_ASYNC_PLATFORM_H
#define WEFT_ASYNC_PLATFORM_H

/* Linux on ELF with 64-bit pointers, GNU C of C99 or later, C++ of any year, a libc. */
#if defined(__linux__) && defined(__ELF__) && defined(__LP64__) && defined(__GNUC__) &&  \
	__STDC_HOSTED__ && (defined(__cplusplus) || defined(__STDC_VERSION__))
#if defined(__cplusplus)
#define WEFT_PLATFORM_ 1
#elif __STDC_VERSION__ >= 199901L
#define WEFT_PLATFORM_ 1
#endif
#endif

#ifndef WEFT_PLATFORM_
#define WEFT_PLATFORM_ 0
#ifndef WEFT_DISABLED
#define WEFT_DISABLED
#endif
#endif

#if defined(__cplusplus) && __cplusplus >= 201103L
#define WEFT_NULL_ nullptr
#else
#define WEFT_NULL_ NULL
#endif

#if defined(WEFT_ASYNC_EXTERN) && !defined(WEFT_ASYNC_IMPLEMENTATION)
#define WEFT_DEFINES_ 0
#else
#define WEFT_DEFINES_ 1
#endif

#endif
