/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A weft that is to record without root has capabilities on its file (setcap), and so
 * has whoever starts it, for whatever command. Those that only read files give them up.
 */
#ifndef WEFT_CLI_PRIVILEGES_H
#define WEFT_CLI_PRIVILEGES_H

/* All capabilities, unless root's: what root may read it reads as root. */
void privileges_drop(void);

#endif
