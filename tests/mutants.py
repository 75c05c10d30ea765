#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# mutants.py [--count N] [--seed S] [--jobs J] [FILE...] — tests the tests: one small change at a time somewhere in rt
# (a comparison, a constant, a condition, a call or a statement left out, a result turned round), and whether the hosted
# tests notice. Prints each mutant, and at the end those that survived; the last line is `N passed, N failed`, where one
# that was killed has passed. What does not compile is drawn again. Works on copies of the tree below build-mutants.
import argparse
import concurrent.futures
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPIES = ROOT / "build-mutants"
# The quickest first: most mutants are killed early.
SUITES = ("base", "config", "budget", "mem", "sched", "conformance", "task")
PROGRAMS = [f"tests/test-{suite}-hosted-plain" for suite in SUITES]
BUILD_SECONDS = 600

COMMENT = re.compile(r"//.*$")
LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)+\'')
# Lines that say nothing at run time, or are checks themselves.
NO_CODE = re.compile(r"^\s*(#|static_assert|using |template|namespace|struct |class |enum |extern|friend|JANUS_ASSERT|JANUS_CHECK|asm|\[\[|:)")
SWAPS = {" == ": [" != "], " != ": [" == "], " < ": [" <= ", " > "], " <= ": [" < "], " > ": [" >= ", " < "], " >= ": [" > "],
         " && ": [" || "], " || ": [" && "], " + ": [" - "], " - ": [" + "], "++": ["--"], "--": ["++"],
         "return true;": ["return false;"], "return false;": ["return true;"], " += ": [" -= "], " -= ": [" += "]}
CALL = re.compile(r"^\s+(?:\(void\))?[\w.:>\[\]*-]+\(.*\);\s*$")
ASSIGNMENT = re.compile(r"^\s+[\w.>\[\]*-]+ (?:[+|&^-]|<<|>>)?= .*;\s*$")
CONDITION = re.compile(r"\bif \((?!constexpr)(.+)\)( \[\[\w+\]\])?( \{| return\b.*;|)\s*$")
NUMBER = re.compile(r"(?<![\w.'])(\d+)(?![\w.'])")


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int       # from 1
    old: str
    new: str

    def __str__(self):
        return f"{self.file}:{self.line}: {self.old.strip()}  ->  {self.new.strip() or '(nothing)'}"


def mutants_of_line(file, number, line):
    code = COMMENT.sub("", line)
    if not code.strip() or NO_CODE.match(code):
        return
    masked = LITERAL.sub(lambda text: "\0" * len(text.group()), code)  # the same places, nothing to find in them
    ending = line[len(line.rstrip("\n")):]

    def changed(start, end, text):
        return Mutant(file, number, code.rstrip(), code[:start] + text + code[end:].rstrip() + ending)

    for sign, others in SWAPS.items():
        for at in re.finditer(re.escape(sign), masked):
            yield from (changed(at.start(), at.end(), other) for other in others)
    for at in NUMBER.finditer(masked):
        value = int(at.group(1))
        yield from (changed(at.start(), at.end(), str(other)) for other in (value + 1, value - 1) if other >= 0)
    if condition := CONDITION.search(masked):
        inside = code[condition.start(1):condition.end(1)]
        yield changed(condition.start(1), condition.end(1), f"!({inside})")
    if (CALL.match(masked) or ASSIGNMENT.match(masked)) and not masked.lstrip().startswith(("return", "const ", "auto")):
        yield Mutant(file, number, code.rstrip(), ending)


def all_mutants(files):
    for file in files:
        is_long = False  # within a statement of several lines, of which nothing can be left out
        for number, line in enumerate(Path(ROOT, file).read_text(encoding="utf-8").splitlines(keepends=True), 1):
            code = COMMENT.sub("", line).strip()
            for mutant in mutants_of_line(file, number, line):
                if not (is_long and not mutant.new.strip()):
                    yield mutant
            if code:
                is_long = not code.endswith((";", "{", "}", ":"))


class Copy:
    """A tree of its own with a build directory, in which one mutant at a time is made."""

    def __init__(self, number):
        self.tree = COPIES / str(number)
        self.seconds = {}

    def prepare(self):
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for name in filter(None, tracked.split("\0")):
            source, target = ROOT / name, self.tree / name
            if not source.is_file():
                continue
            if target.exists() and target.read_bytes() == source.read_bytes():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
            os.utime(target)
        if not (self.tree / "build" / "build.ninja").exists():
            subprocess.run(["meson", "setup", "build", "-Dbuildtype=debug", "-Doptimization=1", "-Dsanitizers="], cwd=self.tree,
                           check=True, stdout=sys.stderr)
        if not self.build():
            raise SystemExit(f"mutants: {self.tree} does not build as it is")
        for program in PROGRAMS:
            began = time.monotonic()
            if not self.passes(program, 300):
                raise SystemExit(f"mutants: {program} fails as it is")
            self.seconds[program] = time.monotonic() - began

    def build(self):
        try:
            done = subprocess.run(["ninja", "-C", "build", "-j1", *PROGRAMS], cwd=self.tree, capture_output=True, timeout=BUILD_SECONDS,
                                  check=False)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def passes(self, program, seconds):
        try:
            done = subprocess.run([self.tree / "build" / program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=seconds,
                                  check=False)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def judge(self, mutant):
        """None: does not compile. Else who kills it, or "" if nobody does."""
        path = self.tree / mutant.file
        original = path.read_text(encoding="utf-8")
        lines = original.splitlines(keepends=True)
        lines[mutant.line - 1] = mutant.new
        try:
            path.write_text("".join(lines), encoding="utf-8")
            if not self.build():
                return None
            return next((suite for suite, program in zip(SUITES, PROGRAMS)
                         if not self.passes(program, 10 + 5 * self.seconds[program])), "")
        finally:
            path.write_text(original, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("files", nargs="*", help="below rt; all of it")
    options = parser.parse_args()
    files = options.files or sorted(str(path.relative_to(ROOT)) for kind in ("*.cpp", "*.h") for path in ROOT.glob(f"rt/*/{kind}"))
    candidates = list(all_mutants(files))
    random.Random(options.seed).shuffle(candidates)
    print(f"{len(candidates)} mutants of {len(files)} files; seed {options.seed}", flush=True)

    free = queue.Queue()
    for number in range(options.jobs):
        copy = Copy(number)
        copy.prepare()
        free.put(copy)

    def judge(mutant):
        copy = free.get()
        try:
            return mutant, copy.judge(mutant)
        finally:
            free.put(copy)

    killed, survivors, waiting = 0, [], iter(candidates)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = set()
        while killed + len(survivors) < options.count:
            while len(running) < min(options.jobs, options.count - killed - len(survivors)) and (mutant := next(waiting, None)):
                running.add(pool.submit(judge, mutant))
            if not running:
                break
            done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for mutant, killer in (future.result() for future in done):
                if killer is None:
                    continue
                killed += killer != ""
                if killer == "":
                    survivors.append(mutant)
                print(f"{'killed by ' + killer if killer else 'SURVIVED'}: {mutant}", flush=True)
    print("\n".join(["", "survivors:", *map(str, survivors)]) if survivors else "\nno survivors")
    print(f"{killed} passed, {len(survivors)} failed")
    return 1 if survivors or killed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
