#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tally_test.py TALLY — no failure, crash, hang or silence is ever counted as a pass. Speaks TAP.
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PASS = "TAP version 13\n1..2\n# a.b\nok 1 - a.b\n# a.c\nok 2 - a.c # SKIP no such machine\n"
FAIL = "1..2\nok 1 - a.b\nnot ok 2 - a.c\n"
CRASH = "TAP version 13\n1..3\n# a.b\nok 1 - a.b\n# a.c\n# some value: 7\n"

# claim, tests as (result, output), options, last line, status
CASES = [
    ("passes and skips are added up", [("OK", PASS), ("OK", PASS)], [], "2 passed, 0 failed, 2 skipped", 0),
    ("a failure is counted once", [("FAIL", FAIL)], [], "1 passed, 1 failed", 1),
    ("a crash fails the test that ran and all that did not", [("ERROR", CRASH)], [], "1 passed, 2 failed", 1),
    ("a time-out is a failure", [("TIMEOUT", "")], [], "0 passed, 1 failed", 1),
    ("a plan that was not fulfilled is a failure, even at status 0", [("OK", CRASH)], [], "1 passed, 2 failed", 1),
    ("a bad end after good results is a failure", [("FAIL", PASS)], [], "1 passed, 1 failed, 1 skipped", 1),
    ("a test without TAP counts by its status", [("OK", ""), ("FAIL", "")], [], "1 passed, 1 failed", 1),
    ("a skipped program is one skip", [("OK", ""), ("SKIP", "")], [], "1 passed, 0 failed, 1 skipped", 0),
    ("nothing at all is no success", [], [], "0 passed, 0 failed", 1),
    ("nothing but skips is no success", [("SKIP", "")], [], "0 passed, 0 failed, 1 skipped", 1),
    ("a build that broke is a failure", [("OK", PASS)], ["--failed-build=build-x"], "1 passed, 1 failed, 1 skipped", 1),
]


def tally(program, tests, options):
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "testlog.json")
        log.write_text("".join(json.dumps({"name": "p:s / t", "result": r, "stdout": o}) + "\n" for r, o in tests))
        done = subprocess.run([sys.executable, program, *options, log], capture_output=True, text=True, timeout=30)
    return done.stdout.splitlines()[-1], done.returncode


def main():
    print(f"TAP version 13\n1..{len(CASES)}")
    for index, (claim, tests, options, line, status) in enumerate(CASES, 1):
        seen = tally(sys.argv[1], tests, options)
        if seen != (line, status):
            print(f"# wanted {(line, status)}, seen {seen}")
        print(f"{'ok' if seen == (line, status) else 'not ok'} {index} - tally: {claim}")


main()
