/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Part of <weft/async.h>, which includes it with -DWEFT_DISABLED: the same names,
 * which evaluate their arguments and do nothing else.
 */
#ifndef WEFT_ASYNC_OFF_H
#define WEFT_ASYNC_OFF_H

#ifdef __cplusplus
#define WEFT_NONE_(type) static_cast<type>(nullptr)
#else
#define WEFT_NONE_(type) ((type)0)
#endif

#define WEFT_HERE()   WEFT_NONE_(void *)
#define WEFT_CALLER() WEFT_NONE_(void *)

#define weft_root_current()		 WEFT_NONE_(struct weft_root *)
#define weft_root_rewind(root)		 ((void)(root))
#define weft_frame_current()		 WEFT_NONE_(struct weft_frame *)
#define weft_root_enter(entry, frame)	 ((void)(entry), (void)(frame))
#define weft_root_leave(entry)		 ((void)(entry))
#define WEFT_ROOT_SCOPE(frame)		 ((void)(frame))
#define weft_frame_init(f, parent, ip)	 ((void)(f), (void)(parent), (void)(ip))
#define weft_frame_asker()		 WEFT_NONE_(struct weft_frame *)
#define weft_frame_mark(frame)		 ((void)(frame))
#define weft_frame_mark_once(frame)	 ((void)(frame))
#define weft_frame_clear(frame)		 ((void)(frame))
#define weft_frame_mark_labelled(f, l)	 ((void)(f), (void)(l))
#define weft_frame_push(root, f, ip)	 ((void)(root), (void)(f), (void)(ip))
#define weft_frame_pop(root, frame)	 ((void)(root), (void)(frame))
#define weft_frame_suspend(root, frame)	 ((void)(root), (void)(frame))
#define weft_frame_resume(root, frame)	 ((void)(root), (void)(frame))
#define weft_frame_detach(frame)	 ((void)(frame))
#define weft_wait_begin(wait)		 ((void)(wait))
#define weft_wait_end(wait)		 ((void)(wait))
#define weft_frame_label(f, l, text)	 ((void)(f), (void)(l), (void)(text))
#define weft_frame_unlabel(f, label)	 ((void)(f), (void)(label))
#define weft_label_push(root, l, text)	 ((void)(root), (void)(l), (void)(text))
#define weft_label_pop(root, label)	 ((void)(root), (void)(label))
#define weft_frame_carry(f, context, r)	 ((void)(f), (void)(context), (void)(r))
#define weft_frame_carry_ids(f, c, t, s) ((void)(f), (void)(c), (void)(t), (void)(s))
#define weft_frame_uncarry(f, context)	 ((void)(f), (void)(context))
#define weft_capture(op)		 ((void)(op))
#define weft_capture_into(f, callers, n) ((void)(f), (void)(callers), (void)(n))
#define weft_leaf_add(leaf, frame)	 ((void)(leaf), (void)(frame))
#define weft_leaf_remove(leaf)		 ((void)(leaf))
#define weft_leaf_each(each, arg)	 ((void)(each), (void)(arg))

#endif
