#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# instructions_test.py BUILD — the hot paths take exactly as many instructions as instructions.json has. Skipped with
# another compiler than the one named there, where tracing is not allowed, and on CPUs without FSGSBASE.
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "programs"))
sys.path.insert(0, str(HERE))
from installed import Tap, install, work_directory  # noqa: E402
import instructions  # noqa: E402


def reason_to_skip(kept):
    if kept["compiler"] != instructions.compiler():
        return f"counted with {kept['compiler']}, this is {instructions.compiler()}"
    if " fsgsbase " not in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        return "a CPU without FSGSBASE takes other paths"
    return None


def check_differences(tap):
    """The comparison itself: which differences it reports, and how."""
    was = {operation: {"instructions": 40.0, "locked": 1.0} for operation in instructions.OPERATIONS}
    tap.check("nothing is said of what has not changed", not list(instructions.differences(was, was)))
    now = was | {"yield": {"instructions": 44.0, "locked": 1.0}, "pop": {"instructions": 40.0, "locked": 0.0}}
    said = list(instructions.differences(was, now))
    tap.check("an operation that takes more says how many more, one that locks less says so",
              said == ["yield: instructions 40.0 -> 44.0 (+4.0, +10.0 %), 1.0 locked as before",
                       "pop: 40.0 instructions as before, locked 1.0 -> 0.0 (-1.0, -100.0 %)"], repr(said))


def check_stepper(tap, work):
    """The counter itself, on a program with a known number of instructions."""
    source, program = work / "known.S", work / "known"
    source.write_text(".globl _start\n_start: int3\n nop\n lock incl (%rsp)\n xchg %rax, (%rsp)\n xchg %rax, %rbx\n"
                      " mfence\n lock orq $0, -64(%rsp)\n int3\n hlt\n")
    subprocess.run(["gcc", "-nostdlib", "-static", source, "-o", program], check=True, timeout=60)
    done = subprocess.run([work / "stepper", program], capture_output=True, text=True, timeout=30)
    tap.check("the stepper counts six instructions, four of them locked", done.stdout == "6 4\n", done.stdout + done.stderr)


def check_depths(tap, work):
    """An operation of the deque takes the same number of instructions with any number of entries."""
    for operation, locked in (("push", 0), ("pop", 0), ("steal", 1)):
        shallow, deep = (instructions.count_operation(work / "stepper", work / "count", operation, times) for times in (256, 8000))
        tap.check(f"the deque's {operation} takes as much with 8000 entries as with 256, {locked} locked",
                  abs(deep["instructions"] - shallow["instructions"]) < 0.2 and round(deep["locked"], 2) == locked, f"{shallow} {deep}")


def main():
    tap, work, kept = Tap(), work_directory(), instructions.read_kept()
    check_differences(tap)
    why = reason_to_skip(kept)
    try:
        if why is None:
            counted = instructions.count_all(install(pathlib.Path(sys.argv[1]), work), work)
            check_stepper(tap, work)
            check_depths(tap, work)
            for line in table_of(kept, counted):
                tap.check(*line)
    except instructions.CannotCount as cannot:
        why = str(cannot)
    if why:
        tap.skip("the hot paths", why)
    tap.end()


def table_of(kept, counted):
    changed = {line.partition(":")[0]: line for line in instructions.differences(kept["operations"], counted)}
    for operation, found in counted.items():
        claim = f"{operation}: {found['instructions']:.1f} instructions, {found['locked']:.1f} locked"
        why = f"{changed.get(operation)}\nif that is as it should be: {instructions.UPDATE}"
        yield claim, operation not in changed, why


main()
