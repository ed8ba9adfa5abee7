/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stacks of one view of a profile as a tree of texts: what looks alike is
 * one node, whatever its address. What flame graphs, call trees and folded lines
 * are made from. Node 0 is the root; a parent's number is below its children's.
 */
#ifndef WEFT_CORE_TREE_H
#define WEFT_CORE_TREE_H

#include "core/profile.h"

/* What the nodes next to the root are. */
enum tree_group {
	GROUP_COMM, /* the thread's name */
	GROUP_NONE,
	GROUP_PROCESS, /* "name (pid)" */
	GROUP_THREAD,  /* "name (pid/tid)" */
	GROUP_CONTAINER,
	GROUP_HOST,
};

/* The plain text of the group that a thread is in. */
void tree_group_text(struct str *out, const struct profile *r, enum tree_group group,
		     uint32_t thread);

struct tree_options {
	enum view view;
	enum tree_group group;
	bool invert;	/* leaf first, and no group; so are callers */
	bool no_kernel; /* kernel frames are left out, their samples stay */
	/* Only stacks with a function that this pattern (base/glob.h) names: from it
	 * to the leaf, what it calls; or with `callers`, from it to the root, who
	 * calls it. */
	const char *focus;
	bool callers;
	/* How a format writes a frame's or mark's text (code of a node), and a
	 * group's. NULL: the plain one. */
	void (*frame_text)(struct str *out, const struct profile *r, uint32_t code);
	void (*group_text)(struct str *out, const struct profile *r, const char *plain);
};

/* What a node is, by its code: for colours. */
enum tree_kind {
	TREE_GROUP,
	TREE_MARK,
	TREE_UNKNOWN,
	TREE_NATIVE,
	TREE_KERNEL,
	TREE_JIT,
	TREE_INLINED,
};

struct tree_label {
	uint32_t kind;	 /* of the first frame that has this text */
	uint32_t module; /* in the profile; 0: none */
};

struct tree {
	struct intern *texts; /* by label */
	VEC(struct tree_label) labels;
	struct pairs nodes; /* a = parent, b = label */
	VEC(uint64_t) self;
	VEC(uint64_t) total;
	/* children of node i: order[first[i]] … order[first[i + 1] - 1], the
	 * largest total first */
	uint32_t *first, *order;
};

int tree_new(struct tree **ret, const struct profile *profile,
	     const struct tree_options *options);
void tree_free(struct tree *tree);
DEFINE_FREEP(tree)

static inline const char *tree_text(const struct tree *tree, uint32_t node)
{
	return node ? intern_string(tree->texts, tree->nodes.items[node].b) : "";
}

static inline const struct tree_label *tree_label(const struct tree *tree, uint32_t node)
{
	return &tree->labels.items[tree->nodes.items[node].b];
}

#endif
