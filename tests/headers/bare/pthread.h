/* SPDX-License-Identifier: BSD-2-Clause */
/* As much of a libc's as weft/async.h uses, to compile for machines whose libc is not
 * here. */
#ifndef BARE_PTHREAD_H
#define BARE_PTHREAD_H

#include <stddef.h>

typedef unsigned long pthread_t;
typedef unsigned int pthread_key_t;
typedef struct {
	long words[7];
} pthread_attr_t;
typedef struct {
	long words[5];
} pthread_mutex_t;

int pthread_key_create(pthread_key_t *key, void (*destroy)(void *));
int pthread_key_delete(pthread_key_t key);
void *pthread_getspecific(pthread_key_t key);
int pthread_setspecific(pthread_key_t key, const void *value);
pthread_t pthread_self(void);
int pthread_attr_destroy(pthread_attr_t *attr);
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_unlock(pthread_mutex_t *mutex);
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

#endif
