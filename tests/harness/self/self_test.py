#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# self_test.py SAMPLE... — runs each build of sample.cpp and compares its output with the expected one. Prints TAP.
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap  # noqa: E402

EXPECTED = """\
TAP version 13
1..6
# sample.passes
ok 1 - sample.passes
# sample.fails_and_goes_on
# FILE: does not hold: 1 + 1 == 3
# FILE: does not hold: -5 == 5u; left -5, right 5
# FILE: does not hold: 2u < 2; left 2, right 2
# FILE: does not hold: "this" is the text "that"; left this, right that
not ok 2 - sample.fails_and_goes_on
# sample.leaves_at_a_requirement
# FILE: does not hold: false
not ok 3 - sample.leaves_at_a_requirement
# sample.skips
ok 4 - sample.skips # SKIP no such machine
# sample.fails_before_it_skips
# FILE: does not hold: false
not ok 5 - sample.fails_before_it_skips
# sample.sees_its_environment
# HARNESS_NUMBER: 42
ok 6 - sample.sees_its_environment
"""


def run(sample, *arguments):
    done = subprocess.run([sample, *arguments], capture_output=True, text=True, timeout=30,
                          env={"HARNESS_NUMBER": "42"})
    return done.returncode, done.stdout


def without_places(output):
    lines = []
    for line in output.splitlines(keepends=True):
        place, found, rest = line.partition(": does not hold")
        lines.append("# FILE" + found + rest if found else line)
    return "".join(lines)


def claims(sample):
    status, output = run(sample, "sample")
    yield "every line is as meant", without_places(output) == EXPECTED, output
    yield "a failure is status 1", status == 1, status
    status, output = run(sample, "sample.passes", "sample.skips")
    yield "names select by any part", status == 0 and output.count("\nok ") == 2, output
    status, output = run(sample, "no_such_test")
    yield "selecting nothing is no success", status == 2 and "Bail out!" in output, output
    status, output = run(sample, "--list")
    yield "--list names all and runs none", status == 0 and len(output.split()) == 8, output
    status, output = run(sample, "crash")
    yield "a crash leaves the plan unfulfilled", status != 0 and "1..2" in output and "ok" not in output, output


def main():
    tap = Tap()
    for sample in sys.argv[1:]:
        for claim, held, seen in claims(sample):
            tap.check(f"{os.path.basename(sample)}: {claim}", held, seen)
    tap.end()


main()
