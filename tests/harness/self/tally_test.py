#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tally_test.py TALLY — no failure, crash, hang or silence is ever counted as a pass. Prints TAP.
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tap import Tap  # noqa: E402

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
    ("a floor that is reached", [("OK", PASS)], ["--floor=^t$:1"], "1 passed, 0 failed, 1 skipped", 0),
    ("fewer than the floor are a failure, and what was skipped did not run", [("OK", PASS)], ["--floor=^t$:2"], "1 passed, 1 failed, 1 skipped", 1),
    ("what another name has does not count", [("OK", PASS)], ["--floor=-bare-1$:1"], "1 passed, 1 failed, 1 skipped", 1),
    ("a build that broke is a failure", [("OK", PASS)], ["--failed-build=build-x"], "1 passed, 1 failed, 1 skipped", 1),
]

PAGE = "| R001 | it holds | met | {} |\n"
NAMES = "`a.b`, `t: a.b`, `t`"
# claim, tests, tests that the page names, tests that the FAILED line names
NAMED = [
    ("what the requirements name has run", [("OK", PASS)], NAMES, None),
    ("what failed has run, too", [("FAIL", FAIL)], "`a.c`", None),
    ("a test without TAP has run", [("OK", "")], "`t`", None),
    ("what was only skipped has not run", [("OK", PASS)], NAMES + ", `a.c`", "a.c"),
    ("what was skipped here and ran there has run", [("OK", PASS), ("FAIL", FAIL)], "`a.c`", None),
    ("a program that was skipped has not run", [("SKIP", "")], "`t`", "t"),
    ("what may be skipped may be skipped", [("OK", PASS)], "`a.b`, (`a.c`), (`t: a.c`)", None),
    ("but not missing", [("OK", PASS)], "`a.b`, (`a.d`)", "a.d"),
    ("what was renamed has not run", [("OK", PASS)], "`a.b`, `a.d`, `t: another`", "a.d, t: another"),
    ("what died before its turn has not run", [("ERROR", CRASH)], "`a.b`, `a.d`", "a.d"),
]

REASON = "1..3\n# x: old\nok 1 - a.a\n# a.b\n# f.cpp:7: does not hold: b\nnot ok 2 - a.b\n# seen: 9\n# a.c\nok 3 - a.c\n# y: new\n"
RACE = "some line\nWARNING: ThreadSanitizer: data race\n  Write of size 4\n"
# claim, tests as (result, output, errors), the FAILED lines and the lines below them
TOLD = [
    ("a failure is told with the lines around it", [("FAIL", REASON, "")], ["FAILED {}: t: a.b", "    f.cpp:7: does not hold: b", "    seen: 9"]),
    ("a crash with a sanitizer's report, and what never ran in one line", [("ERROR", "1..3\n# a.b\n", RACE)],
     ["FAILED {}: t: died in a.b", "    WARNING: ThreadSanitizer: data race", "      Write of size 4", "FAILED {}: t: never ran (2 of them)"]),
    ("another end with the last that was said", [("FAIL", "", "a\nno such file\n")], ["FAILED {}: t: fail", "    a", "    no such file"]),
]


def tally(program, tests, options, page=None):
    with tempfile.TemporaryDirectory() as folder:
        if page:
            requirements = Path(folder, "page.md")
            requirements.write_text(PAGE.format(page))
            options = [*options, f"--requirements={requirements}"]
        log = Path(folder, "testlog.json")
        log.write_text("".join(json.dumps({"name": "p:s / t", "result": r, "stdout": o, "stderr": "".join(e)}) + "\n" for r, o, *e in tests))
        done = subprocess.run([sys.executable, program, *options, log], capture_output=True, text=True, timeout=30)
    return done.stdout.splitlines(), done.returncode


def main():
    tap = Tap("tally")

    def check(claim, seen, wanted):
        tap.check(claim, seen == wanted, f"wanted {wanted}, seen {seen}")

    for claim, tests, options, line, status in CASES:
        lines, code = tally(sys.argv[1], tests, options)
        check(claim, (lines[-1], code), (line, status))
    for claim, tests, names, missing in NAMED:
        lines, code = tally(sys.argv[1], tests, [], names)
        named = [line.partition("names what ran in no build: ")[2] for line in lines if "ran in no build" in line]
        check(claim, (named, code != 0), ([missing] if missing else [], bool(missing) or any(r != "OK" for r, _ in tests)))
    for claim, tests, wanted in TOLD:
        lines, _ = tally(sys.argv[1], tests, [])
        build = lines[0].partition(":")[0]
        check(claim, lines[1:-1], [line.format(build) for line in wanted])
    with tempfile.TemporaryDirectory() as build:
        Path(build, "failed.log").write_text("[1/2] Compiling\nFAILED: a.o\n\x1b[01mf.cpp:7: error: no\n  7 | no\n")
        lines, _ = tally(sys.argv[1], [("OK", PASS)], [f"--failed-build={build}", "--floor=^t$:2"], "`t: another`")
        check("a build that broke tells why, and not what did not run therefore", lines[1:-1],
              [f"FAILED {build}: does not build", "    FAILED: a.o", "    f.cpp:7: error: no"])
    tap.end()


main()
