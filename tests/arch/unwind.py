#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# unwind.py PROGRAM — makes gdb step through unwind_subject.cpp and asks at every instruction of the project's assembly
# for the callers and the caller's registers. Outside gdb this file starts gdb with itself as the script. Prints TAP.
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "harness"))
from tap import Tap, skip_all, skip_all_without  # noqa: E402

try:
    import gdb
except ImportError:
    gdb = None

FUNCTIONS = ["janus_context_switch_jmp", "janus_context_switch", "janus_fiber_entry", "janus_fiber_cleanup", "janus_task_call",
             "janus_half_call", "janus_task_abandon", "janus_run_on_stack", "janus_jump_back"]
# The callers of a fiber that has not started; its registers have no meaning.
NOT_STARTED = (["janus_fiber_unstarted", "janus_fiber_bottom"], None)
PRESERVED = ["rbx", "rbp", "r12", "r13", "r14", "r15"]


def start_gdb(program):
    skip_all_without("gdb")
    command = ["gdb", "-nx", "-batch", "-iex", "set auto-load off", "-x", os.path.abspath(__file__), program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False)
    if "ptrace" in done.stderr and "ermitted" in done.stderr:
        skip_all("this machine lets nobody trace")
    sys.stdout.write("".join(line + "\n" for line in done.stdout.splitlines()
                             if line.startswith(("ok ", "not ok ", "# ", "1.."))))
    if "1.." not in done.stdout:
        sys.stderr.write(done.stdout + done.stderr)
    return done.returncode


def register(frame, name):
    return int(frame.read_register(name)) & (1 << 64) - 1


def frames(newest):
    found = []
    while newest is not None and len(found) < 20:
        found.append(newest)
        newest = newest.older()
    return found


class Walk:
    """Where the program is, and who must be found above it."""

    def __init__(self):
        self.left = {}  # by Context: its callers and registers when it was left
        self.target = None  # of a switch: the callers and registers of the fiber that it switches to
        self.callers = []  # of the function that is being stepped through, at its entry
        self.registers = {}  # the caller's
        self.entry_sp = 0
        self.entered = ""
        self.contexts = (0, 0)
        self.task_calls = {}  # by frame_sp: the callers of janus_task_call, and the registers
        self.outside = {}  # by rsp: the state when a function of the assembly called one outside it
        self.seen = {name: set() for name in FUNCTIONS}
        self.wrong = []

    def enter(self, name, newest):
        stack = frames(newest)
        leapt = self.callers if name == "janus_context_switch" and self.entered == "janus_context_switch_jmp" else None
        self.entered = name
        self.callers = [frame.name() for frame in stack[1:]]
        if leapt is not None and leapt != self.callers:
            self.wrong.append(f"janus_context_switch_jmp: called by {leapt}, and a push later by {self.callers}")
        self.registers = {reg: register(newest, reg) for reg in PRESERVED}
        self.entry_sp = register(newest, "rsp")
        self.contexts = (register(newest, "rdi"), register(newest, "rsi"))
        if name == "janus_context_switch":
            self.left[self.contexts[0]] = (self.callers, self.registers)
            goes_to = gdb.parse_and_eval(f"**(unsigned long **){self.contexts[1]:#x}")
            fresh = goes_to == gdb.parse_and_eval("(unsigned long)&janus_fiber_entry")
            self.target = NOT_STARTED if fresh else self.left[self.contexts[1]]
        if name in ("janus_task_call", "janus_half_call"):
            self.task_calls[self.entry_sp - 56] = (self.callers, self.registers)

    def call(self, newest):
        """The function that is being stepped through has just called another."""
        known = (self.callers, self.registers, self.entry_sp, self.contexts)
        self.outside[register(newest, "rsp") + 8] = known

    def come_back(self, newest):
        self.callers, self.registers, self.entry_sp, self.contexts = self.outside[register(newest, "rsp")]

    def expected(self, name, sp):
        """The callers that must be found, and what their registers must be (None: nobody's)."""
        if name == "janus_fiber_entry":
            return ["janus_fiber_bottom"], None
        if name == "janus_fiber_cleanup":
            return [], None
        if name == "janus_run_on_stack" and sp != self.entry_sp:
            return [], None
        if name == "janus_context_switch" and abs(sp - self.entry_sp) > 8:
            return self.target
        if name == "janus_task_abandon" and sp != self.entry_sp:
            return self.task_calls[self.contexts[0]]
        return self.callers, self.registers

    def look(self, name, newest):
        pc, sp = newest.pc(), register(newest, "rsp")
        self.seen[name].add(pc)
        callers, registers = self.expected(name, sp)
        stack = frames(newest)
        names = [frame.name() for frame in stack[1:]]
        if names != callers:
            self.wrong.append(f"{name} at {pc:#x}: called by {names}, not by {callers}")
        if registers is None or len(stack) < 2:
            return
        for reg, value in registers.items():
            found = register(stack[1], reg)
            if found != value:
                self.wrong.append(f"{name} at {pc:#x}: the caller's {reg} is {found:#x}, not {value:#x}")


def instructions(name):
    """The addresses of the instructions of `name`, by its size in the symbol table."""
    start = int(gdb.parse_and_eval(f"(unsigned long)&{name}"))
    block = gdb.execute(f"disassemble {name}", to_string=True).splitlines()
    addresses = [int(line.replace("=>", "").split()[0], 16) for line in block if line.strip().startswith(("0x", "=>"))]
    return [address for address in addresses if address >= start]


def walk_through():
    for setting in ("pagination off", "confirm off", "debuginfod enabled off", "disable-randomization on",
                    "backtrace past-main off"):
        gdb.execute("set " + setting, to_string=True)
    gdb.execute("break main", to_string=True)
    gdb.execute("run", to_string=True)
    code = {name: instructions(name) for name in FUNCTIONS}
    where = {address: name for name, addresses in code.items() for address in addresses}
    for name in FUNCTIONS:
        gdb.execute(f"break *{code[name][0]:#x}", to_string=True)

    walk = Walk()
    while True:
        gdb.execute("continue", to_string=True)
        if not gdb.selected_inferior().threads():
            break
        step_through(walk, code, where)
    return walk, code


def step_through(walk, code, where):
    """From where one of our functions begins, or goes on after a call, to where it leaves our assembly."""
    newest = gdb.newest_frame()
    name = where[newest.pc()]
    if newest.pc() != code[name][0]:
        walk.come_back(newest)
    while newest.pc() in where:
        now = where[newest.pc()]
        if newest.pc() == code[now][0]:
            walk.enter(now, newest)
        elif now != name:  # janus_task_abandon ends in janus_task_call and returns to the caller of the latter
            walk.callers, walk.registers = walk.task_calls[walk.contexts[0]]
        name = now
        walk.look(name, newest)
        gdb.execute("stepi", to_string=True)
        newest = gdb.newest_frame()
    caller = newest.older()
    if caller is not None and caller.pc() in where:
        walk.call(newest)
        gdb.execute(f"tbreak *{caller.pc():#x}", to_string=True)


def main():
    walk, code = walk_through()
    visited = {name: len(walk.seen[name]) for name in FUNCTIONS}
    missed = {name: [hex(a) for a in code[name] if a not in walk.seen[name]] for name in FUNCTIONS}
    # A ud2 behind a call that does not return is never executed.
    missed = {name: rest for name, rest in missed.items() if not all(is_trap(a) for a in rest)}
    print(f"# instructions looked at: {visited}")
    tap = Tap()
    tap.none("every instruction was reached", (f"{name}: {rest}" for name, rest in missed.items()))
    tap.none("callers and their registers are found at every instruction", walk.wrong)
    tap.check("the program came to its end", int(gdb.parse_and_eval("$_exitcode")) == 0)
    print(f"1..{tap.count}")
    gdb.execute(f"quit {int(tap.failures != 0)}")


def is_trap(address):
    return "ud2" in gdb.execute(f"x/i {address}", to_string=True)


if gdb is None:
    sys.exit(start_gdb(sys.argv[1]))
try:
    main()
except gdb.error as problem:
    print(f"not ok 1 - gdb: {problem}")
    gdb.execute("quit 1")
