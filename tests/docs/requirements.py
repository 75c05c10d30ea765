# SPDX-License-Identifier: Apache-2.0
# requirements.py — reads docs/requirements.md: tables of `| rows | what is required | status | tests |`, and says what
# is wrong with them. Tests are named in backquotes:
#
#     suite.name        a TEST(suite, name), whatever program it is linked into
#     test              one of meson's tests, all of it
#     test: claim       what one of meson's tests says; a claim may be the beginning of several
#     (suite.name)      the same of a test that is skipped where the machine has not what it is about
import json
import re
from typing import NamedTuple

LAST = {'R': 355, 'C': 94}
DIGITS = {'R': 3, 'C': 2}
# What has to be said beside the word.
STATUSES = {'met': False, 'partly': True, 'later': False, 'not ours': True}


class Row(NamedTuple):
    line: int
    numbers: list  # 'R001', ...
    required: str
    status: str
    note: str
    tests: list
    some_machines: list  # tests in parentheses


def numbers_in(cell):
    for letter, first, last in re.findall(r'([RC])(\d+)(?: \.\.\. [RC](\d+))?', cell):
        for number in range(int(first), int(last or first) + 1):
            yield f'{letter}{number:0{DIGITS[letter]}}'


def rows_of(page):
    """The rows of the tables; a line that begins like one and is none is a Row without a status."""
    for line, text in enumerate(page.splitlines(), 1):
        if not re.match(r'\|\s*[RC]\d', text):
            continue
        cells = [cell.strip() for cell in text.strip().strip('|').split('|')]
        cells += [''] * (4 - len(cells))
        status, _, note = cells[2].partition(':')
        shown = ' '.join(cells[3:])
        yield Row(line, list(numbers_in(cells[0])), cells[1], status.strip(), note.strip(),
                  re.findall(r'`([^`]+)`', re.sub(r'\(`[^`]+`\)', '', shown)), re.findall(r'\(`([^`]+)`\)', shown))


class Known:
    """What tests there are: the sources of tests/ tell TESTs and claims, the build directory and meson.build the rest."""

    def __init__(self, root, build):
        self.texts = {path: path.read_text() for path in sorted((root / 'tests').rglob('*'))
                      if path.suffix in ('.py', '.cpp', '.sh', '.build') and path.name != 'requirements_test.py'}
        self.cases = {f'{suite}.{name}' for text in self.texts.values()
                      for suite, name in re.findall(r'^TEST\((\w+),\s*(\w+)\)', text, re.M)}
        self.meson = {name for text in self.texts.values() for name in re.findall(r"\btest\((?:name == )?'([\w-]+)'", text)}
        self.meson |= {name.split(' / ')[-1] for name in (test['name'] for test in introspected(build))}
        self.meson.add('coverage of rt')  # what tests/harness/coverage.py leaves for the tally
        self.attacks = {path.stem.replace('_', ' ') for path in (root / 'tests/programs/hostile').glob('*.c*')}

    def has(self, name):
        test, colon, claim = name.partition(': ')
        if not colon:
            return name in self.cases or name in self.meson
        said = any(claim in text.replace("\\'", "'") for text in self.texts.values())
        return test in self.meson and (said or claim in self.attacks)


def introspected(build):
    plan = build / 'meson-info/intro-tests.json'
    return json.loads(plan.read_text()) if plan.exists() else []


def problems(page, has_test):
    rows, seen = list(rows_of(page)), {}
    for row in rows:
        where = f'line {row.line} ({", ".join(row.numbers[:2])})'
        for number in row.numbers:
            if number in seen:
                yield f'{where}: {number} is in line {seen[number]}, too'
            seen.setdefault(number, row.line)
        if not row.required:
            yield f'{where}: nothing is required'
        if row.status not in STATUSES:
            yield f'{where}: {row.status!r} is no status'
        elif STATUSES[row.status] and not row.note:
            yield f'{where}: {row.status} without saying what or why'
        if row.status == 'met' and row.note:
            yield f'{where}: met, and something is missing'
        if row.status == 'met' and not row.tests:
            yield f'{where}: met, and no test shows it'
        for name in row.tests + row.some_machines:
            if not has_test(name):
                yield f'{where}: there is no test {name}'
    wanted = {f'{letter}{number:0{DIGITS[letter]}}' for letter, last in LAST.items() for number in range(1, last + 1)}
    for number in sorted(wanted - seen.keys()):
        yield f'{number} has no row'
    for number in sorted(seen.keys() - wanted):
        yield f'there is no requirement {number}'


class Results:
    """Pairs of meson's name for a test and what it said."""

    def __init__(self, pairs):
        self.names, self.claims = set(), {}
        for test, said in set(pairs):
            self.names |= {test, *re.findall(r'\b\w+\.\w+', said)}
            self.claims.setdefault(test, []).append(said)

    def has(self, name):
        test, colon, claim = name.partition(': ')
        return any(said.startswith((claim, name)) for said in self.claims.get(test, [])) if colon else name in self.names


def never_ran(page, ran, skipped=()):
    """The tests named that `ran` has nothing of; of those in parentheses, nor `skipped`."""
    rows, done = list(rows_of(page)), Results(ran)
    tried = Results([*ran, *skipped])
    missing = [name for row in rows for name in row.tests if not done.has(name)]
    missing += [name for row in rows for name in row.some_machines if not tried.has(name)]
    return list(dict.fromkeys(missing))
