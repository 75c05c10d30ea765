#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tally.py [--times] [--tier=gate|all] [--no-kernel] [--requirements=PAGE] [--floor=NAMES:N]... [--failed-build=DIR]...
# [LOG]... — adds up the TAP of every test in meson's logs (testlog.json), prints the times, and as the last line: `N
# passed, N failed[, N skipped]`. Status 0 only if some tests passed and none failed. These are failures, too: a test
# that PAGE (docs/requirements.md) names and that ran in none of the builds, unless the tier excludes it; fewer than N
# results in all logs together from tests whose names the expression NAMES matches; a violated rule of gate.py for the
# tier.
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs"))
import gate  # noqa: E402
import times  # noqa: E402
from measured import WORDS  # noqa: E402
from requirements import never_ran  # noqa: E402

RESULT = re.compile(r"^(not )?ok\b(?:\s+\d+)?(?:\s*-)?\s*(.*?)\s*(?:#\s*(skip|todo)\b.*)?$", re.IGNORECASE)
PLAN = re.compile(r"^1\.\.(\d+)\s*(#\s*skip.*)?$", re.IGNORECASE)
FINE = ("OK", "SKIP", "EXPECTEDFAIL")
MOST_LINES, MOST_WIDTH = 12, 240  # of the output that is repeated below a failure


class Failure:
    """A failed test or violated rule, and the lines of output that explain it."""

    def __init__(self, what, why=()):
        self.what, self.why = what, list(why)

    def lines(self):
        yield f"FAILED {self.what}"
        yield from (f"    {line[:MOST_WIDTH]}" for line in self.why[:MOST_LINES])


class Count:
    def __init__(self):
        self.passed, self.failures, self.skipped = 0, [], 0
        self.ran, self.not_run = [], []  # the test of each result

    def add(self, other):
        self.passed += other.passed
        self.failures += other.failures
        self.skipped += other.skipped
        self.ran += other.ran
        self.not_run += other.not_run

    def __str__(self):
        text = f"{self.passed} passed, {len(self.failures)} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def count_tap(output):
    """Counts the results in a program's TAP output. Also returns how many planned results are missing, and the test that was running last."""
    count, planned, running = Count(), None, ""
    said = []  # comment lines since the last result; they belong to the next failure
    for line in output.splitlines():
        if plan := PLAN.match(line):
            planned = int(plan[1])
        elif result := RESULT.match(line):
            said = said if result[1] else []
            if result[1]:
                count.failures.append(Failure(result[2], said))
                said = count.failures[-1].why
            elif (result[3] or "").lower() == "skip":
                count.skipped += 1
            else:
                count.passed += 1
            (count.not_run if (result[3] or "").lower() == "skip" else count.ran).append(result[2])
            running = ""
        elif line.startswith("# ") and " " not in line[2:]:
            running, said = line[2:], []  # the harness announces each test before it runs
        elif line.startswith("# ") and not line.startswith(WORDS):
            said.append(line[2:])
    seen = count.passed + len(count.failures) + count.skipped
    return count, (planned - seen if planned is not None else 0), running


def last_words(test):
    """The lines that explain why a program ended early: from the beginning of a sanitizer's report, or else the last lines of the output."""
    lines = [line for line in (test.get("stderr") or test.get("stdout") or "").splitlines() if line.strip() and not line.startswith(WORDS)]
    report = next((at for at, line in enumerate(lines) if "Sanitizer" in line or "runtime error:" in line), None)
    return lines[-MOST_LINES:] if report is None else lines[report:]


def count_test(test):
    """Counts one meson test: its TAP results or, if it printed none, meson's verdict."""
    name, verdict = test["name"].split(" / ")[-1], test["result"]
    output = test.get("stdout") or ""
    count, owed, running = count_tap(output)
    spoke = count.passed + len(count.failures) + count.skipped > 0
    for failure in count.failures:
        failure.what = f"{name}: {failure.what}"
    count.not_run = [(name, what) for what in count.not_run] + [(name, "")] * (verdict == "SKIP")
    count.ran = [(name, what) for what in count.ran] or [(name, "")] * (verdict != "SKIP" and not count.skipped)
    if verdict == "SKIP" and not spoke:
        count.skipped = 1
    elif verdict == "OK" and not spoke:
        count.passed = 1
    elif owed > 0:
        end = {"TIMEOUT": "timed out", "INTERRUPT": "was interrupted"}.get(verdict, "died")
        count.failures.append(Failure(f"{name}: {end}" + (f" in {running}" if running else ""), last_words(test)))
        count.failures += [Failure(f"{name}: never ran")] * (owed - 1)
    elif verdict not in FINE and not count.failures:
        count.failures.append(Failure(f"{name}: {verdict.lower()}", last_words(test)))
    return count


def count_log(path):
    count = Count()
    if not path.exists():
        return count  # no test of that suite in this build
    for line in path.read_text(errors="replace").splitlines():
        if line.strip():
            count.add(count_test(json.loads(line)))
    return count


def why_not_built(build):
    """The lines of the compiler's errors, from what `./dev test` has kept."""
    log = Path(build, "failed.log")
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return [re.sub("\x1b\\[[0-9;]*[mK]", "", line) for line in lines if re.search(r"^FAILED|\berror\b|undefined reference|^ERROR", line)]


def below(floors, count):
    """A line for each group of tests of which too few ran: tests that are missing from a build cause no failure by themselves."""
    for names, least in floors:
        ran = sum(1 for name, _ in count.ran if re.search(names, name))
        if ran < least:
            yield f"{ran} tests ran of those that match {names}, and {least} must"


class Wanted:
    """The options of the command line: which rules to check besides the results."""

    def __init__(self, arguments):
        self.tier, self.page, self.floors, self.failed_builds, self.logs, with_kernel = None, None, [], [], [], True
        self.with_times = False
        for argument in arguments:
            option, _, value = argument.partition("=")
            if option == "--tier":
                self.tier = value
            elif option == "--times":
                self.with_times = True
            elif option == "--no-kernel":
                with_kernel = False
            elif option == "--failed-build":
                self.failed_builds.append(value)
            elif option == "--requirements":
                self.page = Path(value)
            elif option == "--floor":
                names, _, least = value.rpartition(":")
                self.floors.append((names, int(least)))
            else:
                self.logs.append(Path(argument))
        if self.tier:
            self.floors += gate.FLOORS[self.tier] + (gate.FLOORS_WITH_KERNEL[self.tier] if with_kernel else [])

    def unmet(self, count, costs):
        """A line for each rule that the tests that ran do not satisfy. Where a build failed, much did not run."""
        if self.failed_builds:
            return
        yield from below(self.floors, count)
        unseen = never_ran(self.page.read_text(), count.ran, count.not_run) if self.page else []
        if self.tier == "gate":
            unseen = [name for name in unseen if not gate.is_second_everywhere(name.partition(": ")[0])]
        if unseen:
            yield f"{self.page} names what ran in no build: {', '.join(unseen)}"
        if self.tier == "all":
            yield from times.above_budget(costs, gate.BUDGETS, times.slowness())


def main():
    wanted, total, costs = Wanted(sys.argv[1:]), Count(), []
    total.failures += [Failure(f"{build}: does not build", why_not_built(build)) for build in wanted.failed_builds]
    for log in wanted.logs:
        count = count_log(log)
        print(f"{log.parts[0]}: {count}")
        for failure in dict.fromkeys(count.failures):
            failure.what = f"{log.parts[0]}: {failure.what}"
        total.add(count)
        costs += times.costs_of(log)
    if wanted.with_times:
        print(*times.report(costs, gate.BUDGETS), sep="\n")
    total.failures += [Failure(what) for what in wanted.unmet(total, costs)]
    for failure in dict.fromkeys(total.failures):
        more = total.failures.count(failure)
        print(*failure.lines(), sep="\n", end=f" ({more} of them)\n" if more > 1 else "\n")
    print(total)
    return 0 if total.passed and not total.failures else 1


if __name__ == "__main__":
    sys.exit(main())
