// SPDX-License-Identifier: Apache-2.0
// memset.S — void* janus_memset(void* to, int byte, size_t bytes)      rdi, esi, rdx
// Short runs are covered by stores that overlap in the middle; longer ones by aligned steps, and long ones by rep stosb.
#include <arch/mem_asm.h>

// For fewer bytes, starting rep stosb costs more than it saves (Cascade Lake).
#define REP_MIN 2048

FUNC(janus_memset)
    mov     %rdi, %rax
    movzbl  %sil, %ecx
    mov     $0x0101010101010101, %r9
    imul    %r9, %rcx                   // the byte, eight times
    cmp     $16, %rdx
    jb      .Lunder_16
    movq    %rcx, %xmm0
    punpcklqdq %xmm0, %xmm0
    cmp     $64, %rdx
    ja      .Lover_64
    cmp     $32, %rdx
    ja      .Lover_32
    movups  %xmm0, (%rdi)
    movups  %xmm0, -16(%rdi, %rdx)
    ret
.Lover_32:
    movups  %xmm0, (%rdi)
    movups  %xmm0, 16(%rdi)
    movups  %xmm0, -32(%rdi, %rdx)
    movups  %xmm0, -16(%rdi, %rdx)
    ret

.Lunder_16:
    cmp     $8, %edx
    jae     .L8_to_15
    cmp     $4, %edx
    jae     .L4_to_7
    cmp     $1, %edx
    jb      .Lnothing
    mov     %cl, (%rdi)
    je      .Lnothing
    mov     %cx, -2(%rdi, %rdx)
.Lnothing:
    ret
.L4_to_7:
    mov     %ecx, (%rdi)
    mov     %ecx, -4(%rdi, %rdx)
    ret
.L8_to_15:
    mov     %rcx, (%rdi)
    mov     %rcx, -8(%rdi, %rdx)
    ret

.Lover_64:
    cmp     $128, %rdx
    ja      .Lover_128
    movups  %xmm0, (%rdi)
    movups  %xmm0, 16(%rdi)
    movups  %xmm0, 32(%rdi)
    movups  %xmm0, 48(%rdi)
    movups  %xmm0, -64(%rdi, %rdx)
    movups  %xmm0, -48(%rdi, %rdx)
    movups  %xmm0, -32(%rdi, %rdx)
    movups  %xmm0, -16(%rdi, %rdx)
    ret

.Lover_128:
    LOAD_FEATURES(.Lunknown)
    movups  %xmm0, (%rdi)               // the head, up to the first aligned place
    movups  %xmm0, 16(%rdi)
    movups  %xmm0, 32(%rdi)
    movups  %xmm0, 48(%rdi)
    lea     (%rdi, %rdx), %r9           // the end
    lea     64(%rdi), %r10
    and     $-64, %r10
    cmp     $REP_MIN, %rdx
    jb      .Lsteps
    test    $JANUS_CPU_ERMS, %r8d
    jnz     .Lrep
.Lsteps:
    test    $JANUS_CPU_AVX2, %r8d
    jz      .Lsteps_sse
    vpbroadcastq %xmm0, %ymm0
    lea     -128(%r9), %r11
    cmp     %r11, %r10
    ja      .Lavx_tail
    .p2align 4
.Lavx:
    vmovdqa %ymm0, (%r10)
    vmovdqa %ymm0, 32(%r10)
    vmovdqa %ymm0, 64(%r10)
    vmovdqa %ymm0, 96(%r10)
    sub     $-128, %r10
    cmp     %r11, %r10
    jbe     .Lavx
.Lavx_tail:                             // fewer than 128 are left
    vmovdqu %ymm0, -128(%r9)
    vmovdqu %ymm0, -96(%r9)
    vmovdqu %ymm0, -64(%r9)
    vmovdqu %ymm0, -32(%r9)
    vzeroupper
    ret

.Lsteps_sse:
    lea     -64(%r9), %r11
    .p2align 4
.Lsse:
    movaps  %xmm0, (%r10)
    movaps  %xmm0, 16(%r10)
    movaps  %xmm0, 32(%r10)
    movaps  %xmm0, 48(%r10)
    add     $64, %r10
    cmp     %r11, %r10
    jbe     .Lsse
    movups  %xmm0, -64(%r9)
    movups  %xmm0, -48(%r9)
    movups  %xmm0, -32(%r9)
    movups  %xmm0, -16(%r9)
    ret

.Lrep:
    mov     %rax, %r11
    mov     %ecx, %eax
    mov     %r9, %rcx
    sub     %r10, %rcx
    mov     %r10, %rdi
    rep stosb
    mov     %r11, %rax
    ret

.Lunknown:
    FIND_FEATURES(janus_memset)
END(janus_memset)

WEAK_ALIAS(memset, janus_memset)
