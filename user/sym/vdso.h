/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WEFT_SYM_VDSO_H
#define WEFT_SYM_VDSO_H

/* A file with the image of this kernel's vDSO, which every 64-bit process
 * maps; the caller closes it. Negative errno: there is none. */
int vdso_open(void);

#endif
