# SPDX-License-Identifier: Apache-2.0
# times.py — the times of the tests in meson's logs: the slowest tests, the sum of each suite, and the suites above
# their budget.
import json
import re
import resource
import subprocess
from typing import NamedTuple

from measured import WORDS

SLOWEST = 20

STARTS, SECONDS_OF_STARTS = 100, 0.12  # a number of processes that do nothing, and their time on the machine on which the budgets were set


class Cost(NamedTuple):
    build: str
    test: str
    suites: frozenset
    seconds: float  # of processor time; of the clock if the test was killed and could not report it


def cost_of(build, record):
    """`record` is a line of meson's testlog.json."""
    said = re.findall(rf'^{WORDS}([\d.]+) s$', record.get('stdout') or '', re.M)
    suites, _, test = record['name'].rpartition(' / ')
    return Cost(build, test, frozenset(suites.split(':')[-1].split('+')) - {''}, float(said[-1]) if said else record.get('duration', 0.0))


def costs_of(log):
    build = log.parts[0] if not log.is_absolute() else log.parent.name
    if not log.exists():
        return []
    return [cost_of(build, json.loads(line)) for line in log.read_text(errors='replace').splitlines() if line.strip()]


def sums(costs):
    """Seconds of processor time of each suite."""
    total = {}
    for cost in costs:
        for suite in cost.suites:
            total[suite] = total.get(suite, 0.0) + cost.seconds
    return total


def report(costs, budgets):
    """Lines with the times of the slowest tests and of all suites."""
    slowest = sorted(costs, key=lambda cost: -cost.seconds)[:SLOWEST]
    yield f'the {len(slowest)} slowest of {len(costs)} tests, in seconds of processor time:'
    yield from (f'  {cost.seconds:7.1f}  {cost.build}: {cost.test}' for cost in slowest)
    yield f'each suite with its budget; {sum(cost.seconds for cost in costs):.0f} in all (a test may be of several suites):'
    yield from (f'  {seconds:7.1f} of {budgets.get(suite, 0):4}  {suite}' for suite, seconds in sorted(sums(costs).items()))


def above_budget(costs, budgets, slowness=1.0):
    """A line for each suite that exceeded its budget. `slowness`: how many times slower this machine is than the one on which the budgets were set."""
    for suite, seconds in sorted(sums(costs).items()):
        if seconds > budgets.get(suite, 0) * slowness:
            yield f'suite {suite}: {seconds:.0f} s of processor time, and its budget is {budgets.get(suite, 0)}' + (f' times {slowness:.1f}' if slowness > 1 else '')


def slowness():
    """How many times slower this machine is than the one on which the budgets were set, at least 1. Measures the start of processes, on which tests spend most of their time."""
    def seconds():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for _ in range(STARTS):
            subprocess.run(['/bin/true'], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return max(1.0, min(seconds() for _ in range(3)) / SECONDS_OF_STARTS)
