/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of the reader of call frame information share; no one else:
 * cfi.c (which FDEs there are), cfi_record.c (a CIE, an FDE), cfi_exec.c (their
 * instructions), cfi_expr.c (expressions), cfi_rule.c (a row's rule), and
 * function_starts.c (FDEs without their instructions).
 */
#ifndef WEFT_UNWIND_CFI_PARTS_H
#define WEFT_UNWIND_CFI_PARTS_H

#include "unwind/cfi.h"
#include "unwind/cfi_section.h"

struct cfi_machine {
	uint8_t fp, sp, ra;  /* DWARF's numbers */
	uint8_t bx;	     /* x86-64's rbx */
	uint8_t ip;	     /* where expressions can name it; x86-64's is ra */
	bool ra_in_register; /* at a function's start */
	bool ra_below_cfa;   /* where the call put it */
	uint8_t sigreturn[9], sigreturn_bytes; /* the code that asks for it */
};

/* NULL: not one that we know. */
const struct cfi_machine *cfi_machine(uint16_t e_machine);

struct cfi_cie {
	uint64_t offset; /* in the section */
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra;
	struct cfi_cursor code; /* its initial instructions */
	uint8_t pointers;	/* encoding */
	bool is_augmented;	/* FDEs say how long their augmentation is */
	bool is_signal;
};

struct cfi_fde {
	uint64_t begin, end;
	uint64_t cie;		/* offset */
	struct cfi_cursor code; /* instructions */
};

enum cfi_kind { CFI_CIE, CFI_FDE, CFI_PADDING, CFI_BAD };

/* One record at the cursor: its kind and its bytes behind the length; the
 * cursor goes to the next. *ret_cie: an FDE's, as an offset. */
struct cfi_record {
	enum cfi_kind kind;
	uint64_t cie;
	struct cfi_cursor body; /* behind the CIE's mark or pointer */
};

struct cfi_record cfi_record_next(const struct cfi_section *section,
				  struct cfi_cursor *in);

/* False: can't be read. */
bool cfi_cie_read(const struct cfi_section *section, uint64_t offset,
		  struct cfi_cie *ret);
bool cfi_fde_read(const struct cfi_section *section, const struct cfi_record *record,
		  const struct cfi_cie *cie, struct cfi_fde *ret);

struct cfi_expr {
	const uint8_t *bytes;
	size_t n;
};

/* How a register of the caller is found. */
enum cfi_how {
	CFI_UNSAID,
	CFI_UNDEFINED,
	CFI_SAME,
	CFI_AT,	     /* *(CFA + n) */
	CFI_IS,	     /* CFA + n */
	CFI_IN,	     /* register n */
	CFI_TAKEN,   /* register n: the function took it off the stack there */
	CFI_AT_EXPR, /* *(expression) */
	CFI_IS_EXPR,
};

struct cfi_place {
	enum cfi_how how;
	int64_t n;
	struct cfi_expr expr;
};

struct cfi_state {
	bool by_expr;
	uint64_t cfa_reg;
	int64_t cfa_offset;
	struct cfi_expr cfa_expr;
	struct cfi_place fp, ra, sp, bx;
};

#define CFI_NO_REGISTER UINT64_MAX

/* What an expression comes to, as far as a rule can hold it. */
enum cfi_term_kind {
	CFI_TERM_NONE,	      /* something else */
	CFI_TERM_NUMBER,      /* offset */
	CFI_TERM_CFA,	      /* CFA + offset */
	CFI_TERM_REG,	      /* reg + offset */
	CFI_TERM_DEREF,	      /* *(reg + deref) + offset */
	CFI_TERM_DEREF_TWICE, /* **(reg + deref) + offset */
	CFI_TERM_SCALED,      /* 8 * reg */
	CFI_TERM_SLOT,	      /* sp + 8 * reg + offset */
	CFI_TERM_INDEXED,     /* *(sp + 8 * reg + deref) + offset */
	CFI_TERM_LOW_IP,      /* the pc's last 4 bits */
	CFI_TERM_STEP,	      /* (pc & 15) >= reg, shifted left by offset */
	CFI_TERM_PLT,	      /* sp + offset + 8 * ((pc & 15) >= reg) */
};

struct cfi_term {
	enum cfi_term_kind kind;
	uint64_t reg;
	int64_t deref, offset;
};

/* on_cfa: the expression begins with the CFA on its stack. */
struct cfi_term cfi_expr_eval(const struct cfi_machine *machine,
			      const struct cfi_expr *expr, bool on_cfa);

/* The rule of a state. *ret_unsupported: why it is UNSUPPORTED or its fp is LOST, or
 * N_CFI_UNSUPPORTED; *ret_expr: the expression that it was, or {NULL, 0}. */
struct unwind_rule cfi_rule(const struct cfi_machine *machine, const struct cfi_cie *cie,
			    const struct cfi_state *state,
			    enum cfi_unsupported *ret_unsupported,
			    struct cfi_expr *ret_expr);

#define CFI_STATES_MAX 64 /* remembered at once; compilers use 1 or 2 */

/* Runs FDEs, one after the other; large, so it is kept. */
struct cfi_exec {
	const struct cfi_machine *machine;
	const struct cfi_section *section;
	const struct cfi_sink *sink;
	struct cfi_stats *stats;
	uint64_t steps_left; /* instructions, of all FDEs together */
	const struct cfi_cie *cie;
	struct cfi_state state, initial;
	struct cfi_state saved[CFI_STATES_MAX];
	size_t n_saved;
	uint64_t begin;		/* of the entry */
	uint64_t pc, from, end; /* rows are for [from, end) */
	bool is_launchpad;	/* its first row leads to another stack */
	bool is_sigreturn;	/* its frames are the kernel's, whatever is said */
};

/* Rows for [from, fde->end). 0, the sink's error, or -EBADMSG: out of steps. */
int cfi_exec_run(struct cfi_exec *exec, const struct cfi_cie *cie,
		 const struct cfi_fde *fde, uint64_t from);

#endif
