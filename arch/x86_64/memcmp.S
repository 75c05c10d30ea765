// SPDX-License-Identifier: Apache-2.0
// memcmp.S — int janus_memcmp(const void* a, const void* b, size_t bytes), also bcmp.      rdi, rsi, rdx
// The result is the difference of the first two bytes that differ. Never reads beyond either run.
#include <arch/mem_asm.h>

FUNC(janus_memcmp)
    cmp     $16, %rdx
    jb      .Lunder_16
    cmp     $128, %rdx
    ja      .Lover_128
    lea     -16(%rdx), %r9              // the offset of the last 16
    xor     %ecx, %ecx
.Lby_16:
    movups  (%rdi, %rcx), %xmm0
    movups  (%rsi, %rcx), %xmm1
    pcmpeqb %xmm1, %xmm0
    pmovmskb %xmm0, %eax
    sub     $0xffff, %eax
    jnz     .Ldiffer
    cmp     %r9, %rcx
    jae     .Lequal
    add     $16, %rcx
    cmp     %r9, %rcx
    cmova   %r9, %rcx                   // the last step overlaps the one before
    jmp     .Lby_16
.Lequal:
    xor     %eax, %eax
    ret
.Ldiffer:                               // equal bytes were ones: the lowest bit that is set now is the first difference
    bsf     %eax, %eax
    add     %rax, %rcx
.Lsubtract:
    movzbl  (%rdi, %rcx), %eax
    movzbl  (%rsi, %rcx), %edx
    sub     %edx, %eax
    ret

.Lunder_16:
    cmp     $8, %edx
    jae     .L8_to_15
    cmp     $4, %edx
    jae     .L4_to_7
    xor     %ecx, %ecx
    test    %edx, %edx
    jz      .Lequal
.Lby_1:
    movzbl  (%rdi, %rcx), %eax
    movzbl  (%rsi, %rcx), %r8d
    sub     %r8d, %eax
    jnz     .Ldone
    inc     %ecx
    cmp     %edx, %ecx
    jb      .Lby_1
.Ldone:
    ret
.L4_to_7:                               // the ends as one 64-bit number each
    mov     (%rdi), %eax
    mov     -4(%rdi, %rdx), %r8d
    shl     $32, %r8
    or      %r8, %rax
    mov     (%rsi), %ecx
    mov     -4(%rsi, %rdx), %r9d
    shl     $32, %r9
    or      %r9, %rcx
    xor     %rcx, %rax
    jz      .Lequal
    bsf     %rax, %rcx
    shr     $3, %ecx                    // 0-3: that byte; 4-7: that byte of the last four
    cmp     $4, %ecx
    jb      .Lsubtract
    lea     -8(%rdx, %rcx), %rcx
    jmp     .Lsubtract
.L8_to_15:
    mov     (%rdi), %rax
    xor     (%rsi), %rax
    jnz     .Ldiffer_in_first_8
    mov     -8(%rdi, %rdx), %rax
    xor     -8(%rsi, %rdx), %rax
    jz      .Lequal
    bsf     %rax, %rcx
    shr     $3, %ecx
    lea     -8(%rdx, %rcx), %rcx
    jmp     .Lsubtract
.Ldiffer_in_first_8:
    bsf     %rax, %rcx
    shr     $3, %ecx
    jmp     .Lsubtract

.Lover_128:
    LOAD_FEATURES(.Lunknown)
    test    $JANUS_CPU_AVX2, %r8d
    jz      .Lby_64_sse
    xor     %ecx, %ecx
    lea     -128(%rdx), %r9
    .p2align 4
.Lby_128:
    vmovdqu (%rdi, %rcx), %ymm0
    vmovdqu 32(%rdi, %rcx), %ymm1
    vmovdqu 64(%rdi, %rcx), %ymm2
    vmovdqu 96(%rdi, %rcx), %ymm3
    vpcmpeqb (%rsi, %rcx), %ymm0, %ymm0
    vpcmpeqb 32(%rsi, %rcx), %ymm1, %ymm1
    vpcmpeqb 64(%rsi, %rcx), %ymm2, %ymm2
    vpcmpeqb 96(%rsi, %rcx), %ymm3, %ymm3
    vpand   %ymm0, %ymm1, %ymm4
    vpand   %ymm2, %ymm3, %ymm5
    vpand   %ymm4, %ymm5, %ymm4
    vpmovmskb %ymm4, %eax
    inc     %eax                        // all equal: 0xffffffff
    jnz     .Lfind_32
    cmp     %r9, %rcx
    jae     .Lall_equal
    sub     $-128, %rcx
    cmp     %r9, %rcx
    cmova   %r9, %rcx
    jmp     .Lby_128
.Lall_equal:
    vzeroupper
    ret                                 // eax is 0
.Lfind_32:                              // which of the four differs first
    vpmovmskb %ymm0, %eax
    xor     $-1, %eax
    jnz     .Lfound_32
    add     $32, %rcx
    vpmovmskb %ymm1, %eax
    xor     $-1, %eax
    jnz     .Lfound_32
    add     $32, %rcx
    vpmovmskb %ymm2, %eax
    xor     $-1, %eax
    jnz     .Lfound_32
    add     $32, %rcx
    vpmovmskb %ymm3, %eax
    xor     $-1, %eax
.Lfound_32:
    vzeroupper
    bsf     %eax, %eax
    add     %rax, %rcx
    jmp     .Lsubtract

.Lby_64_sse:
    xor     %ecx, %ecx
    lea     -64(%rdx), %r9
    .p2align 4
.Lby_64:
    movups  (%rdi, %rcx), %xmm0
    movups  (%rsi, %rcx), %xmm4
    movups  16(%rdi, %rcx), %xmm1
    movups  16(%rsi, %rcx), %xmm5
    movups  32(%rdi, %rcx), %xmm2
    movups  32(%rsi, %rcx), %xmm6
    movups  48(%rdi, %rcx), %xmm3
    movups  48(%rsi, %rcx), %xmm7
    pcmpeqb %xmm4, %xmm0
    pcmpeqb %xmm5, %xmm1
    pcmpeqb %xmm6, %xmm2
    pcmpeqb %xmm7, %xmm3
    pand    %xmm0, %xmm1
    pand    %xmm2, %xmm3
    pand    %xmm1, %xmm3
    pmovmskb %xmm3, %eax
    sub     $0xffff, %eax
    jnz     .Lby_16_within_64
    cmp     %r9, %rcx
    jae     .Lequal
    add     $64, %rcx
    cmp     %r9, %rcx
    cmova   %r9, %rcx
    jmp     .Lby_64
.Lby_16_within_64:                      // the difference is in the 64 bytes from here
    lea     48(%rcx), %r9
    jmp     .Lby_16

.Lunknown:
    FIND_FEATURES(.Lover_128)
END(janus_memcmp)

WEAK_ALIAS(memcmp, janus_memcmp)
WEAK_ALIAS(bcmp, janus_memcmp)          // clang calls it if only equality matters
