#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# program_test.py BUILD ROOT COMPILER SOURCE... — the tests of SOURCE, which run in tasks (in_task.h), and those of
# program/, compiled by the installed janus-cc into one static file, and run in main with several numbers of workers and
# in deterministic mode. Speaks TAP.
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[2])
compiler = sys.argv[3]
sys.path.insert(0, str(root / 'tests/programs'))
from installed import Tap, environment, install, run, work_directory  # noqa: E402

settings = [{'JANUS_WORKERS': n} for n in (1, 2, 4, 8, 256)] + [{'JANUS_SEED': s, 'JANUS_WORKERS': n} for s, n in
                                                               ((1, 1), (2, 4), (3, 256))]
tap = Tap()
work = work_directory()
janus_cc = install(sys.argv[1], work)
sources = sys.argv[4:] + sorted((root / 'tests/api/program').glob('*.cpp'))
sources += [root / 'tests/harness' / name for name in ('runner.cpp', 'program_main.cpp')]
program = work / 'program'
done = run([janus_cc, '-std=c++20', '-O2', '-g', '-Wall', '-Wextra', '-Werror', '-I', root, *sources, '-o', program],
           timeout=300, env=environment(CC=compiler, CXX={'gcc': 'g++'}.get(compiler, 'clang++')))
if tap.check(f'janus-cc with {compiler} compiles the tests without a word', done.returncode == 0 and not done.stderr,
             done.stderr.decode()):
    for setting in settings:
        how = ' '.join(f'{name}={value}' for name, value in setting.items())
        done = run([program], timeout=120, env=environment(**setting))
        lines = done.stdout.decode(errors='replace').splitlines()
        why = []
        for line in lines:
            verdict = re.match(r'(not )?ok \d+ - (.*)', line)
            if verdict:
                tap.check(f'{verdict.group(2)} ({how})', not verdict.group(1), '\n'.join(why))
                why = []
            elif line.startswith('#'):
                why.append(line[1:].strip())
        planned = any(re.fullmatch(r'1\.\.[1-9]\d*', line) for line in lines)
        tap.check(f'the program ends as it should ({how})', planned and done.returncode in (0, 1),
                  f'status {done.returncode} after {lines[-1] if lines else "nothing"}\n' +
                  done.stderr.decode(errors='replace')[-800:])
tap.end()
