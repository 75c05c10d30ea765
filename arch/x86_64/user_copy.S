// SPDX-License-Identifier: Apache-2.0
// user_copy.S — copies that may fault. System V x86-64. Contract: user_copy.h. Uses the vector registers that every
// processor has; changes no callee-saved register.
#include <arch/asm.h>
#include "arch/x86_64/context_offsets.h"    // generated from user_copy.h: JANUS_USER_COPY_DONE, ...

#define LOAD MAY_FAULT(janus_user_copy, .Lbad_source)
#define STORE MAY_FAULT(janus_user_copy, .Lbad_target)

// UserCopy janus_user_copy(void* to, const void* from, size_t bytes)      rdi, rsi, rdx
FUNC(janus_user_copy)
    cmp     $16, %rdx
    jb      .Lbelow_16
    lea     -16(%rdx), %rcx                 // the last 16 bytes, which may overlap those before
    xor     %r8d, %r8d
.Lnext_16:
    cmp     %rcx, %r8
    jae     .Llast_16
    LOAD    movups (%rsi,%r8), %xmm0
    STORE   movups %xmm0, (%rdi,%r8)
    add     $16, %r8
    jmp     .Lnext_16
.Llast_16:
    LOAD    movups (%rsi,%rcx), %xmm0
    STORE   movups %xmm0, (%rdi,%rcx)
.Ldone:
    mov     $JANUS_USER_COPY_DONE, %eax
    ret

.Lbelow_16:                                 // the first and the last 8, 4 or 1 bytes
    cmp     $8, %edx
    jb      .Lbelow_8
    LOAD    mov (%rsi), %rax
    LOAD    mov -8(%rsi,%rdx), %rcx
    STORE   mov %rax, (%rdi)
    STORE   mov %rcx, -8(%rdi,%rdx)
    jmp     .Ldone
.Lbelow_8:
    cmp     $4, %edx
    jb      .Lbelow_4
    LOAD    mov (%rsi), %eax
    LOAD    mov -4(%rsi,%rdx), %ecx
    STORE   mov %eax, (%rdi)
    STORE   mov %ecx, -4(%rdi,%rdx)
    jmp     .Ldone
.Lbelow_4:
    test    %edx, %edx
    jz      .Ldone
    mov     %edx, %r8d
    shr     $1, %r8d                        // and the middle one of three
    LOAD    movzbl (%rsi), %eax
    LOAD    movzbl (%rsi,%r8), %r9d
    LOAD    movzbl -1(%rsi,%rdx), %ecx
    STORE   mov %al, (%rdi)
    STORE   mov %r9b, (%rdi,%r8)
    STORE   mov %cl, -1(%rdi,%rdx)
    jmp     .Ldone

.Lbad_source:
    mov     $JANUS_USER_COPY_BAD_SOURCE, %eax
    ret
.Lbad_target:
    mov     $JANUS_USER_COPY_BAD_TARGET, %eax
    ret
END(janus_user_copy)

// int64_t janus_user_copy_string(char* to, const char* from, size_t limit)      rdi, rsi, rdx
FUNC(janus_user_copy_string)
    xor     %eax, %eax
.Lnext_byte:
    cmp     %rdx, %rax
    je      .Lwhole
    MAY_FAULT(janus_user_copy_string, .Lbad_string)
    movzbl  (%rsi,%rax), %ecx
    test    %ecx, %ecx
    jz      .Lwhole
    mov     %cl, (%rdi,%rax)
    inc     %rax
    jmp     .Lnext_byte
.Lbad_string:
    mov     $-1, %rax
.Lwhole:
    ret
END(janus_user_copy_string)
