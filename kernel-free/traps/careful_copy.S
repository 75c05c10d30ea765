// SPDX-License-Identifier: Apache-2.0
// careful_copy.S — size_t janus_copy_carefully(void* to, const void* from, size_t count)      rdi, rsi, rdx
// Contains the only instruction of kernel-free that may fault on a caller's address. After such a fault execution
// resumes behind it (fix_up), with the number of bytes left in rcx.
#include <arch/asm.h>

FUNC(janus_copy_carefully)
        cld                             // the caller's code may have left DF set
        mov     %rdx, %rcx
        .globl  janus_copy_may_fault
        .hidden janus_copy_may_fault
janus_copy_may_fault:
        rep movsb
        .globl  janus_copy_has_ended
        .hidden janus_copy_has_ended
janus_copy_has_ended:
        mov     %rcx, %rax
        ret
END(janus_copy_carefully)
