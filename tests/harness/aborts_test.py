#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# aborts_test.py EXPECTATIONS PROGRAM ... — expects each test of each program to end it by SIGABRT, with a last line on
# stderr that matches the line of EXPECTATIONS for that test: `suite.name regular expression`. TAP.
import os
import pathlib
import re
import signal
import subprocess
import sys

from tap import Tap


def expectations(path):
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    return [line.split(" ", 1) for line in lines if line and not line.startswith("#")]


def main():
    path, programs = sys.argv[1], sys.argv[2:]
    tap = Tap()
    for program, test, words in [(program, *case) for program in programs for case in expectations(path)]:
        done = subprocess.run([program, test], capture_output=True, text=True, timeout=60, check=False)
        said = [line for line in done.stderr.splitlines() if line.startswith("janus: ")]
        holds = done.returncode == -signal.SIGABRT and len(said) == 1 and re.fullmatch(words, said[0])
        tap.check(f"{os.path.basename(program)}: {test}", holds,
                  f"status {done.returncode}, wanted: {words}\n{done.stdout}{done.stderr}")
    tap.end()


main()
