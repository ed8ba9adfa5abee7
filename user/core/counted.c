// SPDX-License-Identifier: BSD-2-Clause
#include "core/counted.h"

const struct counted counted_hooks[N_HOOKS] = {
#define X(name, key, text) { key, text, false },
	HOOKS(X)
#undef X
};

const struct counted counted_endings[N_ENDINGS] = {
#define X(name, text) { #name, text, false },
	ENDINGS(X)
#undef X
};

const struct counted counted_outcomes[N_OUTCOMES] = {
#define X(name, loss, text) { #name, text, loss },
	OUTCOMES(X)
#undef X
};

const struct counted counted_flags[N_SAMPLE_FLAGS] = {
#define X(name, bit, text) { #name, text, false },
	SAMPLE_FLAGS(X)
#undef X
};

const struct counted counted_origins[N_NAME_ORIGINS] = {
#define X(name, text) { #name, text, false },
	NAME_ORIGINS(X)
#undef X
};
