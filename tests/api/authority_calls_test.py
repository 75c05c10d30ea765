#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# authority_calls_test.py BUILD ROOT — who may call what: each function of the headers asks what the table in
# docs/security.md says, of each kind of caller, in each profile; and the table has a row for each function. Speaks TAP.
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[2])
sys.path[:0] = [str(root / 'tests/programs'), str(root / 'docs/manual')]
import headers  # noqa: E402
from installed import Tap, build, environment, install, run, work_directory  # noqa: E402

RIGHTS = {'SPAWN': 1, 'BUDGET': 2, 'SYSCALL': 4, 'EXIT': 8, 'PIN': 16, 'PRIORITY': 32}
OWNER, CAGED, STRANGER, CONFINED = range(4)  # as authority_calls.c has them
TRIED_APART = {'janus_exit'}

tap = Tap()
page = (root / 'docs/security.md').read_text()
table = re.search(r'<!-- who may call what -->(.*?)<!-- end -->', page, re.S)[1]
rows = [[cell.strip() for cell in line.strip('|').split('|')] for line in table.strip().splitlines()[2:]]
says, outside = {}, {}
for names, right, caged, stranger, thread in rows:
    for name in re.findall(r'`((?:janus|JANUS)_\w+(?:\(\w+\))?)`', names):
        # What an owner outside cages may, who is not the root task, and one in a cage, and a stranger; then with each set of rights.
        said = ('n' if right == 'the root task' else 'y') + caged[0] + stranger[0]
        needs = 0 if right == 'none' else sum(RIGHTS.get(one, 64) for one in right.split(' and '))
        says[name] = said + ''.join('y' if rights & needs == needs else 'n' for rights in range(64))
        outside[name.split('(')[0]] = thread

functions = [function for header in headers.read_all(root / 'rt/include') for function in header.functions]
declared = {function.name for function in functions}
tap.check('the table has each function of the headers, and no other', declared == outside.keys(), declared ^ outside.keys())
marks = {'any': 'yes', 'task': 'no', 'owner': 'yes', 'threads outside tasks': 'only'}
wrong = [f'{function.name}: {marks[mark]}, the table says {outside.get(function.name)}' for function in functions
         for mark in re.findall(r'\[(any|task|owner|threads outside tasks)\]', function.comment.replace('\n', ' '))[-1:]
         if outside.get(function.name) != marks[mark]]
tap.check('what the table says of threads outside tasks is what the headers say', not wrong, '\n'.join(wrong))

work = work_directory()
janus_cc = install(sys.argv[1], work)
program = work / 'authority_calls'
done = build(janus_cc, root / 'tests/api/authority_calls.c', program)
if tap.check('the program compiles without a word', done.returncode == 0 and not done.stderr, done.stderr):
    for setting in ({'JANUS_PROFILE': 'service', 'JANUS_WORKERS': 2}, {'JANUS_PROFILE': 'cluster', 'JANUS_SEED': 1},
                    {'JANUS_PROFILE': 'sovereign', 'JANUS_WORKERS': 2}, {'JANUS_PROFILE': 'sovereign', 'JANUS_SEED': 1}):
        how = ' '.join(f'{name}={value}' for name, value in setting.items())
        done = run([program], env=environment(**setting), timeout=120)
        answers = dict(re.findall(r'^(\w+(?:\(\w+\))?) ([yn]+)$', done.stdout.decode(), re.M))
        tried = set(answers) | TRIED_APART
        tap.check(f'each call of the table is tried ({how})', tried == set(says), f'{tried ^ set(says)} {done.stderr[-300:]}')
        wrong = [f'{name}: {answers[name]}, the table says {says[name]}' for name in answers if name in says and answers[name] != says[name]]
        tap.check(f'each call asks what the table says ({how})', answers and not wrong, '\n'.join(wrong))
        for way, may in enumerate(says['janus_exit']):
            status = run([program, 'exit', str(way)], env=environment(**setting)).returncode
            if status != (7 if may == 'y' else 8):
                tap.check(f'janus_exit asks what the table says ({how})', False, f'way {way}: status {status}')
tap.end()
