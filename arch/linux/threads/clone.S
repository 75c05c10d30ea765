// SPDX-License-Identifier: Apache-2.0
// clone.S — starts and ends threads. The child has none of the parent's stack, so both entries are assembly.
//   long janus_clone3(const CloneArgs* args, size_t bytes, ThreadBlock* block)                 rdi, rsi, rdx
//   long janus_clone(uint64_t flags, std::byte* stack_top, ThreadBlock* block)                 rdi, rsi, rdx
// Both give the parent the thread's id or -errno. The child calls janus_thread_main(block) on its 16-aligned stack.
#include <arch/asm.h>

        .hidden janus_thread_main

FUNC(janus_clone3)
        mov     %rdx, %r8               // system calls keep r8
        mov     $435, %eax
        syscall
        test    %rax, %rax
        jz      janus_thread_begin
        ret
END(janus_clone3)

FUNC(janus_clone)
        mov     %rdx, %r8               // the new fs base, too
        xor     %edx, %edx              // stores the id nowhere,
        xor     %r10d, %r10d            // and clears no word at the end
        mov     $56, %eax
        syscall
        test    %rax, %rax
        jz      janus_thread_begin
        ret
END(janus_clone)

FUNC(janus_thread_begin)
        .cfi_undefined %rip             // unwinders stop here
        xor     %ebp, %ebp
        mov     %r8, %rdi
        call    janus_thread_main
        ud2
END(janus_thread_begin)

//   [[noreturn]] void janus_unmap_and_exit(std::byte* mapping, size_t bytes)                   rdi, rsi
// The mapping holds the present stack: between the two calls there is none, so signals must be blocked.
FUNC(janus_unmap_and_exit)
        .cfi_undefined %rip
        mov     $11, %eax               // munmap
        syscall
        xor     %edi, %edi
        mov     $60, %eax               // exit: this thread alone
        syscall
        ud2
END(janus_unmap_and_exit)
