#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# hostile_test.py [--fewer] BUILD [PROGRAM...] — tests/programs/hostile: each program is an attack and judges itself;
# its name is the claim. Compiled by the installed janus-cc, and run on 1, 2 and 4 workers and with a seed. Speaks TAP,
# and writes the table of attacks to BUILD/hostile.txt. With --fewer on 2 workers and with a seed, with shorter
# measurements and without the table. docs/decisions/0150
import concurrent.futures
import pathlib
import re
import sys
import time

from installed import Tap, environment, here, install, run, work_directory

root = here.parent.parent
SETTINGS = ({'JANUS_WORKERS': 1}, {'JANUS_WORKERS': 2}, {'JANUS_WORKERS': 4}, {'JANUS_SEED': 7, 'JANUS_WORKERS': 3})
FEWER = (SETTINGS[1], SETTINGS[3])
# From a seed with one worker, the ops of each kind of neighbour are judged.
ALSO = {name: ({'JANUS_SEED': 7, 'JANUS_WORKERS': 1},) for name in ('neighbours_keep_their_share', 'priorities_stay_in_their_cage')}
SHORT_ROUNDS = {'neighbours_keep_their_share': ['8']}  # milliseconds
PATIENCE = 120
OPTIONS = ('-O2', '-g', '-Wall', '-Wextra', '-Werror')


def claim_of(source):
    return source.stem.replace('_', ' ')


def directive(source, name, otherwise):
    """The words of a line `// Name: words` at the head of the source."""
    found = re.search(rf'^// {name}: (.*)$', source.read_text(), re.M)
    return found[1] if found else otherwise


def compile_program(janus_cc, source, output):
    """Compiles a program with janus-cc, or, if it has `// Host:`, a host program with a libc."""
    standard = '-std=c++20' if source.suffix == '.cpp' else '-std=c11'
    if not directive(source, 'Host', ''):
        return run([janus_cc, *OPTIONS, standard, source, '-o', output], timeout=120, env=environment())
    plain = environment(PKG_CONFIG_PATH=janus_cc.parent.parent / 'lib/pkgconfig')
    libraries = run(['pkg-config', '--cflags', '--libs', 'janus-rt'], env=plain).stdout.decode().split()
    return run(['gcc', *OPTIONS, standard, source, *libraries, '-o', output], timeout=120, env=plain)


def how_of(settings):
    if 'JANUS_SEED' not in settings: return f"{settings['JANUS_WORKERS']} workers"
    return 'seeded, 1 worker' if settings['JANUS_WORKERS'] == 1 else 'seeded'


# Functions that need no step in hostile/calls.h, by reason. Functions that are free of charge (docs/budgets.md) need
# none either.
NO_STEP = {
    'are refused in tasks': 'janus_rt_create janus_rt_run janus_rt_destroy janus_rt_init janus_rt_try_init janus_rt_shutdown '
                            'janus_scheduler_create janus_scheduler_shutdown',
    'are others by another name': 'janus_scheduler_spawn janus_scheduler_yield',
    'are inline, in the caller': 'janus_yield_check janus_loop_check janus_loop_end janus_run_task32 janus_run_noarg janus_noarg_arg',
}


def declared(include):
    """The functions of the public headers, and whether each has parameters."""
    text = ''.join(re.sub(r'//.*|^#.*', '', path.read_text(), flags=re.M) for path in sorted(include.rglob('*.h')))
    return {name: taken.strip() not in ('', 'void') for name, taken in
            re.findall(r'^(?:static inline |JANUS_\w+(?:\([^;{]*?\)+)? )?[\w ]+?[ *]+(janus_\w*[^\W_])\(([^;{]*)\)(?:;| \{)', text, re.M)}


def forgotten(include):
    functions = declared(include)
    steps = (here / 'hostile/calls.h').read_text().split('static const step steps[]')[1]
    free = (root / 'docs/budgets.md').read_text().split('## Free of charge')[1].split('\n## ')[0]
    known = set(re.findall(r'\bjanus_\w+', steps + free + ' '.join(NO_STEP.values())))
    tried = set(re.findall(r'\b(janus_\w+)\(', (here / 'hostile/edge_calls_are_errors.cpp').read_text()))
    return functions, functions.keys() - known, {name for name, takes in functions.items() if takes} - tried


class Figures:
    """What the programs measured: lines `figure: KEY: VALUE`, one column of the table per run."""

    def __init__(self):
        self.rows = {}

    def add(self, how, output):
        for key, value in re.findall(r'^figure: ([^:\n]+): (.*)$', output, re.M):
            self.rows.setdefault(key, {})[how] = value


def main():
    tap, figures, outcomes = Tap(), Figures(), {}
    arguments = sys.argv[1:]
    chosen = SETTINGS
    if arguments[0] == '--fewer':
        chosen = FEWER
        del arguments[0]
    build, names = arguments[0], arguments[1:]
    work = work_directory()
    sources = sorted(path for path in (here / 'hostile').iterdir() if path.suffix in ('.c', '.cpp'))
    if names:
        sources = [source for source in sources if source.stem in names]
    janus_cc = install(build, work)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        built = list(pool.map(lambda source: compile_program(janus_cc, source, work / source.stem), sources))
    for source, done in zip(sources, built):
        ok = tap.check(f'{claim_of(source)}: compiles without a word', done.returncode == 0 and not done.stderr,
                       done.stderr.decode())
        statuses = [int(word) for word in directive(source, 'Status', '0').split()]
        is_seeded = directive(source, 'Seeded', 'yes') == 'yes'
        for settings in (*chosen, *ALSO.get(source.stem, ())) if ok else ():
            if 'JANUS_SEED' in settings and not is_seeded:
                continue
            begin = time.monotonic()
            arguments_of = SHORT_ROUNDS.get(source.stem, []) if chosen is FEWER else []
            end = run([work / source.stem, *arguments_of], env=environment(**settings), timeout=PATIENCE)
            output = end.stdout.decode(errors='replace')
            ok = tap.check(f'{claim_of(source)} ({how_of(settings)})', end.returncode in statuses,
                           f'status {end.returncode} after {time.monotonic() - begin:.1f} s\n{output}'
                           f'{end.stderr[-600:].decode(errors="replace")}') and ok
            figures.add(how_of(settings), output)
        outcomes[claim_of(source)] = 'holds' if ok else 'BROKEN'
    if not names:
        page = (root / 'docs/hostile.md').read_text()
        functions, without_step, untried = forgotten(janus_cc.parent.parent / 'include/janus')
        tap.check('every function is a step of hostile/calls.h, or need not be', len(functions) > 70 and not without_step, without_step)
        tap.check('every function that takes anything is tried with what it was not made for', not untried, untried)
        missing = [claim for claim in outcomes if f'| {claim} |' not in page]
        tap.check('docs/hostile.md has a row for each program', not missing, '\n'.join(missing))
    if chosen is SETTINGS:
        pathlib.Path(build, 'hostile.txt').write_text(table(outcomes, figures, chosen))
    tap.end()


def table(outcomes, figures, chosen):
    """The claims with their outcomes, and what the programs measured, with a column for each setting."""
    width = max(map(len, [*outcomes, *figures.rows]), default=0)
    lines = [f'{claim:{width}}  {outcome}' for claim, outcome in outcomes.items()]
    if figures.rows:
        columns = [how_of(settings) for settings in chosen]
        lines += ['', ' ' * width + ''.join(f'  {column:>18}' for column in columns)]
        for key, row in figures.rows.items():
            lines.append(f'{key:{width}}' + ''.join(f'  {row.get(column, "-"):>18}' for column in columns))
    return '\n'.join(lines) + '\n'


main()
