#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# programs_test.py BUILD — the programs, compiled by the installed janus-cc, give the right results with any number of
# workers, and from several seeds.
import re
import sys

from installed import Tap, build, compilers, environment, here, install, programs, run, work_directory

tap = Tap()
work = work_directory()
root = here.parent.parent


def every_function(compiler):
    """A program that takes the address of every function of the headers."""
    frozen = (root / 'tests/abi/frozen.c').read_text()
    names = sorted(set(re.findall(r'^[\w* ]+?\b(janus_(?!test_)\w+)\(', frozen, re.M)))
    source = work / 'every.c'
    source.write_text('#include <janus/llvm.h>\n#include <janus/rt.h>\n#include <janus/supervise.h>\n#include <janus/sync.h>\n'
                      'typedef void (*function)(void);\nstatic function volatile all[] = {\n' +
                      ''.join(f'    (function){name},\n' for name in names) +
                      '};\nint main(void) {\n'
                      '  for (unsigned i = 0; i < sizeof all / sizeof *all; ++i)\n    if (!all[i]) return 1;\n'
                      f'  return sizeof all / sizeof *all != {len(names)};\n}}\n')
    done = build(janus_cc, source, work / 'every', compiler)
    tap.check(f'a program with all {len(names)} functions of the headers links ({compiler})',
              len(names) > 70 and done.returncode == 0, done.stderr)
    tap.check(f'and runs ({compiler})', run([work / 'every'], env=environment()).returncode == 0)


def programs_of_the_readme(compiler):
    """The programs in README.md do what they should."""
    blocks = re.findall(r'(?:^    .*\n|^\n)+', (root / 'README.md').read_text(), re.M)
    texts = [re.sub(r'^\$.*\n', '', re.sub('^    ', '', block, flags=re.M), flags=re.M) for block in blocks]
    outputs = {'rt.h': ['hello, moon, from task', 'hello, stars, from task'], 'rt.hpp': ['75025']}
    for header, expected in outputs.items():
        text = next((t for t in texts if f'#include <janus/{header}>' in t and 'int main(' in t), '')
        source = work / ('readme.cpp' if header == 'rt.hpp' else 'readme.c')
        source.write_text(text)
        done = build(janus_cc, source, work / 'readme', compiler)
        shown = run([work / 'readme'], env=environment()).stdout.decode() if done.returncode == 0 else done.stderr
        tap.check(f'the README program with {header} runs ({compiler})', all(line in shown for line in expected), shown)


janus_cc = install(sys.argv[1], work)
for compiler in compilers:
    every_function(compiler)
    programs_of_the_readme(compiler)
    for name, (size, expected) in programs.items():
        program = work / f'{name}.{compiler}'
        done = build(janus_cc, here / name, program, compiler)
        if not tap.check(f'janus-cc with {compiler} compiles {name} without a word',
                         done.returncode == 0 and not done.stderr + done.stdout, done.stderr + done.stdout):
            continue
        for setting in ({'JANUS_WORKERS': workers, **seed} for workers, seed in [(n, {}) for n in (1, 2, 4, 8, 256)] + [
                (1 + n % 4, {'JANUS_SEED': n}) for n in range(1, 7)]):
            done = run([program, size], env=environment(**setting))
            ok = done.returncode == 0 and not done.stderr
            ok = ok and (expected is None or done.stdout.decode() == expected)
            tap.check(f'{name} ({compiler}) is right with {setting}', ok,
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
tap.end()
