#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# cancelled_calls_test.py BUILD ROOT — each function of the headers answers in a cancelled task as the table in
# docs/nurseries.md says, and the table has a row for each function. Speaks TAP.
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[2])
sys.path[:0] = [str(root / 'tests/programs'), str(root / 'docs/manual')]
import headers  # noqa: E402
from installed import Tap, build, environment, install, run, work_directory  # noqa: E402

CANCELLED, STATE, UNSUPPORTED = -1, -4106, -4108
# The meaning of a row by its first word: a predicate of the answers in a task and in a cancelled task.
MEANINGS = {
    'works': lambda as_ever, cancelled: cancelled == as_ever != UNSUPPORTED,
    'cancelled': lambda as_ever, cancelled: as_ever == 0 and cancelled == CANCELLED,
    'awaits': lambda as_ever, cancelled: as_ever == 0 and cancelled == CANCELLED,
    'says': lambda as_ever, cancelled: as_ever == 0 and cancelled == 1,
    'refused': lambda as_ever, cancelled: as_ever >= 0 and cancelled == STATE,
    'not': lambda as_ever, cancelled: as_ever == cancelled == UNSUPPORTED,
}
TRIED_APART = {'janus_exit'}

tap = Tap()
page = (root / 'docs/nurseries.md').read_text()
table = re.search(r'<!-- calls in a cancelled task -->(.*?)<!-- end -->', page, re.S)[1]
says = {name: meaning for names, meaning in re.findall(r'^\| (`.*?) \| (\w+).* \|$', table, re.M)
        for name in re.findall(r'`(janus_\w+(?:\(\w+\))?|JANUS_LOOP_\w+)`', names)}
declared = {function.name for header in headers.read_all(root / 'rt/include') for function in header.functions}
listed = {name.split('(')[0] for name in says}
tap.check('the table has each function of the headers, and no other', declared == listed, declared ^ listed)

work = work_directory()
janus_cc = install(sys.argv[1], work)
program = work / 'cancelled_calls'
done = build(janus_cc, root / 'tests/api/cancelled_calls.c', program)
if tap.check('the program compiles without a word', done.returncode == 0 and not done.stderr, done.stderr):
    for setting in ({'JANUS_WORKERS': 1}, {'JANUS_WORKERS': 2}, {'JANUS_SEED': 1}):
        how = ' '.join(f'{name}={value}' for name, value in setting.items())
        done = run([program], env=environment(**setting))
        answers = {name: (int(as_ever), int(cancelled)) for name, as_ever, cancelled in
                   re.findall(r'^(\w+(?:\(\w+\))?) (-?\d+) (-?\d+)$', done.stdout.decode(), re.M)}
        tried = set(answers) | TRIED_APART
        tap.check(f'each call of the table is tried ({how})', tried == set(says), tried ^ set(says))
        wrong = [f'{name}: {answers[name][0]} in a task, {answers[name][1]} in a cancelled one, the table says "{says[name]}"'
                 for name in answers if name in says and not MEANINGS[says[name]](*answers[name])]
        tap.check(f'each call answers in a cancelled task as the table says ({how})', answers and not wrong, '\n'.join(wrong))
    statuses = [run([program, *arguments]).returncode for arguments in (['exit'], ['exit', 'cancelled'])]
    tap.check('janus_exit ends the process from a cancelled task, too', statuses == [7, 7], statuses)
tap.end()
