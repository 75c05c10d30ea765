#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# valgrind_test.py BUILD — programs under the real valgrind: memcheck reports nothing in correct programs, and reports
# the error in an incorrect one. Speaks TAP.
import pathlib
import re
import shutil
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / 'programs'))
from installed import Tap, environment, install, run, work_directory  # noqa: E402

ERRORS = 99
tap = Tap()
work = work_directory()


def checked(program, *arguments, **settings):
    return run(['valgrind', '--quiet', f'--error-exitcode={ERRORS}', program, *arguments], env=environment(**settings), timeout=240)


def clean():
    for source, arguments, status in (('debugger/standing.c', ['run'], 0), ('programs/fib.c', ['16'], 0), ('programs/skynet.c', ['1000'], 0),
                                      ('programs/hello.c', ['20'], 0), ('programs/primes.c', ['200'], 0), ('programs/nqueens.c', ['6'], 0), ('programs/growth.c', ['kernel'], 0),
                                      ('programs/growth.c', ['recursion', '20'], 0), ('programs/hello.cpp', ['3'], 0)):
        program = work / pathlib.Path(source).name
        made = run([janus_cc, '-O2', '-g', here.parent / source, '-o', program], env=environment(), timeout=60)
        if not tap.check(f'{source} compiles', made.returncode == 0, made.stderr.decode()):
            continue
        for settings in ({'JANUS_WORKERS': 3}, {'JANUS_WORKERS': 4, 'JANUS_STACK': 65536}, {'JANUS_WORKERS': 1}, {'JANUS_SEED': 1}):
            if source.endswith('standing.c') and 'JANUS_WORKERS' not in settings or settings.get('JANUS_WORKERS') == 1 and 'standing' in source:
                continue  # one of its tasks spins until others have come
            done = checked(program, *arguments, **settings)
            tap.check(f'no error in {program.name} {settings}', done.returncode == status and b'uninitialised' not in done.stderr and
                      b'Invalid' not in done.stderr, f'{done.returncode} {done.stderr[-2000:].decode()}')


def errors():
    """Errors on a task's own stack, which valgrind must know of to report them."""
    source = work / 'wrong.c'
    source.write_text('#include <janus/rt.h>\n'
                      '__attribute__((noinline)) static int64_t look(void* arg) {\n'
                      '  volatile int* where = __builtin_alloca(64);\n  (void)arg;\n'
                      '  if (where[3] == 4711) janus_print(1, "that one\\n");\n  return 0;\n}\n'
                      'int main(void) {\n  janus_nursery* nursery = janus_nursery_open(NULL, NULL);\n'
                      '  (void)janus_nursery_spawn_in(nursery, look, NULL, NULL);\n  (void)janus_nursery_await(nursery, NULL);\n  return 0;\n}\n')
    run([janus_cc, '-O1', '-g', source, '-o', work / 'wrong'], env=environment(), timeout=60)
    done = checked(work / 'wrong', JANUS_WORKERS=2)
    tap.check('a jump that depends on an uninitialised value is an error, reported with the function', done.returncode == ERRORS and
              re.search(rb'depends on uninitialised value(.*\n)+?.*look \(wrong\.c:\d+\)', done.stderr), done)
    sections = subprocess.run(['nm', work / 'wrong'], capture_output=True, text=True, timeout=60).stdout
    run([janus_cc, '-O1', '-s', source, '-o', work / 'small'], env=environment(), timeout=60)
    small = (work / 'small').read_bytes()
    request = bytes.fromhex('48c1c703' '48c1c70d' '48c1c73d' '48c1c733' '4887db')
    tap.check('the code that announces stacks to valgrind is not in a stripped program', 'janus_valgrind' in sections and
              request in (work / 'wrong').read_bytes() and request not in small)


janus_cc = install(sys.argv[1], work)
if shutil.which('valgrind'):
    clean()
    errors()
else:
    tap.skip('valgrind finds nothing wrong', 'valgrind is not installed')
tap.end()
