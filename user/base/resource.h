/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a service says of itself, in OpenTelemetry's words: attributes of its resource. Of
 * these, the ones that become labels; others are passed over. Whoever wrote them may be
 * anybody, so values are clean UTF-8 (base/str.h) of a bounded length.
 */
#ifndef WEFT_BASE_RESOURCE_H
#define WEFT_BASE_RESOURCE_H

#include <stddef.h>

#define RESOURCE_VALUE_BYTES 256 /* with its NUL; the rest is cut off */

/* What it is to us, the attribute's key, and the label's name. */
#define RESOURCE_ATTRIBUTES(X)                                                           \
	X(SERVICE_NAME, "service.name", "service_name")                                  \
	X(SERVICE_NAMESPACE, "service.namespace", "service_namespace")                   \
	X(DEPLOYMENT, "deployment.environment.name", "deployment_environment")           \
	X(POD_NAMESPACE, "k8s.namespace.name", "pod_namespace")

enum resource_attribute {
#define X(name, key, label) RESOURCE_##name,
	RESOURCE_ATTRIBUTES(X)
#undef X
		N_RESOURCE_ATTRIBUTES
};

struct resource { /* {0}; "": not said */
	char values[N_RESOURCE_ATTRIBUTES][RESOURCE_VALUE_BYTES];
};

/* An attribute, if it is one of these and was not said before. An SDK that was given no
 * name of the service makes one up, "unknown_service…": that is none. */
void resource_add(struct resource *resource, const char *key, size_t n_key,
		  const char *value, size_t n_value);

/* As OTEL_RESOURCE_ATTRIBUTES has them: key=value,key=value, with %2C for a comma. 0, or
 * -EBADMSG: it is not that, and nothing of it was taken. */
int resource_add_text(struct resource *resource, const char *text);

#endif
