// SPDX-License-Identifier: Apache-2.0
// signal_return.S — where a signal handler returns to. The kernel has put its SignalFrame at rsp, and rt_sigreturn takes it
// from there. Debuggers know a signal frame by these very two instructions, so nothing may come between or before them:
// the byte ahead is a nop, because unwinders look up the address before the one they return to.
#include <arch/asm.h>

        .section .text.janus_signal_return, "ax", @progbits
        nop
        .globl  janus_signal_return
        .hidden janus_signal_return
        .type   janus_signal_return, @function
janus_signal_return:
        mov     $15, %rax               // rt_sigreturn
        syscall
        .size   janus_signal_return, . - janus_signal_return
