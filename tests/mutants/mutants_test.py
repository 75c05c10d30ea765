#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# mutants_test.py ROOT — which mutants are drawn from which text, and that harmless.txt speaks of the text that there
# is. Speaks TAP.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "harness"))
from changes import Mutant, applied, files_of_rt, of_files, of_text, read_harmless  # noqa: E402
from tap import Tap  # noqa: E402

# A line, and all that may become of it.
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
    tap.end()


if __name__ == "__main__":
    main()
