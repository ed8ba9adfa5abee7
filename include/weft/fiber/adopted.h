/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of <weft/fiber.h>, which includes it: stacks that other code switches. */
#ifndef WEFT_FIBER_ADOPTED_H
#define WEFT_FIBER_ADOPTED_H

static inline void weft_adopted_begin_(struct weft_adopted *adopted,
				       struct weft_fiber_outside_ *outside, void *fp,
				       void *place)
{
	WEFT_CHECK_(!adopted->place, "WEFT_ADOPTED_RESUME: this stack runs already");
	weft_roots_in_(&adopted->roots, adopted->holder, outside);
	WEFT_PUBLISH_(&adopted->place, place);
	WEFT_PUBLISH_(&adopted->fp, fp);
}

static inline void weft_adopted_end_(struct weft_adopted *adopted,
				     struct weft_fiber_outside_ *outside)
{
	WEFT_PUBLISH_(&adopted->fp, WEFT_CAST_(void *, WEFT_NULL_));
	WEFT_PUBLISH_(&adopted->place, WEFT_CAST_(void *, WEFT_NULL_));
	weft_roots_out_(&adopted->roots, &adopted->holder, outside);
}

#endif
