/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Weft and its parse worker go first. On a busy machine the fifth of a second
 * of CPU that it takes to load, and as much to write, is otherwise a second of
 * waiting each; between the two it needs next to nothing, but in time, or
 * rings run full.
 */
#ifndef WEFT_RECORD_PRIORITY_H
#define WEFT_RECORD_PRIORITY_H

/*
 * Raises the priority of this process and of what it forks from now on, unless
 * somebody chose one for it. Returns the nice value that it had, for
 * priority_restore(). Not permitted: all stays as it was.
 */
int priority_raise(void);

void priority_restore(int nice);

#endif
