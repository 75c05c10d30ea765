#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# requirements_test.py ROOT BUILD — docs/requirements.md keeps its own rules: each requirement has one row with one
# sentence and a known status, the tests of a met requirement exist, and the page agrees with docs/deviations.md.
# Whether the tests ran is checked by tests/harness/tally.py. Speaks TAP.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'harness'))
from requirements import DIGITS, LAST, Known, deviations_in, never_ran, numbers_in, problems, rows_of  # noqa: E402
from tap import Tap  # noqa: E402

GOOD = '\n'.join(f'| {number} | It does all that {number} says. | met | `a.b`, `tool: it works` |'
                 for letter, last in LAST.items() for number in numbers_in(f'{letter}1 ... {letter}{last}'))
GOOD = GOOD.replace('R002 says. | met |', 'R002 says. | met (D-1) |').replace('R003 says. | met |', 'R003 says. | partly: not yet |')
DEVIATIONS = '| D-1 | this | that | R002 | so it is better |'
TESTS = ('a.b', 'tool', 'tool: it works')
R1 = 'It does all that R001 says.'
LAST_ROW = GOOD.splitlines()[-1]
FIRST_C = next(line for line in GOOD.splitlines() if line.startswith('| C01'))
NEXT = f"| C{LAST['C'] + 1} | It does one thing too many. | met | `a.b` |"

# Each mistake: its name, the text of the good page that is replaced, what replaces it, and the expected complaint.
MISTAKES = (
    ('a test that does not exist', '`a.b`', '`a.c`', 'there is no test a.c'),
    ('a claim that nobody makes', 'it works', 'it worked', 'there is no test tool: it worked'),
    ('met without a test', '| `a.b`, `tool: it works` |', '| |', 'met, and no test shows it'),
    ('met with only a test that some machines skip', '`a.b`, `tool: it works`', '(`a.b`)', 'met, and no test shows it'),
    ('a test of some machines that does not exist', '`a.b`', '(`a.c`), `a.b`', 'there is no test a.c'),
    ('met with something missing', '| met |', '| met: but for the rest |', 'met, and something is missing'),
    ('met with a deviation and something missing', '| met (D-1) |', '| met (D-1): but for the rest |', 'met, and something is missing'),
    ('a missing row', FIRST_C, '', 'C01 has no row'),
    ('a row that is there twice', LAST_ROW, f'{LAST_ROW}\n{LAST_ROW}', 'is in line'),
    ('a row too many', LAST_ROW, f'{LAST_ROW}\n{NEXT}', 'there is no requirement'),
    ('a row of several requirements', '| R001 |', '| R001, C96 |', 'a row of 2 requirements'),
    ('an unknown status', '| met |', '| done |', "'done' is no status"),
    ('a row of too few cells', f'| {R1} | met |', '| met |', 'is no status'),
    ('partly without what is missing', '| partly: not yet |', '| partly |', 'partly without saying what or why'),
    ('open without what is missing', '| partly: not yet |', '| open: |', 'open without saying what or why'),
    ('not ours without why', '| partly: not yet |', '| not ours: |', 'not ours without saying what or why'),
    ('a row that requires nothing', R1, '', 'nothing is required'),
    ('a text that does not begin as a sentence', R1, 'it does all that R001 says.', 'is no sentence'),
    ('a text that does not end as a sentence', R1, 'It does all that R001 says', 'is no sentence'),
    ('a text of a few words', R1, 'It does.', 'is no sentence'),
    ('a text that another row has', R1, 'It does all that R002 says.', 'requires the same as line'),
    ('a deviation that does not exist', 'R001 says. | met |', 'R001 says. | met (D-2) |', 'D-2 does not name R001'),
    ('a deviation of another row', 'R001 says. | met |', 'R001 says. | met (D-1) |', 'D-1 does not name R001'),
    ('a deviation that its row does not name', '| met (D-1) |', '| met |', 'D-1 names R002, which does not name it'),
)
RESULTS = (('program', 'a.b (JANUS_WORKERS=1)'), ('tool', 'it works with 2 workers'))

tap = Tap('requirements')


def deviation_problems(deviations, page):
    known = {number for row in rows_of(page) for number in row.numbers}
    table = deviations_in(deviations)
    if len(table) < 20:
        yield 'hardly any'
    for place, cells in enumerate(table, 1):
        numbers = set(numbers_in(cells[3])) if len(cells) == 5 else set()
        if cells[0] != f'D-{place}' or not numbers or not numbers <= known or not all(cells[1:]):
            yield f'{cells[0]}: D-{place} with what is said, what is done, its rows and why was expected'


def main():
    root, build = map(pathlib.Path, sys.argv[1:3])
    page, known = (root / 'docs/requirements.md').read_text(), Known(root, build)
    deviations = (root / 'docs/deviations.md').read_text()
    tap.none('the page holds', list(problems(page, known.has, deviations)))
    tap.none('the page names several hundred tests', [] if sum(len(row.tests) for row in rows_of(page)) > 700 else ['hardly any'])
    tap.none('every deviation has its number, its rows and its reason', list(deviation_problems(deviations, page)))
    tap.none('a good page is accepted', list(problems(GOOD, TESTS.__contains__, DEVIATIONS)))
    for what, was, now, said in MISTAKES:
        found = list(problems(GOOD.replace(was, now, 1), TESTS.__contains__, DEVIATIONS))
        tap.none(f'{what} is found', [] if was in GOOD and any(said in problem for problem in found) else found or ['nothing'])
    tap.none('what ran has run', never_ran(GOOD, RESULTS))
    for what, results, missing in (('a case', RESULTS[1:], ['a.b']), ('a claim', RESULTS[:1], ['tool: it works']),
                                   ('a claim of another test', [('other', 'it works')], ['a.b', 'tool: it works'])):
        found = never_ran(GOOD, results)
        tap.none(f'{what} that did not run is named', [] if found == missing else [found])
    tap.end()


main()
