#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# variants.py WITNESS SOURCE_ROOT BUILD_ROOT -- C-COMPILER... -- C++-COMPILER... — tests the check itself: builds its
# subject unchanged, which it must accept, and with one error at a time, each of which it must refuse for the right
# reason. Prints TAP.
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "harness"))
from tap import Tap  # noqa: E402

SWITCH = "arch/x86_64/context_switch.S"
TASK_CALL = "arch/x86_64/task_call.S"
OFFSETS = "arch/x86_64/context_offsets.h"
SLOT = "arch/x86_64/include/arch/worker_slot.h"
PUBLIC = "rt/include/janus/rt/yield.h"
SUBJECT = "tests/offsets/subject.cpp"
SUBJECT_C = "tests/offsets/subject_c.c"
SOURCES = [SWITCH, TASK_CALL, "arch/x86_64/context.cpp", SUBJECT, SUBJECT_C]
FLAGS = ["-O1", "-ffreestanding", "-fno-stack-protector", "-fcf-protection=none", "-fno-pie"]
LINK_FLAGS = ["-nostdlib", "-static", "-Wl,-e,subject_self", "-Wl,--unresolved-symbols=ignore-all"]
CXX_FLAGS = ["-std=c++20", "-fno-exceptions", "-fno-rtti"]

# The error; the claim that must fail; the file; the text in it; the text that replaces it.
VARIANTS = [
    ("a wrong displacement in a save", "switch: saves all of Context", SWITCH,
     "mov     %r12, JANUS_CONTEXT_R12(%rdi)", "mov %r12, JANUS_CONTEXT_R12+8(%rdi)"),
    ("a wrong displacement in a restore", "switch: restores every", SWITCH,
     "mov     JANUS_CONTEXT_R13(%rsi), %r13", "mov JANUS_CONTEXT_R12(%rsi), %r13"),
    ("a wrong displacement of the stack pointer", "switch: pops one word", SWITCH,
     "mov     JANUS_CONTEXT_SP(%rsi), %rsp", "mov JANUS_CONTEXT_RBX(%rsi), %rsp"),
    ("a save left out", "switch: saves all of Context", SWITCH, "    mov     %r15, JANUS_CONTEXT_R15(%rdi)\n", ""),
    ("a restore left out", "switch: restores every", SWITCH, "    mov     JANUS_CONTEXT_RBP(%rsi), %rbp\n", ""),
    ("a pair swapped in the saves", "switch: saves all of Context", SWITCH,
     "mov     %r13, JANUS_CONTEXT_R13(%rdi)\n    mov     %r14, JANUS_CONTEXT_R14(%rdi)",
     "mov     %r14, JANUS_CONTEXT_R13(%rdi)\n    mov     %r13, JANUS_CONTEXT_R14(%rdi)"),
    ("a pair swapped in the restores", "switch: restores every", SWITCH,
     "mov     JANUS_CONTEXT_R14(%rsi), %r14\n    mov     JANUS_CONTEXT_R15(%rsi), %r15",
     "mov     JANUS_CONTEXT_R15(%rsi), %r14\n    mov     JANUS_CONTEXT_R14(%rsi), %r15"),
    ("a pair swapped in saves and restores alike", "switch: saves all of Context", OFFSETS,
     "#define JANUS_CONTEXT_R14 40\n#define JANUS_CONTEXT_R15 48", "#define JANUS_CONTEXT_R14 48\n#define JANUS_CONTEXT_R15 40"),
    ("an offset that the struct has no longer", "switch: saves all of Context", OFFSETS,
     "#define JANUS_CONTEXT_FCW 60", "#define JANUS_CONTEXT_FCW 62"),
    ("a restore from the wrong side", "switch: restores every", SWITCH,
     "mov     JANUS_CONTEXT_RBX(%rsi), %rbx", "mov JANUS_CONTEXT_RBX(%rdi), %rbx"),
    ("a write to the target", "switch: saves all of Context", SWITCH,
     "    fnstcw  JANUS_CONTEXT_FCW(%rdi)\n", "    fnstcw  JANUS_CONTEXT_FCW(%rdi)\n    fnstcw  JANUS_CONTEXT_FCW(%rsi)\n"),
    ("a ret at the end of the switch", "switch: leaves by a jump", SWITCH,
     "jmp     *%rcx                               //", "push %rcx; ret //"),
    ("one word too many popped", "switch: pops one word", SWITCH,
     "    pop     %rcx                                //", "    pop %rcx; pop %rcx //"),
    ("mxcsr not saved", "switch: saves all of Context", SWITCH, "    stmxcsr JANUS_CONTEXT_MXCSR(%rdi)\n", ""),
    ("the x87 word not compared", "switch: loads the control words that differ", SWITCH,
     "    cmp     JANUS_CONTEXT_FCW(%rsi), %cx\n", ""),
    ("mxcsr not compared where loading it is slow", "switch: loads the control words that differ", SWITCH,
     "    xor     JANUS_CONTEXT_MXCSR(%rsi), %eax\n", ""),
    ("mxcsr loaded from the wrong side", "switch: loads the control words that differ", SWITCH,
     "ldmxcsr JANUS_CONTEXT_MXCSR(%rsi)", "ldmxcsr JANUS_CONTEXT_MXCSR(%rdi)"),
    ("the choice turned round", "switch: loads the control words that differ", SWITCH,
     "quickly(%rip)\n    jnz     .Lload_mxcsr", "quickly(%rip)\n    jz      .Lload_mxcsr"),
    ("a pending x87 exception not cleared", "switch: loads the control words that differ", SWITCH, "    fnclex ", "    nop "),
    ("another register for the argument of a fiber", "entry: its argument is r13", SWITCH,
     "mov     %r13, %rdi", "mov %r14, %rdi"),
    ("an entry function called off alignment", "entry: it is called on a multiple of 16", SWITCH,
     "    call    *%r12\n", "    push %rax\n    call    *%r12\n    pop %rcx\n"),
    ("a clean-up that calls off alignment", "cleanup: it is called on a multiple of 16", SWITCH,
     "    sub     $8, %rsp ", "    sub $16, %rsp "),
    ("a clean-up that comes back", "cleanup: does not come back", SWITCH,
     "    call    *%r14\n    ud2\n", "    call    *%r14\n    add $8, %rsp\n    ret\n"),
    ("a register left out of the task's frame", "task call: writes its frame", TASK_CALL,
     "    mov     %r15, JANUS_TASK_FRAME_R15(%rsp)\n    mov     %rsp, (%rdx)\n    // All", "    mov     %rsp, (%rdx)\n    // All"),
    ("a stack that a task call does not balance", "task call: balances the stack", TASK_CALL,
     "    .cfi_remember_state\n    .cfi_restore DWARF_RBP\n    add     $FRAME_BYTES, %rsp\n",
     "    .cfi_remember_state\n    .cfi_restore DWARF_RBP\n    add $FRAME_BYTES-8, %rsp\n"),
    ("a default control word not loaded", "task call: also goes", TASK_CALL, "    jne     .Lload_default_fcw\n", ""),
    ("a pair swapped on the way out of a task", "abandon: takes back", TASK_CALL,
     "mov     JANUS_TASK_FRAME_R12(%rsp), %r12\n    mov     JANUS_TASK_FRAME_R13(%rsp), %r13",
     "mov     JANUS_TASK_FRAME_R13(%rsp), %r12\n    mov     JANUS_TASK_FRAME_R12(%rsp), %r13"),
    ("a register left out of a half's frame", "half call: writes its frame", TASK_CALL,
     "    mov     %r15, JANUS_TASK_FRAME_R15(%rsp)\n    mov     %rsp, (%rdx)\n.Lcall_half:",
     "    mov     %rsp, (%rdx)\n.Lcall_half:"),
    ("a stack that a half call does not balance", "half call: balances the stack", TASK_CALL,
     "    .cfi_restore DWARF_RBP\n    add     $FRAME_BYTES, %rsp\n    .cfi_adjust_cfa_offset -FRAME_BYTES\n    ret\n    .cfi_endproc\n    .size   janus_half",
     "    .cfi_restore DWARF_RBP\n    add $FRAME_BYTES-8, %rsp\n    .cfi_adjust_cfa_offset -FRAME_BYTES\n    ret\n    .cfi_endproc\n    .size   janus_half"),
    ("a direction flag that stays", "abandon: clears the direction flag", TASK_CALL, "    cld\n", ""),
    ("a changed slot offset", "slot: subject_self reaches its field", SLOT, '"movq %%gs:0, %0"', '"movq %%gs:8, %0"'),
    ("slot offsets that are all shifted", "slot: subject_fuel reaches its field", SLOT,
     '"movq %%gs:%c1, %0"', '"movq %%gs:%c1+8, %0"'),
    ("an offset where the slot has no field", "segments: that offset is a field", SLOT,
     '"movq %0, %%gs:%c1"', '"movq %0, %%gs:%c1+4"'),
    ("another segment", "segments: %fs is the machine layer's: subject_set_fuel", SLOT, '"movq %0, %%gs:%c1"', '"movq %0, %%fs:%c1"'),
    ("a variable for each thread", "segments: the program has no thread-local storage", SUBJECT,
     "using janus::WorkerSlot;", "using janus::WorkerSlot; [[gnu::used]] thread_local int forbidden = 1;"),
    ("a slot word read by halves", "slot: subject_fuel is 64 bits wide", SLOT, '"movq %%gs:%c1, %0"', '"movl %%gs:%c1, %k0"'),
    ("a slot reached through a register", "segments: %gs is used with a plain offset", SLOT,
     '"movq %%gs:%c1, %0"', '"xorl %k0, %k0; movq %%gs:%c1(%0), %0"'),
    ("a yield check on another word", "slot: subject_yield_check reaches its field", PUBLIC,
     "%%gs:%c[fuel]|", "%%gs:%c[fuel]+8|"),
]
# The sources to compile again when a header changes.
USERS = {OFFSETS: [SWITCH, TASK_CALL], SLOT: [SUBJECT], PUBLIC: [SUBJECT, SUBJECT_C]}


class Build:
    def __init__(self, source_root, build_root, cc, cxx, directory):
        self.source_root, self.build_root, self.cc, self.cxx, self.directory = source_root, build_root, cc, cxx, directory
        self.objects = {source: self.compile(source, "as-it-is", []) for source in SOURCES}

    def compile(self, source, name, overlays):
        """The object of `source`. Files in `overlays` are preferred to those of the tree."""
        candidates = [os.path.join(root, source) for root in overlays + [self.source_root]]
        path = next(p for p in candidates if os.path.exists(p))
        out = os.path.join(self.directory, f"{name}-{os.path.basename(source)}.o")
        roots = overlays + [self.source_root, self.build_root]
        folders = ("", "rt/include", "arch/x86_64/include")
        includes = [f"-I{os.path.join(root, folder)}" for folder in folders for root in roots]
        compiler = self.cxx + CXX_FLAGS if source.endswith(".cpp") else self.cc
        subprocess.run(compiler + FLAGS + includes + ["-c", path, "-o", out], check=True)
        return out

    def link(self, name, changed):
        program = os.path.join(self.directory, name)
        objects = list({**self.objects, **changed}.values())
        subprocess.run(self.cc + LINK_FLAGS + ["-o", program] + objects, check=True)
        return program

    def variant(self, number, file, old, new):
        """The subject with `new` in place of `old`, which must occur in `file` exactly once."""
        root = self.build_root if file == OFFSETS else self.source_root
        with open(os.path.join(root, file), encoding="utf-8") as original:
            text = original.read()
        if text.count(old) != 1:
            raise ValueError(f"{file} does not contain this once: {old!r}")
        overlay = os.path.join(self.directory, f"overlay-{number}")
        os.makedirs(os.path.join(overlay, os.path.dirname(file)))
        with open(os.path.join(overlay, file), "w", encoding="utf-8") as changed:
            changed.write(text.replace(old, new))
        name = f"variant-{number}"
        return self.link(name, {source: self.compile(source, name, [overlay]) for source in USERS.get(file, [file])})


def refused_claims(witness, program):
    done = subprocess.run([witness, program], capture_output=True, text=True, check=False)
    return done.returncode, [line for line in done.stdout.splitlines() if line.startswith("not ok")], done.stdout


def main():
    witness, source_root, build_root = sys.argv[1:4]
    compilers = sys.argv[5:]
    cc, cxx = compilers[:compilers.index("--")], compilers[compilers.index("--") + 1:]
    tap = Tap()
    with tempfile.TemporaryDirectory() as directory:
        build = Build(source_root, build_root, cc, cxx, directory)
        status, refused, output = refused_claims(witness, build.link("as-it-is", {}))
        tap.check("accepted: as it is", status == 0 and not refused, output)
        for number, (what, claim, file, old, new) in enumerate(VARIANTS, 2):
            status, refused, output = refused_claims(witness, build.variant(number, file, old, new))
            right = status == 1 and any(claim in line for line in refused)
            tap.check(f"refused: {what}", right, f"status {status}, wanted a refusal of: {claim}\n{output}")
    tap.end()


main()
