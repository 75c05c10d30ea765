#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# assert_test.py {on|off} PROGRAM ... — runs each build of assert_sample.cpp, in which assertions are on or off. Checks
# what a failed assertion prints, how the process ends, and that an assertion that is off leaves no code. TAP.
import os
import pathlib
import re
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "harness"))
from tap import Tap  # noqa: E402

HERE = "tests/base/assert_sample.cpp"


def run(program, test):
    done = subprocess.run([program, f"claims.{test}"], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


def line_of(text):
    with open(os.path.join(os.path.dirname(__file__), "assert_sample.cpp"), encoding="utf-8") as source:
        return next(number for number, line in enumerate(source, 1) if text in line)


def code_of(program, function):
    """The instructions of a function, without their addresses."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", program],
                             capture_output=True, text=True, check=True).stdout
    return re.findall(r"^\s+[0-9a-f]+:\s+(\S.*?)\s*$", listing, re.MULTILINE)


def dies_with(program, test, claim):
    where = f"({HERE}:{line_of(f'({claim});')})"
    status, said = run(program, test)
    wanted = f"janus: assertion failed: {claim} {where}\n"
    # Sanitizers print more text when a program aborts.
    return status == -signal.SIGABRT and said.startswith(wanted), (status, said, wanted)


def claims(mode, program):
    status, said = run(program, "that_hold_cost_nothing_else")
    yield "claims that hold say nothing", status == 0 and said == "", (status, said)
    yield "a check that fails says where, and aborts", *dies_with(program, "checked", 'answer(false) && "a, b"')
    status, said = run(program, "too_long")
    line = said.splitlines()[0] if said else ""
    cut = len(line) < 512 and line.startswith("janus: assertion failed: answer(false) && \"0123456789") and line.endswith(")")
    yield "a long claim keeps its place and its line", status == -signal.SIGABRT and cut, (status, said)
    for test in ("locks_in_order", "locks_of_a_stranger"):
        status, said = run(program, test)
        yield f"{test}: says nothing", status == 0 and said == "", (status, said)
    for test in ("locks_out_of_order", "two_locks_of_one_rank", "a_lock_that_another_was_tried_beside"):
        status, said = run(program, test)
        wanted = (-signal.SIGABRT, "janus: assertion failed: locks_are_taken_by_rank") if mode == "on" else (0, "")
        yield f"{test}: {'aborts' if mode == 'on' else 'is not watched'}", status == wanted[0] and (
            said.startswith(wanted[1]) if wanted[1] else said == ""), (status, said)
    if mode == "on":
        yield "an assertion that fails says where, and aborts", *dies_with(program, "asserted", "answer(false)")
        return
    status, said = run(program, "asserted")
    yield "an assertion that is off is not looked at", status == 0 and said == "", (status, said)
    with_it, without = (code_of(program, f"janus_test_{name}") for name in ("asserted", "unasserted"))
    yield "nor is it one instruction", bool(without) and with_it == without, (with_it, without)


def main():
    tap = Tap()
    for mode, program in zip(sys.argv[1::2], sys.argv[2::2]):
        for claim, held, seen in claims(mode, program):
            tap.check(f"{os.path.basename(program)}: {claim}", held, seen)
    tap.end()


main()
