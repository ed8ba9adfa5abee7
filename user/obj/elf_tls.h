/* SPDX-License-Identifier: BSD-2-Clause */
/* Where threads have their copies of a thread-local variable, as the file that defines
 * it tells. */
#ifndef WEFT_OBJ_ELF_TLS_H
#define WEFT_OBJ_ELF_TLS_H

#include "obj/elf_table.h"
#include "shared/thread_context.h"

/* Sets *ret only if it is known. sym: of .dynsym */
void elf_tls_variable(struct elf_file *file, const struct elf_dynamic *dynamic,
		      const Elf64_Sym *sym, struct tls_variable *ret);

#endif
