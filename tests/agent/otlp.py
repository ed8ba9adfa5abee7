# SPDX-License-Identifier: BSD-2-Clause
"""Reads an export of profiles (opentelemetry-proto 1.11, v1development) and holds it to
what receivers demand, or silently get wrong: each table's number 0 is empty, each number
is one of its table, one value a sample and no times, no zeros for ids that are none.

Field by field, from the protocol's text; nothing of weft's writer is used.
"""

from wire import Broken, fields, varint


def demand(ok, why):
    if not ok:
        raise Broken(why)


def message(data):
    """number -> its values in turn: numbers, or bytes"""
    ret = {}
    for number, value in fields(data, with_fixed64=True):
        ret.setdefault(number, []).append(value)
    return ret


def one(fields, number, usual=0):
    values = fields.get(number, [usual])
    demand(len(values) == 1, "%d times field %d" % (len(values), number))
    return values[0]


def packed(fields, number):
    ret = []
    for value in fields.get(number, []):
        at = 0
        while at < len(value):
            item, at = varint(value, at)
            ret.append(item)
    return ret


def any_value(data):
    fields = message(data)
    demand(len(fields) == 1, "a value of %d types" % len(fields))
    ((number, (value,)),) = fields.items()
    if number == 1:
        return value.decode()
    if number == 3:
        return value
    demand(number == 5, "a value of type %d" % number)
    return [any_value(item) for item in message(value).get(1, [])]


class Dictionary:
    def __init__(self, data):
        fields = message(data)
        tables = [fields.get(number, []) for number in range(8)]
        self.strings = [text.decode() for text in tables[5]]
        for number in range(1, 8):
            demand(tables[number] and not tables[number][0], "table %d: number 0" % number)
        self.mappings = [message(item) for item in tables[1]]
        self.locations = [message(item) for item in tables[2]]
        self.functions = [message(item) for item in tables[3]]
        self.attributes = [message(item) for item in tables[6]]
        self.stacks = [message(item) for item in tables[7]]
        self.links = [message(item) for item in tables[4]]
        for link in self.links[1:]:
            for number, size in ((1, 16), (2, 8)):
                demand(len(one(link, number)) == size and any(one(link, number)), "a link's ids")
        self.attributes_of = {}
        self.stacks_read = {}
        # also what nobody refers to
        for mapping in self.mappings:
            self.strings[one(mapping, 4)]
            self.named(packed(mapping, 5))
        self.frames_of = [None]
        for location in self.locations[1:]:
            demand(location.get(3), "a location without a line")
            self.mappings[one(location, 1)]
            self.frames_of.append(self.frames(location))
        for function in self.functions[1:]:
            demand(self.strings[one(function, 1)], "a function without a name")
            self.strings[one(function, 3)]

    def named(self, numbers):
        numbers = tuple(numbers)
        if numbers not in self.attributes_of:
            self.attributes_of[numbers] = self.read_named(numbers)
        return self.attributes_of[numbers]

    def read_named(self, numbers):
        ret = {}
        for number in numbers:
            demand(number, "attribute 0")
            attribute = self.attributes[number]
            key = self.strings[one(attribute, 1)]
            demand(key and key not in ret, "attribute " + key)
            ret[key] = any_value(one(attribute, 2))
        return ret

    def frames(self, location):
        """leaf first"""
        lines = [message(line) for line in location[3]]
        functions = [self.functions[one(line, 1)] for line in lines]
        is_kernel = self.named(packed(location, 4)).get("profile.frame.type") == "kernel"
        suffix = "_[k]" if is_kernel else ""
        return [self.strings[one(function, 1)] + suffix for function in functions]

    def stack(self, number):
        """root first"""
        if number not in self.stacks_read:
            ret = []
            for location in packed(self.stacks[number], 1):
                demand(location, "location 0")
                ret += self.frames_of[location]
            self.stacks_read[number] = ret[::-1]
        return self.stacks_read[number]

    def value_type(self, data):
        fields = message(data)
        return self.strings[one(fields, 1)], self.strings[one(fields, 2)]


def read_resource(data):
    ret = {}
    for pair in message(data).get(1, []):
        fields = message(pair)
        demand(set(fields) == {1, 2}, "an attribute of fields %s" % set(fields))
        ret[one(fields, 1).decode()] = any_value(one(fields, 2))
    demand(ret.get("service.name"), "no service.name")
    return ret


def read_profile(dictionary, data):
    fields = message(data)
    period_type = dictionary.value_type(one(fields, 5))
    demand(period_type == ("cpu", "nanoseconds"), "period of %s" % (period_type,))
    demand(one(fields, 6) > 0 and one(fields, 3) > 0 and one(fields, 4) > 0, "no times")
    demand(len(one(fields, 7)) == 16 and any(one(fields, 7)), "profile_id")
    folded = {}
    linked = []
    said = []
    for data in fields[2]:
        sample = message(data)
        demand(5 not in sample, "a sample with times")
        demand(set(sample) <= {1, 2, 3, 4}, "a sample of fields %s" % set(sample))
        (value,) = packed(sample, 4)
        demand(value > 0, "a sample of nothing")
        attributes = dictionary.named(packed(sample, 2))
        # as folded stacks have a thread that gave itself no name
        thread = attributes.get("thread.name", "[no_name]")
        stack = [thread] + dictionary.stack(one(sample, 1))
        demand("trace_id" not in attributes, "ids outside of a link")
        if one(sample, 3):
            link = dictionary.links[one(sample, 3)]
            linked.append((stack, one(link, 1).hex(), one(link, 2).hex()))
        http = {key: attributes[key] for key in attributes if "http." in key}
        if http:
            said.append((stack, http))
        line = ";".join(frame.replace(";", ":") for frame in stack)
        folded[line] = folded.get(line, 0) + value
    about = dict(dictionary.named(packed(fields, 11)))
    about["linked"] = linked
    about["said"] = said
    about["type"] = dictionary.value_type(one(fields, 1))
    return one(fields, 7).hex(), folded, about


def read_series(dictionary, data):
    resource = message(data)
    scope = message(one(resource, 2))
    demand(one(message(one(scope, 1)), 1) == b"weft", "scope")
    profile_id, folded, about = read_profile(dictionary, one(scope, 2))
    types = {
        dictionary.named(packed(location, 4)).get("profile.frame.type", "")
        for location in dictionary.locations
    }
    about["frame_types"] = sorted(types)
    about["resource"] = read_resource(one(resource, 1))
    return {"id": profile_id, "folded": folded, "about": about}


def read(data):
    """one for each resource, which are all different"""
    export = message(data)
    dictionary = Dictionary(one(export, 2))
    demand(export.get(1), "no resource")
    ret = [read_series(dictionary, resource) for resource in export[1]]
    resources = [sorted(series["about"]["resource"].items()) for series in ret]
    demand(all(resources.count(resource) == 1 for resource in resources), "a resource twice")
    demand(len({series["id"] for series in ret}) == len(ret), "an id twice")
    return ret
