#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# requirements_test.py ROOT BUILD — docs/requirements.md is what it says: each row once, with a status that there is,
# and what is met names tests that there are. Whether they ran, tests/harness/tally.py looks. Speaks TAP.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'harness'))
from requirements import DIGITS, LAST, Known, never_ran, numbers_in, problems, rows_of  # noqa: E402
from tap import Tap  # noqa: E402

GOOD = '\n'.join(f'| {letter}{1:0{DIGITS[letter]}} ... {letter}{last} | all of it | met | `a.b`, `tool: it works` |'
                 for letter, last in LAST.items())
TESTS = ('a.b', 'tool', 'tool: it works')

# What is planted, what was there, what stands there now, and what is to be said.
MISTAKES = (
    ('a test that does not exist', '`a.b`', '`a.c`', 'there is no test a.c'),
    ('a claim that nobody makes', 'it works', 'it worked', 'there is no test tool: it worked'),
    ('met without a test', '| `a.b`, `tool: it works` |', '| |', 'met, and no test shows it'),
    ('met with a test that some machines skip alone', '`a.b`, `tool: it works`', '(`a.b`)', 'met, and no test shows it'),
    ('a test of some machines that does not exist', '`a.b`', '(`a.c`), `a.b`', 'there is no test a.c'),
    ('met, and something missing', '| met |', '| met: but for the rest |', 'met, and something is missing'),
    ('a row that is missing', 'R001 ... R355', 'R001 ... R346, R348 ... R355', 'R347 has no row'),
    ('a row that is there twice', 'R001 ... R355', 'R001 ... R355, R007', 'R007 is in line'),
    ('a row too many', 'C01 ... C94', 'C01 ... C95', 'there is no requirement C95'),
    ('a status that there is not', '| met |', '| done |', "'done' is no status"),
    ('a row of too few cells', '| all of it | met |', '| met |', 'is no status'),
    ('partly, and what is missing is not said', '| met |', '| partly |', 'partly without saying what or why'),
    ('not ours, and why is not said', '| met |', '| not ours: |', 'not ours without saying what or why'),
    ('nothing required', '| all of it |', '| |', 'nothing is required'),
)
RESULTS = (('program', 'a.b (JANUS_WORKERS=1)'), ('tool', 'it works with 2 workers'))

tap = Tap('requirements')


def deviation_problems(deviations, page):
    known = {number for row in rows_of(page) for number in row.numbers}
    table = [[cell.strip() for cell in line.strip('|').split('|')] for line in deviations.splitlines() if line.startswith('| D-')]
    if len(table) < 20:
        yield 'hardly any'
    for place, cells in enumerate(table, 1):
        numbers = set(numbers_in(cells[3])) if len(cells) == 5 else set()
        if cells[0] != f'D-{place}' or not numbers or not numbers <= known or not all(cells[1:]):
            yield f'{cells[0]}: D-{place} with what is said, what is done, its rows and why was expected'


def main():
    root, build = map(pathlib.Path, sys.argv[1:3])
    page, known = (root / 'docs/requirements.md').read_text(), Known(root, build)
    tap.none('the page holds', list(problems(page, known.has)))
    tap.none('the page names tests at all', [] if sum(len(row.tests) for row in rows_of(page)) > 300 else ['hardly any'])
    deviations = (root / 'docs/deviations.md').read_text()
    tap.none('every deviation has its number, its rows and its reason', list(deviation_problems(deviations, page)))
    tap.none('a good page is accepted', list(problems(GOOD, TESTS.__contains__)))
    for what, was, now, said in MISTAKES:
        found = list(problems(GOOD.replace(was, now, 1), TESTS.__contains__))
        tap.none(f'{what} is found', [] if was in GOOD and any(said in problem for problem in found) else found or ['nothing'])
    tap.none('what ran has run', never_ran(GOOD, RESULTS))
    for what, results, missing in (('a case', RESULTS[1:], ['a.b']), ('a claim', RESULTS[:1], ['tool: it works']),
                                   ('a claim of another test', [('other', 'it works')], ['a.b', 'tool: it works'])):
        found = never_ran(GOOD, results)
        tap.none(f'{what} that did not run is named', [] if found == missing else [found])
    tap.end()


main()
