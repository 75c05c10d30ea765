#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# mutants_test.py ROOT — which mutants are made from which text, that each mutant in harmless.txt can still be made, and
# in which order tests run against a mutant. Speaks TAP.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "harness"))
from changes import Mutant, applied, files_of_rt, of_files, of_text, read_harmless  # noqa: E402
from tap import Tap  # noqa: E402
from trees import NOT_HOSTED, QUICK, in_order, takes_part, tier_of  # noqa: E402

# A line, and all the lines that it may become.
DRAWN = {
    "  if (left < right) return;": ["if (left <= right) return;", "if (left > right) return;", "if (!(left < right)) return;"],
    "  return true;": ["return false;"],
    "  count += 1;": ["count -= 1;", "count += 2;", "count += 0;", "(nothing)"],
    "  wake(worker);  // if (a < b)": ["(nothing)"],
    "  say(\"1 < 2 && 3\");": ["(nothing)"],
    "  const bool both = one && other;": ["const bool both = one || other;"],
    "  for (int i = 4; i != end; ++i)": ["for (int i = 5; i != end; ++i)", "for (int i = 3; i != end; ++i)",
                                       "for (int i = 4; i == end; ++i)", "for (int i = 4; i != end; --i)"],
    "bool is_even(int n) {\n  return test(n);": ["return !(test(n));"],
    "int half_of(int n) {\n  return test(n);": [],
    "  JANUS_ASSERT(left < right);": [],
    "  // left < right": [],
    "#if LEFT < 2": [],
    "  call(first,\n       second == 1);": ["second != 1);", "second == 2);", "second == 0);"],
}


def main():
    tap, root = Tap("mutants"), pathlib.Path(sys.argv[1])
    for text, expected in DRAWN.items():
        drawn = [mutant.new.strip() or "(nothing)" for mutant in of_text("a.cpp", text + "\n")]
        tap.check(f"what is drawn from {text.splitlines()[-1].strip()!r}", sorted(drawn) == sorted(expected), drawn)
    two = Mutant("a.cpp", 2, "  two", "  2\n")
    tap.check("a mutant changes its line alone", applied(two, "one\n  two\nthree\n") == "one\n  2\nthree\n")
    tap.check("harmless ones are read with their reasons",
          read_harmless("# more\n\na: b  ->  c\n  why,\n  and why\nd: e  ->  f\n") == {"a: b  ->  c": "why, and why", "d: e  ->  f": ""})
    drawn = {mutant.change for mutant in of_files(root, files_of_rt(root))}
    tap.check("many are drawn from rt", len(drawn) > 5000, len(drawn))
    folders = {str(pathlib.Path(file).parent) for file in files_of_rt(root)}
    tap.check("folders within a layer are drawn from", {"rt/sched", "rt/task/wait", "rt/abi/entry"} <= folders, folders)
    harmless = read_harmless((root / "tests/mutants/harmless.txt").read_text(encoding="utf-8"))
    unknown = [change for change in harmless if change not in drawn]
    tap.none("those that are called harmless can be drawn", unknown)
    without = [change for change, why in harmless.items() if not why]
    tap.none("each of them has a reason", without)
    test_tiers(tap)
    tap.end()


def test_tiers(tap):
    shown = [name if name in NOT_HOSTED else f"{name}-asan" for name in QUICK]
    tap.none("the programs that come first are the gate's", [name for name in shown if tier_of("wide", name) != "gate"])
    tap.check("what the gate runs in no build is of the second tier", tier_of("wide", "image") == tier_of("threads", "image") == "all")
    tap.check("a test can be the gate's in one build and of the second tier in another",
              (tier_of("wide", "programs-pinning"), tier_of("threads", "programs-pinning")) == ("gate", "all"))
    tap.check("clang's build runs what ThreadSanitizer watches alone",
              (takes_part("threads", "mem-hosted-tsan"), takes_part("threads", "mem"), takes_part("wide", "mem")) == (True, False, True))
    tests = {"quick": (1, {"task"}), "near": (9, {"mem", "qemu"}), "nearer": (5, {"mem"}), "slow": (8, {"abi"})}
    tap.check("the tests of the mutated layer come first, then the quickest",
              in_order(Mutant("rt/mem/a.cpp", 1, "", ""), tests) == ["nearer", "near", "quick", "slow"])


if __name__ == "__main__":
    main()
