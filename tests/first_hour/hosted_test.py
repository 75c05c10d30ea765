#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# hosted_test.py BUILD — programs with tasks made by janus-cc --hosted, under the sanitizers of the real compilers:
# errors are reported, with one worker and with three; correct programs run in silence; and unsupported combinations are
# refused in one line. Speaks TAP.
import pathlib
import re
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / 'programs'))
from installed import Tap, compilers, environment, install, programs, run, work_directory  # noqa: E402

tap = Tap()
work = work_directory()
janus_cc = install(sys.argv[1], work)
CXX = {'gcc': 'g++', 'clang': 'clang++', 'clang-14': 'clang++-14'}
RACE, ERROR = 66, 77
# By default ThreadSanitizer waits for a second at the end, for late races.
SANITIZERS = {'TSAN_OPTIONS': f'atexit_sleep_ms=0:exitcode={RACE}', 'ASAN_OPTIONS': f'exitcode={ERROR}',
              'LSAN_OPTIONS': f'exitcode={ERROR}', 'UBSAN_OPTIONS': 'halt_on_error=1'}
EVERYWHERE = ({'JANUS_WORKERS': 1}, {'JANUS_WORKERS': 3}, {'JANUS_SEED': 1})
# The leak checker needs system calls (ptrace) that are not allowed everywhere.
in_order = ['await', 'await-all', 'join', 'channel', 'close', 'park', 'cancel', 'locks', 'realloc', 'contained', 'keep', 'go-on']
races = {'race': 'add_without_order', 'race-with-parent': 'race_with_parent', 'race-after-send': 'write_after_send'}
errors = {'overflow': ('heap-buffer-overflow', 'overflow_task'), 'after-free': ('heap-use-after-free', 'after_free_task'),
          'double-free': ('attempting double-free', 'double_free_task'), 'stack': ('stack-buffer-overflow', 'stack_task'),
          'receive': ('stack-buffer-overflow', 'receive_too_much')}


def cc(compiler, *arguments, **settings):
    return subprocess.run([janus_cc, *map(str, arguments)], capture_output=True, text=True, cwd=work, timeout=240,
                          env=environment(CC=compiler, CXX=CXX.get(compiler, 'g++'), **settings))


def make(compiler, sanitizer, source, *options):
    """The path of the program, or None."""
    program = work / f'{pathlib.Path(source).name}.{sanitizer}.{compiler}'
    done = cc(compiler, '--hosted', '-O1', '-g', '-Wall', '-Wextra', *([f'-fsanitize={sanitizer}'] if sanitizer else []), here.parent / source, *options,
              '-o', program)
    ok = tap.check(f'{source} is compiled in silence ({sanitizer}, {compiler})', done.returncode == 0 and not done.stderr, done.stderr)
    return program if ok else None


def watched(program, *arguments, **settings):
    done = run([program, *arguments], env=environment(**SANITIZERS, **settings), timeout=240)
    return done.returncode, done.stdout.decode(), done.stderr.decode(errors='replace')


def is_silent(claim, program, *arguments, places=EVERYWHERE, said=r'done\n', may_say=''):
    found = [(where, *watched(program, *arguments, **where)) for where in places]
    bad = [f for f in found if f[1] != 0 or not re.search(said, f[2]) or re.sub(may_say, '', f[3])]
    tap.check(claim, not bad, bad and f'{bad[0][:2]} {bad[0][2][-300:]}\n{bad[0][3][:2000]}')


def is_reported(claim, program, what, status, patterns, places=EVERYWHERE):
    found = [(where, *watched(program, what, **where)) for where in places]
    bad = [f for f in found if f[1] != status or not all(re.search(p, f[3]) for p in patterns)]
    tap.check(claim, not bad, bad and f'{bad[0][:2]}\n{bad[0][3][:2000]}')


def thread(compiler):
    program = make(compiler, 'thread', 'first_hour/programs/watched.c')
    for what, function in races.items() if program else ():
        is_reported(f'ThreadSanitizer reports {what}, on one worker, on three and by a seed ({compiler})', program, what, RACE,
                    [r'ThreadSanitizer: data race', rf'#\d+ {function} .*watched\.c:\d+', r"'task \d+'"])
    for what in in_order if program else ():
        is_silent(f'and is silent about {what} ({compiler})', program, what, may_say=r'janus: .*\n')


def address(compiler, leaks):
    program = make(compiler, 'address', 'first_hour/programs/watched.c')
    for what, (kind, function) in errors.items() if program else ():
        is_reported(f'AddressSanitizer reports {what} ({compiler})', program, what, ERROR, [kind, rf'#\d+ \S+ in {function} .*watched\.c:\d+'])
    for what in in_order if program else ():
        is_silent(f'and is silent about {what} ({compiler})', program, what, may_say=r'janus: .*\n')
    if program and leaks:
        is_reported(f'a block that a task lost is reported ({compiler})', program, 'leak', ERROR, [r'leak of \d+ byte', r'leak_task .*watched\.c'])
    elif program:
        tap.skip(f'a block that a task lost is reported ({compiler})', 'the leak checker may not look at threads here')


def programs_of_the_book(compiler):
    for sanitizer in ('thread', 'address'):
        program = make(compiler, sanitizer, 'first_hour/programs/watched.cpp')
        if program:
            is_silent(f'C++ in order is silent ({sanitizer}, {compiler})', program)
        for name, (size, expected) in programs.items():
            if compiler != 'gcc' and name not in ('fib.c', 'primes.c', 'hello.cpp'):
                continue
            if '#include <mutex>' in (here.parent / 'programs' / name).read_text():
                continue  # the host's, which holds the worker
            program = make(compiler, sanitizer, f'programs/{name}')
            if program:
                is_silent(f'{name} is silent ({sanitizer}, {compiler})', program, {'fib.c': '14', 'uts.c': '20'}.get(name, size), said='.',
                          places=EVERYWHERE[:2])
    program = make(compiler, 'thread', 'programs/treehash.c', '-lbearssl') if compiler == 'gcc' else None
    if program:
        is_silent('treehash is silent (thread)', program, here.parent / 'programs', said=r'treehash\.c\n', may_say=r'treehash: .*\n')
        program = make(compiler, 'address', 'programs/treehash.c', '-lbearssl')
        is_silent('treehash is silent (address)', program, here.parent / 'programs', said=r'treehash\.c\n', may_say=r'treehash: .*\n')


def without_sanitizer(compiler):
    program = make(compiler, '', 'first_hour/programs/watched.c')
    for what in in_order if program else ():
        is_silent(f'without a sanitizer it runs: {what} ({compiler})', program, what, may_say=r'janus: .*\n')
    program = make(compiler, 'undefined', 'programs/fib.c')
    if program:
        is_silent(f'with -fsanitize=undefined it runs ({compiler})', program, '14', said='fib')
    cc(compiler, '--hosted', '-c', '-O1', '-fsanitize=address', here / 'programs/watched.c', '-o', 'part.o')
    done = cc(compiler, '--hosted', '-fsanitize=address', 'part.o', '-lm', '-pthread', '-o', 'parts')
    status, _, said = watched(work / 'parts', 'overflow') if done.returncode == 0 else (None, '', done.stderr)
    tap.check(f'compiled and linked apart it is the same ({compiler})', status == ERROR and 'heap-buffer-overflow' in said, said)


def end_of_program():
    source = work / 'ends.c'
    source.write_text('#include <janus/rt.h>\n#include <stdio.h>\n#include <stdlib.h>\n#ifndef __JANUS_HOSTED__\n#error\n#endif\n'
                      'static void late(void) { puts("late"); fflush(stdout); }\n'
                      'int main(int argc, char **argv) {\n  (void)argv;\n  atexit(late);\n  puts("ready");\n  fflush(stdout);\n'
                      '  while (argc > 1 && janus_yield() == 0) {}\n  return argc > 1 ? JANUS_CANCELLED : 5;\n}\n')
    for options in ([], ['-fsanitize=thread'], ['-fsanitize=address']):
        done = cc('gcc', '--hosted', *options, source, '-o', 'ends')
        program = subprocess.Popen([work / 'ends', 'wait'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**SANITIZERS, JANUS_WORKERS=2))
        program.stdout.readline()
        program.terminate()
        out, err = program.communicate(timeout=60)
        tap.check(f'SIGTERM cancels main, and what it registered runs {options}', program.returncode == 143 and out == b'late\n', (done, program.returncode, out, err))
        ended = run([work / 'ends'], env=environment(**SANITIZERS))
        tap.check(f'the status is main\'s {options}', ended.returncode == 5, ended)


def refuses(claim, pattern, *arguments, compiler='gcc', **settings):
    done = cc(compiler, *arguments, '-o', 'out', **settings)
    lines = done.stderr.splitlines()
    tap.check(claim, done.returncode == 1 and len(lines) == 1 and re.search(pattern, lines[0]) and not (work / 'out').exists(),
              f'{done.returncode}\n{done.stderr}')


def refusals():
    whole = work / 'whole.c'
    whole.write_text('int main(void) { return 7; }\n')
    refuses('--hosted with --target=bare is refused', 'leave out --hosted or --target=bare', '--hosted', '--target=bare', whole)
    refuses('with -nostdlib, too', 'leave out -nostdlib', '--hosted', '-nostdlib', whole)
    refuses('with -nostartfiles, too', 'leave out .*-nostartfiles', '--hosted', '-nostartfiles', whole)
    refuses('-static with a sanitizer is refused', 'leave out -static', '--hosted', '-static', '-fsanitize=address', whole)
    refuses('-shared is refused', 'makes programs', '--hosted', '-shared', whole)
    refuses('sanitizers that would have to see the runtime are refused', 'address, leak, thread and undefined', '--hosted', '-fsanitize=memory', whole)
    refuses('without --hosted the line says where sanitizers are', '--hosted', '-fsanitize=address', whole)
    # Simulates a compiler without the library: its linker finds everything else.
    linker = work / 'tools/ld'
    linker.parent.mkdir()
    for name, line in {'address': 'cannot find -lasan: No such file or directory', 'thread': 'cannot find libtsan_preinit.o: No such file or directory',
                       'undefined': 'cannot find /usr/lib/clang/14/lib/linux/libclang_rt.ubsan_standalone-x86_64.a: No such file or directory'}.items():
        linker.write_text(f'#!/bin/sh\necho "/usr/bin/ld: {line}" >&2\nexit 1\n')
        linker.chmod(0o755)
        refuses(f'without the library for -fsanitize={name} one line says which package has it', r'lib\S*san.* is not installed .*libclang-rt-N-dev',
                '--hosted', f'-fsanitize={name}', f'-B{linker.parent}', whole)
    done = cc('gcc', '--hosted', '-static', whole, '-o', 'out')
    tap.check('-static without a sanitizer works', done.returncode == 0 and run([work / 'out'], env=environment()).returncode == 7, done.stderr)


def has_leak_checker(compiler):
    source = work / 'lost.c'
    source.write_text('#include <stdlib.h>\nint main(void) { void *volatile lost = malloc(9); lost = 0; return lost != 0; }\n')
    done = subprocess.run([compiler, '-fsanitize=address', source, '-o', work / 'lost'], capture_output=True)
    return done.returncode == 0 and b'9 byte' in run([work / 'lost'], env=environment(**SANITIZERS)).stderr


for compiler in compilers:
    leaks = has_leak_checker(compiler)
    if not leaks:
        SANITIZERS['ASAN_OPTIONS'] += ':detect_leaks=0'
    thread(compiler)
    address(compiler, leaks)
    programs_of_the_book(compiler)
    without_sanitizer(compiler)
end_of_program()
refusals()
tap.end()
