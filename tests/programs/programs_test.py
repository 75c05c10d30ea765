#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs, compiled by the installed janus-cc, do what they say with any number of workers.

    programs_test.py BUILD_DIRECTORY
"""
import shutil
import sys

from installed import Tap, build, compilers, environment, here, install, programs, run, work_directory

tap = Tap()
work = work_directory()
try:
    janus_cc = install(sys.argv[1], work)
    for compiler in compilers:
        for name, (size, expected) in programs.items():
            program = work / f'{name}.{compiler}'
            done = build(janus_cc, here / name, program, compiler)
            if not tap.check(f'janus-cc with {compiler} compiles {name} without a word',
                             done.returncode == 0 and not done.stderr + done.stdout, done.stderr + done.stdout):
                continue
            for workers in (1, 2, 4, 8, 256):
                done = run([program, size], env=environment(JANUS_WORKERS=workers))
                ok = done.returncode == 0 and not done.stderr
                ok = ok and (expected is None or done.stdout.decode() == expected)
                tap.check(f'{name} ({compiler}) is right with {workers} workers', ok,
                          f'status {done.returncode}\n{done.stdout[-400:].decode()}\n{done.stderr[-800:].decode()}')
            for bad in (['x'], ['0'], ['3x'], [''], ['3', '4']):
                done = run([program, *bad], env=environment())
                tap.check(f'{name} ({compiler}) refuses {bad} with status 2',
                          done.returncode == 2 and done.stderr.startswith(b'usage: ') and not done.stdout, done)
        hello = work / f'hello.c.{compiler}'
        if hello.exists():
            lines = run([hello, '7'], env=environment()).stdout.decode().splitlines()
            ids = [int(line.rsplit(' ', 1)[1]) for line in lines if line.startswith('hello from task ')]
            tap.check(f'hello.c ({compiler}): seven tasks of different names greet', len(lines) == 7 == len(set(ids)), lines)
            done = run([hello, '2'], env={})
            tap.check(f'hello.c ({compiler}) needs no environment', done.returncode == 0, done)
        hello = work / f'hello.cpp.{compiler}'
        if hello.exists():
            lines = run([hello, '7'], env=environment()).stdout.decode().splitlines()
            tap.check(f'hello.cpp ({compiler}): every greeting arrives once',
                      sorted(lines) == [f'hello number {i}' for i in range(7)], lines)
finally:
    shutil.rmtree(work, ignore_errors=True)
tap.end()
