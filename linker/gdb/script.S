// SPDX-License-Identifier: Apache-2.0
// script.S — puts janus.py into the program, where gdb finds it: one entry of the kind "the text of a script in
// Python". It takes no memory when the program runs, and `strip` removes it. janus-cc links this archive member by the
// symbol below.
    .section .rodata.janus_debugger_script, "a", @progbits
    .globl  janus_debugger_script
    .hidden janus_debugger_script
    .type   janus_debugger_script, @object
    .size   janus_debugger_script, 1
janus_debugger_script:
    .byte   0

    .section .debug_gdb_scripts, "", @progbits
    .byte   4
    .ascii  "janus.py\n"
    .incbin "janus.py"
    .byte   0

    .section .note.GNU-stack, "", @progbits
