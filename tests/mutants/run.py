#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# run.py [--count N] [--seed S] [--trees T] [--jobs J] [--tier gate|all] [--quick] [--again OUTPUT] [FILE...] — tests
# the tests: makes one small change at a time in rt (changes.py), and looks whether a test fails. First it runs a few
# programs of the gate, in several trees at the same time. A mutant that survives them is tested by the rest of the
# gate, with AddressSanitizer and then with ThreadSanitizer, and after that by the second tier, unless --tier gate. A
# test that hangs counts as failed. docs/decisions/0185
#
# Not counted, and replaced by another one: a mutant that does not compile, one that compiles to the same bytes as what
# ships, and one in harmless.txt. The last line is `N passed, N failed`, where a killed mutant counts as passed; the
# line above it says how many of them the gate killed.
import argparse
import os
import random
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from changes import files_of_rt, of_files, read_harmless
from trees import ROOT, TIERS, WIDE, Tree

PLACE = ROOT / "build-mutants"
HARMLESS = Path(__file__).with_name("harmless.txt")


def survivors_of(output, candidates):
    """The mutants that an earlier run printed as surviving, with their present line numbers."""
    named = [line.split(": ", 1)[1].split(":", 1) for line in output.splitlines() if line.startswith("SURVIVED: ")]
    wanted = {f"{file}: {rest.split(': ', 1)[1]}" for file, rest in named}
    return [mutant for mutant in candidates if mutant.change in wanted]


def say(verdict, mutant, began=None):
    print(f"{verdict}: {mutant}" + (f"  [{time.monotonic() - began:.0f} s]" if began else ""), flush=True)


class Draw:
    """Hands out candidates to several judging threads until `count` of them have been judged."""

    def __init__(self, candidates, count):
        self.candidates, self.count = iter(candidates), count
        self.open = 0  # handed out, and neither judged nor found to be unfit
        self.killed, self.left = 0, []
        self.unlike = {"do not compile": 0, "compile to the same code": 0}
        self.changed = threading.Condition()

    def next(self):
        """The next mutant; None if there will be no more."""
        with self.changed:
            while self.open and self.killed + len(self.left) + self.open >= self.count:
                self.changed.wait()
            mutant = next(self.candidates, None) if self.killed + len(self.left) < self.count else None
            self.open += mutant is not None
            return mutant

    def stop(self):
        """Hands out no more mutants, and waits for none."""
        with self.changed:
            self.count = self.open = 0
            self.changed.notify_all()

    def end(self, mutant, killer, is_unlike, began):
        """`killer`: the test that failed, or ""; `is_unlike`: why the mutant is not counted, or None."""
        with self.changed:
            self.open -= 1 if self.open else 0
            if is_unlike:
                self.unlike[is_unlike] += 1
            elif killer:
                self.killed += 1
            else:
                self.left.append(mutant)
            if is_unlike != "do not compile":
                say("the same code" if is_unlike else f"killed by {killer}" if killer else "survives the quick ones", mutant, began)
            self.changed.notify_all()


def judge_in(tree, draw):
    try:
        judge_all_in(tree, draw)
    except BaseException:
        draw.stop()  # otherwise the other threads would wait for this thread's mutant
        raise


def judge_all_in(tree, draw):
    while mutant := draw.next():
        began, is_unlike = time.monotonic(), None
        with tree.made(mutant):
            killer = tree.killed_quickly(mutant)
            if killer is None or (not killer and (code := tree.code_that_ships()) is None):
                is_unlike = "do not compile"
            elif not killer and code == tree.released:
                is_unlike = "compile to the same code"
        draw.end(mutant, killer, is_unlike, began)


def judge_quickly(trees, candidates, count):
    """Returns how many mutants were killed, and those that survived. Takes candidates until `count` are judged."""
    draw = Draw(candidates, count)
    with ThreadPoolExecutor(len(trees)) as pool:
        try:
            for judge in [pool.submit(judge_in, tree, draw) for tree in trees]:
                judge.result()
        finally:
            draw.stop()
    print(f"{draw.killed + len(draw.left)} judged, {draw.killed} killed quickly;",
          ", ".join(f"{n} more {what}" for what, n in draw.unlike.items()), flush=True)
    return draw.killed, draw.left


def judge_widely(tree, build, tier, mutants):
    killed, left = 0, []
    if mutants:
        tree.prepare_wide(build, tier)
    for mutant in mutants:
        began = time.monotonic()
        with tree.made(mutant):
            killer = tree.killed_widely(build, tier, mutant)
        if killer is None:
            say(f"does not compile for {build}", mutant, began)
        elif killer:
            killed += 1
            say(f"killed by {killer}", mutant, began)
        else:
            left.append(mutant)
            say(f"survives {build}, tier {tier}", mutant, began)
    return killed, left


def judge_by_tier(tree, last, killed, left):
    """Returns how many are killed in all, and which survive. `killed`: by the programs that ran first, which are the gate's."""
    for tier in TIERS[:TIERS.index(last) + 1]:
        for build in WIDE:
            more, left = judge_widely(tree, build, tier, left)
            killed += more
        print(f"killed by tier {tier} and those before it: {killed} of {killed + len(left)}", flush=True)
    return killed, left


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trees", type=int, default=max(1, (os.cpu_count() or 1) // 2), help="so many are judged at a time")
    parser.add_argument("--jobs", type=int, default=2, help="of each tree's build")
    parser.add_argument("--tier", choices=TIERS, default="all", help="gate: the tests of a landing alone; all: the second tier, too")
    parser.add_argument("--quick", action="store_true", help="the few programs that come first, and nothing else")
    parser.add_argument("--again", help="only those that survived in what an earlier run printed")
    parser.add_argument("files", nargs="*", help="below rt; all of it")
    options = parser.parse_args()
    files = options.files or files_of_rt(ROOT)
    harmless = read_harmless(HARMLESS.read_text(encoding="utf-8"))
    candidates = [mutant for mutant in of_files(ROOT, files) if mutant.change not in harmless]
    random.Random(options.seed).shuffle(candidates)
    print(f"{len(candidates)} mutants of {len(files)} files; seed {options.seed}", flush=True)
    if options.again:
        candidates = survivors_of(Path(options.again).read_text(encoding="utf-8"), candidates)
        options.count = len(candidates)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no child process is left
    trees = [Tree(PLACE / str(number), options.jobs) for number in range(options.trees)]
    for tree in trees:  # the later trees find the first one's objects in ccache, if it is installed
        tree.prepare()
    killed, left = judge_quickly(trees, candidates, options.count)
    if not options.quick:
        killed, left = judge_by_tier(trees[0], options.tier, killed, left)
    for mutant in left:
        say("SURVIVED", mutant)
    print(f"{killed} passed, {len(left)} failed")
    return 1 if left or killed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
