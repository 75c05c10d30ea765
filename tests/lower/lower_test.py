#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# lower_test.py BUILD — janus-lower: each example prints what it says, LLVM's verifier takes each output, and what is wrong is
# refused with its place.
import sys

from errors import errors
from lowered import Tap, compile_by, environment, here, install, llvms, lower, prints_what_is_expected, run, skip_all, verify, work_directory

if not llvms:
    skip_all('neither LLVM 14 nor 19 is installed')
tap = Tap()
work = work_directory()
janus_cc = install(sys.argv[1], work)
examples = sorted((here / 'examples').glob('*.qtjir')) + sorted((here / 'examples').glob('*.ll'))


def examples_run():
    for i, example in enumerate(examples):
        # Both linkers' programs are the same objects: every example by one of them, in turns.
        compiler = ('gcc', llvms[0][1])[i % 2]
        program = work / example.stem
        done = compile_by(janus_cc, [example], program, compiler=compiler)
        if not tap.check(f'janus-cc with {compiler} compiles {example.name} without a word', done.returncode == 0 and not done.stderr, done.stderr):
            continue
        for workers in (1, 4):
            ran = run([program], env=environment(JANUS_WORKERS=workers))
            tap.check(f'{example.name} prints what it says with {workers} workers',
                      ran.returncode == 0 and not ran.stderr and prints_what_is_expected(example, ran.stdout.decode()), ran.stdout + ran.stderr)


def outputs_are_verified():
    for number, _, verifier in llvms:
        for example in examples:
            if number >= 17 and example.name.endswith('_typed.ll'):
                continue
            done = lower(janus_cc, example, f'--llvm={number}')
            said = done.stderr.decode() or verify(done.stdout, verifier)
            tap.check(f'LLVM {number} verifies what comes of {example.name}', done.returncode == 0 and not said, said)


def errors_are_told():
    for name, (suffix, text, wanted) in errors.items():
        source = work / f'wrong.{suffix}'
        source.write_text(text)
        done = lower(janus_cc, source)
        said = done.stderr.decode().replace(f'{source}:', '')
        tap.check(f'{suffix}: {name}', done.returncode == 1 and said.splitlines()[:1] == [wanted] and not done.stdout, said)


examples_run()
outputs_are_verified()
errors_are_told()
tap.end()
