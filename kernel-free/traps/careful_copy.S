// SPDX-License-Identifier: Apache-2.0
// careful_copy.S — size_t janus_copy_carefully(void* to, const void* from, size_t count)      rdi, rsi, rdx
// The one instruction of the machine that may fault on an address that a caller gave. A fault is let go on behind it
// (fix_up), where rcx says how many bytes are left.
#include <arch/asm.h>

FUNC(janus_copy_carefully)
        cld                             // whatever a caller of ours has left
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
