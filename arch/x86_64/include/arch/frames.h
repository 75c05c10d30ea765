// SPDX-License-Identifier: Apache-2.0
// arch/frames.h — put in front of everything that ships (-include): how to unwind our functions is written for
// debuggers (.debug_frame), which read it from the file, and not into memory (.eh_frame), where no code reads it: the
// runtime neither throws nor lets an exception pass. docs/decisions/0084
#ifndef __ASSEMBLER__  // assembly has it from asm.h
__asm__(".cfi_sections .debug_frame");
#endif
