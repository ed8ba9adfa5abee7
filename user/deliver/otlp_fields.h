/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of an export of profiles, by the names that opentelemetry-proto 1.11 gives
 * them (profiles/v1development, collector/profiles/v1development, common, resource). */
#ifndef WEFT_DELIVER_OTLP_FIELDS_H
#define WEFT_DELIVER_OTLP_FIELDS_H

enum otlp_request { EXPORT_RESOURCE_PROFILES = 1, EXPORT_DICTIONARY = 2 };

enum otlp_resource_profiles { RESOURCE_RESOURCE = 1, RESOURCE_SCOPE_PROFILES = 2 };

enum otlp_resource { RESOURCE_ATTRIBUTES = 1 };

enum otlp_key_value { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2 };

enum otlp_any_value { ANY_STRING = 1, ANY_INT = 3, ANY_ARRAY = 5 };

enum otlp_array { ARRAY_VALUES = 1 };

enum otlp_scope_profiles { SCOPE_SCOPE = 1, SCOPE_PROFILES = 2 };

enum otlp_scope { SCOPE_NAME = 1, SCOPE_VERSION = 2 };

enum otlp_dictionary {
	DICTIONARY_MAPPING = 1,
	DICTIONARY_LOCATION = 2,
	DICTIONARY_FUNCTION = 3,
	DICTIONARY_LINK = 4,
	DICTIONARY_STRING = 5,
	DICTIONARY_ATTRIBUTE = 6,
	DICTIONARY_STACK = 7,
};

enum otlp_profile {
	OTLP_SAMPLE_TYPE = 1,
	OTLP_SAMPLES = 2,
	OTLP_TIME_UNIX_NANO = 3, /* fixed64 */
	OTLP_DURATION_NANO = 4,
	OTLP_PERIOD_TYPE = 5,
	OTLP_PERIOD = 6,
	OTLP_PROFILE_ID = 7, /* 16 bytes */
	OTLP_PROFILE_ATTRIBUTES = 11,
};

enum otlp_value_type { OTLP_TYPE = 1, OTLP_UNIT = 2 };

enum otlp_sample {
	OTLP_STACK = 1,
	OTLP_SAMPLE_ATTRIBUTES = 2,
	OTLP_LINK = 3,
	OTLP_VALUES = 4,
};

enum otlp_mapping {
	OTLP_MEMORY_START = 1,
	OTLP_MEMORY_LIMIT = 2,
	OTLP_FILE_OFFSET = 3,
	OTLP_FILENAME = 4,
	OTLP_MAPPING_ATTRIBUTES = 5,
};

enum otlp_location {
	OTLP_MAPPING = 1,
	OTLP_ADDRESS = 2,
	OTLP_LINES = 3,
	OTLP_LOCATION_ATTRIBUTES = 4,
};

enum otlp_line { OTLP_FUNCTION = 1, OTLP_LINE = 2 };

enum otlp_function {
	OTLP_NAME = 1,
	OTLP_SYSTEM_NAME = 2,
	OTLP_SOURCE = 3,
	OTLP_START_LINE = 4,
};

enum otlp_stack { OTLP_LOCATIONS = 1 };

enum otlp_link { OTLP_TRACE_ID = 1, OTLP_SPAN_ID = 2 };

enum otlp_attribute { OTLP_KEY = 1, OTLP_VALUE = 2 };

#endif
