// SPDX-License-Identifier: BSD-2-Clause
#include "base/library.h"

#include "base/error.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#ifdef WEFT_STATIC
bool library_can_load(void)
{
	return false;
}

void *library_load(const char *name)
{
	return NULL;
}

void *library_function(void *library, const char *name)
{
	return NULL;
}
#else
bool library_can_load(void)
{
	return true;
}

void *library_load(const char *name)
{
	return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

void *library_function(void *library, const char *name)
{
	return dlsym(library, name);
}
#endif

int library_require(const char *what, const char *library)
{
	if (library_can_load())
		return 0;
	fail(-ENOSYS, "%s needs %s, which this static weft can't load", what, library);
	return fail_hint(-ENOSYS, "use a weft that is linked with shared libraries");
}
