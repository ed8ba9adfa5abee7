/* SPDX-License-Identifier: BSD-2-Clause */
/* How many files this process may have open. */
#ifndef WEFT_BASE_DESCRIPTORS_H
#define WEFT_BASE_DESCRIPTORS_H

/* Raises the limit as far as it goes, at most to 65,536, and returns it. */
unsigned long descriptors_raise(void);

#endif
