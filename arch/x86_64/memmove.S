// SPDX-License-Identifier: Apache-2.0
// memmove.S — void* janus_memmove(void* to, const void* from, size_t bytes), also memcpy.      rdi, rsi, rdx
// Up to 128 bytes everything is loaded before anything is stored, so overlap does not matter and there is no loop. Longer
// runs go upwards or downwards, whichever reads a byte before overwriting it, in 128-byte steps of aligned stores; the
// unaligned ends are loaded first and stored last. Long runs that do not overlap are left to rep movsb.
#include <arch/mem_asm.h>

// For fewer bytes, starting rep movsb costs more than it saves (Cascade Lake).
#define REP_MIN 4096

FUNC(janus_memmove)
    mov     %rdi, %rax
    cmp     $16, %rdx
    jb      .Lunder_16
    cmp     $32, %rdx
    ja      .Lover_32
    movups  (%rsi), %xmm0
    movups  -16(%rsi, %rdx), %xmm1
    movups  %xmm0, (%rdi)
    movups  %xmm1, -16(%rdi, %rdx)
    ret

.Lunder_16:
    cmp     $8, %edx
    jae     .L8_to_15
    cmp     $4, %edx
    jae     .L4_to_7
    cmp     $1, %edx
    jb      .Lnothing
    movzbl  (%rsi), %ecx
    je      .Lone
    movzwl  -2(%rsi, %rdx), %r8d
    mov     %r8w, -2(%rdi, %rdx)
.Lone:
    mov     %cl, (%rdi)
.Lnothing:
    ret
.L4_to_7:
    mov     (%rsi), %ecx
    mov     -4(%rsi, %rdx), %r8d
    mov     %ecx, (%rdi)
    mov     %r8d, -4(%rdi, %rdx)
    ret
.L8_to_15:
    mov     (%rsi), %rcx
    mov     -8(%rsi, %rdx), %r8
    mov     %rcx, (%rdi)
    mov     %r8, -8(%rdi, %rdx)
    ret

.Lover_32:
    cmp     $64, %rdx
    ja      .Lover_64
    movups  (%rsi), %xmm0
    movups  16(%rsi), %xmm1
    movups  -32(%rsi, %rdx), %xmm2
    movups  -16(%rsi, %rdx), %xmm3
    movups  %xmm0, (%rdi)
    movups  %xmm1, 16(%rdi)
    movups  %xmm2, -32(%rdi, %rdx)
    movups  %xmm3, -16(%rdi, %rdx)
    ret

.Lover_64:
    cmp     $128, %rdx
    ja      .Lover_128
    movups  (%rsi), %xmm0
    movups  16(%rsi), %xmm1
    movups  32(%rsi), %xmm2
    movups  48(%rsi), %xmm3
    movups  -64(%rsi, %rdx), %xmm4
    movups  -48(%rsi, %rdx), %xmm5
    movups  -32(%rsi, %rdx), %xmm6
    movups  -16(%rsi, %rdx), %xmm7
    movups  %xmm0, (%rdi)
    movups  %xmm1, 16(%rdi)
    movups  %xmm2, 32(%rdi)
    movups  %xmm3, 48(%rdi)
    movups  %xmm4, -64(%rdi, %rdx)
    movups  %xmm5, -48(%rdi, %rdx)
    movups  %xmm6, -32(%rdi, %rdx)
    movups  %xmm7, -16(%rdi, %rdx)
    ret

.Lover_128:
    LOAD_FEATURES(.Lunknown)
    mov     %rdi, %rcx
    sub     %rsi, %rcx                  // how far `to` lies above `from`, modulo 2^64
    jz      .Lnothing
    cmp     %rdx, %rcx
    jb      .Ldownwards                 // `to` begins inside `from`
    cmp     $REP_MIN, %rdx
    jae     .Llong
.Lupwards:
    test    $JANUS_CPU_AVX2, %r8d
    jz      .Lupwards_sse
    vmovdqu (%rsi), %ymm8               // the ends, before the loop overwrites them
    vmovdqu -128(%rsi, %rdx), %ymm4
    vmovdqu -96(%rsi, %rdx), %ymm5
    vmovdqu -64(%rsi, %rdx), %ymm6
    vmovdqu -32(%rsi, %rdx), %ymm7
    lea     -128(%rdi, %rdx), %r9       // where the last step is stored
    lea     32(%rdi), %r10
    and     $-32, %r10                  // the first aligned place
    mov     %r10, %rsi
    sub     %rcx, %rsi                  // its source
    cmp     %r9, %r10
    jae     .Lup_ends                   // at most 160 bytes: the ends cover them
    .p2align 4
.Lup:
    vmovdqu (%rsi), %ymm0
    vmovdqu 32(%rsi), %ymm1
    vmovdqu 64(%rsi), %ymm2
    vmovdqu 96(%rsi), %ymm3
    vmovdqa %ymm0, (%r10)
    vmovdqa %ymm1, 32(%r10)
    vmovdqa %ymm2, 64(%r10)
    vmovdqa %ymm3, 96(%r10)
    sub     $-128, %rsi
    sub     $-128, %r10
    cmp     %r9, %r10
    jb      .Lup
.Lup_ends:
    vmovdqu %ymm4, (%r9)
    vmovdqu %ymm5, 32(%r9)
    vmovdqu %ymm6, 64(%r9)
    vmovdqu %ymm7, 96(%r9)
    vmovdqu %ymm8, (%rdi)
    vzeroupper
    ret

.Llong:
    mov     %rsi, %r9
    sub     %rdi, %r9
    cmp     %rdx, %r9
    jb      .Lupwards                   // `from` begins inside `to`: rep movsb would go byte by byte
    test    $JANUS_CPU_ERMS, %r8d
    jz      .Lupwards
    movups  (%rsi), %xmm0               // rep movsb is faster to an aligned place
    movups  16(%rsi), %xmm1
    movups  32(%rsi), %xmm2
    movups  48(%rsi), %xmm3
    lea     64(%rdi), %r10
    and     $-64, %r10
    mov     %r10, %r9
    sub     %rdi, %r9                   // 1 to 64 bytes are already in registers
    add     %r9, %rsi
    mov     %rdx, %rcx
    sub     %r9, %rcx
    mov     %r10, %rdi
    rep movsb
    movups  %xmm0, (%rax)
    movups  %xmm1, 16(%rax)
    movups  %xmm2, 32(%rax)
    movups  %xmm3, 48(%rax)
    ret

.Ldownwards:
    test    $JANUS_CPU_AVX2, %r8d
    jz      .Ldownwards_sse
    vmovdqu -32(%rsi, %rdx), %ymm8
    vmovdqu (%rsi), %ymm4
    vmovdqu 32(%rsi), %ymm5
    vmovdqu 64(%rsi), %ymm6
    vmovdqu 96(%rsi), %ymm7
    lea     -32(%rdi, %rdx), %r9        // where the end is stored
    lea     128(%rdi), %r11             // the loop runs while r10 is above this
    lea     -1(%rdi, %rdx), %r10
    and     $-32, %r10                  // the last aligned place
    mov     %r10, %rsi
    sub     %rcx, %rsi
    cmp     %r11, %r10
    jbe     .Ldown_ends
    .p2align 4
.Ldown:
    vmovdqu -32(%rsi), %ymm0
    vmovdqu -64(%rsi), %ymm1
    vmovdqu -96(%rsi), %ymm2
    vmovdqu -128(%rsi), %ymm3
    vmovdqa %ymm0, -32(%r10)
    vmovdqa %ymm1, -64(%r10)
    vmovdqa %ymm2, -96(%r10)
    vmovdqa %ymm3, -128(%r10)
    add     $-128, %rsi
    add     $-128, %r10
    cmp     %r11, %r10
    ja      .Ldown
.Ldown_ends:
    vmovdqu %ymm4, (%rdi)
    vmovdqu %ymm5, 32(%rdi)
    vmovdqu %ymm6, 64(%rdi)
    vmovdqu %ymm7, 96(%rdi)
    vmovdqu %ymm8, (%r9)
    vzeroupper
    ret

// The same with the registers that every x86-64 has: 64-byte steps.
.Lupwards_sse:
    movups  (%rsi), %xmm8
    movups  -64(%rsi, %rdx), %xmm4
    movups  -48(%rsi, %rdx), %xmm5
    movups  -32(%rsi, %rdx), %xmm6
    movups  -16(%rsi, %rdx), %xmm7
    lea     -64(%rdi, %rdx), %r9
    lea     16(%rdi), %r10
    and     $-16, %r10
    mov     %r10, %rsi
    sub     %rcx, %rsi
    .p2align 4
.Lup_sse:
    movups  (%rsi), %xmm0
    movups  16(%rsi), %xmm1
    movups  32(%rsi), %xmm2
    movups  48(%rsi), %xmm3
    movaps  %xmm0, (%r10)
    movaps  %xmm1, 16(%r10)
    movaps  %xmm2, 32(%r10)
    movaps  %xmm3, 48(%r10)
    add     $64, %rsi
    add     $64, %r10
    cmp     %r9, %r10
    jb      .Lup_sse
    movups  %xmm4, (%r9)
    movups  %xmm5, 16(%r9)
    movups  %xmm6, 32(%r9)
    movups  %xmm7, 48(%r9)
    movups  %xmm8, (%rdi)
    ret

.Ldownwards_sse:
    movups  -16(%rsi, %rdx), %xmm8
    movups  (%rsi), %xmm4
    movups  16(%rsi), %xmm5
    movups  32(%rsi), %xmm6
    movups  48(%rsi), %xmm7
    lea     -16(%rdi, %rdx), %r9
    lea     64(%rdi), %r11
    lea     -1(%rdi, %rdx), %r10
    and     $-16, %r10
    mov     %r10, %rsi
    sub     %rcx, %rsi
    .p2align 4
.Ldown_sse:
    movups  -16(%rsi), %xmm0
    movups  -32(%rsi), %xmm1
    movups  -48(%rsi), %xmm2
    movups  -64(%rsi), %xmm3
    movaps  %xmm0, -16(%r10)
    movaps  %xmm1, -32(%r10)
    movaps  %xmm2, -48(%r10)
    movaps  %xmm3, -64(%r10)
    sub     $64, %rsi
    sub     $64, %r10
    cmp     %r11, %r10
    ja      .Ldown_sse
    movups  %xmm4, (%rdi)
    movups  %xmm5, 16(%rdi)
    movups  %xmm6, 32(%rdi)
    movups  %xmm7, 48(%rdi)
    movups  %xmm8, (%r9)
    ret

.Lunknown:
    FIND_FEATURES(.Lover_128)
END(janus_memmove)

    .globl  janus_memcpy
    .hidden janus_memcpy
    .type   janus_memcpy, @function
    .set    janus_memcpy, janus_memmove
WEAK_ALIAS(memcpy, janus_memmove)
WEAK_ALIAS(memmove, janus_memmove)
