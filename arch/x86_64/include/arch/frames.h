// SPDX-License-Identifier: Apache-2.0
// arch/frames.h — included first in all shipped sources (-include): unwind tables go to .debug_frame, which debuggers
// read from the file, and not to .eh_frame, which is loaded and which no code would read: no exception passes through
// the runtime. docs/decisions/0084
#ifndef __ASSEMBLER__  // assembly has it from asm.h
__asm__(".cfi_sections .debug_frame");
#endif
