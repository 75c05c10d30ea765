# SPDX-License-Identifier: Apache-2.0
# requirements.py — reads docs/requirements.md and reports what is wrong with it. Its tables have one requirement in
# each row: `| number | what is required, as a sentence | status | tests |`. The status is a word of STATUSES, then the
# deviations that concern the row in parentheses, then a colon and what is missing: `partly (D-3, D-7): no timers`.
# Tests are named in backquotes:
#
#     suite.name        a TEST(suite, name), whatever program it is linked into
#     test              one of meson's tests, all of it
#     test: claim       a result of one of meson's tests; a claim may be the beginning of several results
#     (suite.name)      a test that is skipped on machines that lack what it needs
import json
import re
import string
from typing import NamedTuple

LAST = {'R': 365, 'C': 95}
DIGITS = {'R': 3, 'C': 2}
# Whether the status must be followed by what is missing, or why.
STATUSES = {'met': False, 'partly': True, 'open': True, 'not ours': True}
STATUS = re.compile(r'([\w ]*?)(?: \((D-\d+(?:, D-\d+)*)\))?(?:: ?(.*))?')
MIN_WORDS = 3  # of the sentence that says what is required


class Row(NamedTuple):
    line: int
    numbers: list  # 'R001', ...
    required: str
    status: str
    deviations: list  # 'D-1', ...
    note: str
    tests: list
    some_machines: list  # tests in parentheses


def numbers_in(cell):
    for letter, first, last in re.findall(r'([RC])(\d+)(?: \.\.\. [RC](\d+))?', cell):
        for number in range(int(first), int(last or first) + 1):
            yield f'{letter}{number:0{DIGITS[letter]}}'


def rows_of(page):
    """The rows of the tables. A malformed row is returned as a Row without a status."""
    for line, text in enumerate(page.splitlines(), 1):
        if not re.match(r'\|\s*[RC]\d', text):
            continue
        cells = [cell.strip() for cell in text.strip().strip('|').split('|')]
        cells += [''] * (4 - len(cells))
        said = STATUS.fullmatch(cells[2])
        status, deviations, note = said.groups(default='') if said else (cells[2], '', '')
        shown = ' '.join(cells[3:])
        yield Row(line, list(numbers_in(cells[0])), cells[1], status, deviations.split(', ') if deviations else [], note,
                  re.findall(r'`([^`]+)`', re.sub(r'\(`[^`]+`\)', '', shown)), re.findall(r'\(`([^`]+)`\)', shown))


class Known:
    """The tests that exist: TESTs and claims from the sources in tests/, others from the build directory and meson.build."""

    def __init__(self, root, build):
        self.texts = {path: path.read_text() for path in sorted((root / 'tests').rglob('*'))
                      if path.suffix in ('.py', '.cpp', '.sh', '.build') and path.name != 'requirements_test.py'}
        self.cases = {f'{suite}.{name}' for text in self.texts.values()
                      for suite, name in re.findall(r'^(?:TASK_)?TEST\((\w+),\s*(\w+)\)', text, re.M)}
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


def is_sentence(text):
    return text[:1] in '"`' + string.ascii_uppercase and text.endswith('.') and len(text.split()) >= MIN_WORDS


def deviations_in(text):
    """The cells of each row of the table in docs/deviations.md."""
    return [[cell.strip() for cell in line.strip('|').split('|')] for line in text.splitlines() if line.startswith('| D-')]


def problems(page, has_test, deviations=''):
    rows, seen, texts = list(rows_of(page)), {}, {}
    concerned = {(number, cells[0]) for cells in deviations_in(deviations) if len(cells) > 3 for number in numbers_in(cells[3])}
    for row in rows:
        where = f'line {row.line} ({", ".join(row.numbers[:2])})'
        for number in row.numbers:
            if number in seen:
                yield f'{where}: {number} is in line {seen[number]}, too'
            seen.setdefault(number, row.line)
        if len(row.numbers) != 1:
            yield f'{where}: a row of {len(row.numbers)} requirements'
        if not row.required:
            yield f'{where}: nothing is required'
        elif not is_sentence(row.required):
            yield f'{where}: what is required is no sentence: {row.required}'
        elif row.required in texts:
            yield f'{where}: requires the same as line {texts[row.required]}'
        texts.setdefault(row.required, row.line)
        marked = {(number, deviation) for number in row.numbers for deviation in row.deviations}
        for number, deviation in sorted(marked - concerned):
            yield f'{where}: {deviation} does not name {number}'
        for number, deviation in sorted(pair for pair in concerned - marked if pair[0] in row.numbers):
            yield f'{where}: {deviation} names {number}, which does not name it'
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
    """Pairs of a meson test's name and a result that it printed."""

    def __init__(self, pairs):
        self.names, self.claims = set(), {}
        for test, said in set(pairs):
            self.names |= {test, *re.findall(r'\b\w+\.\w+', said)}
            self.claims.setdefault(test, []).append(said)

    def has(self, name):
        test, colon, claim = name.partition(': ')
        return any(said.startswith((claim, name)) for said in self.claims.get(test, [])) if colon else name in self.names


def never_ran(page, ran, skipped=()):
    """The named tests without a result in `ran`; those in parentheses only if they have none in `skipped` either."""
    rows, done = list(rows_of(page)), Results(ran)
    tried = Results([*ran, *skipped])
    missing = [name for row in rows for name in row.tests if not done.has(name)]
    missing += [name for row in rows for name in row.some_machines if not tried.has(name)]
    return list(dict.fromkeys(missing))
