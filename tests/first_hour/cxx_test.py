#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# cxx_test.py BUILD — C++ with janus-cc: the documentation's snippets compile as printed, containers behave as the
# host's, and an unsupported feature is an error that names what tasks have instead. Speaks TAP.
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
sys.path.insert(0, str(here.parent / 'programs'))
from installed import Tap, compilers, environment, install, run, work_directory  # noqa: E402

tap = Tap()
work = work_directory()
janus_cc = install(sys.argv[1], work)
cxx_of = {c: c.replace('clang', 'clang++').replace('gcc', 'g++') for c in compilers}


def cc(*arguments, compiler='gcc', text=None):
    return subprocess.run([janus_cc, *map(str, arguments)], capture_output=True, text=True, input=text, cwd=work,
                          env=environment(CC=compiler, CXX=cxx_of[compiler]), timeout=120)


def compiles(claim, *arguments, **options):
    done = cc(*arguments, **options)
    return tap.check(claim, done.returncode == 0 and done.stderr == '', done.stderr or done.returncode)


# --- The book ----------------------------------------------------------------------------------------------------------

# Declarations that the snippets presuppose.
STAND_INS = '''#include <janus/rt.h>
#include <janus/supervise.h>
int64_t fn(void *), run_plugin(void *), serve(void *);
void use(long);
extern void *arg, *code, *connection;
extern janus_result result;
extern long n;
'''
PRINTED = {'README.md': ['hello, moon, from task 2\nhello, stars, from task 3\n', '75025\n']}


def snippets(page):
    """(text, whether it is a whole program) of each indented block of C or C++ that uses the runtime."""
    for block in re.findall(r'(?:^    .*\n|^\n)+', page.read_text(), re.M):
        text = re.sub(r'^\$.*\n?', '', re.sub('^    ', '', block, flags=re.M), flags=re.M).strip('\n')
        if '#include <janus/' in text:
            yield text, True
        elif re.search(r'^(?:const )?(?:janus_\w+ \*?\w+ =|auto \w+ = |long \w+ = janus_)', text, re.M):
            yield text, False


def the_book():
    count = 0
    for page in (root / 'README.md', *sorted((root / 'docs').glob('*.md'))):
        for number, (text, alone) in enumerate(snippets(page)):
            count += 1
            language = 'c++' if 'rt.hpp' in text else 'c'
            if not alone:
                text = STAND_INS + 'void snippet(void);\nvoid snippet(void) {\n' + re.sub(r'^\.\.\.$|(?<=\)) \.\.\.$', ' use(0);', text, flags=re.M) + '\n}\n'
            for compiler in compilers:
                claim = f'{compiler}: snippet {number + 1} of {page.name}'
                if 'int main(' not in text:
                    compiles(f'{claim} compiles as printed', '-x', language, '-c', '-', '-o', 'snippet.o', text=text, compiler=compiler)
                elif compiles(f'{claim} compiles as printed', '-x', language, '-', '-o', 'snippet', text=text, compiler=compiler):
                    done = run([work / 'snippet'], env=environment())
                    said = ''.join(sorted(done.stdout.decode().splitlines(keepends=True)))
                    expected = PRINTED.get(page.name, [])[number:number + 1]
                    tap.check(f'{claim} runs', done.returncode == 0 and expected in ([], [said]), f'{done.returncode} {said}')
    tap.check('the book has snippets', count >= 7, count)


# --- The C++ library ---------------------------------------------------------------------------------------------------


def containers():
    source = here / 'programs/containers.cpp'
    for compiler in compilers:
        for level in ('-O0', '-O2'):
            how = f'{compiler} {level}'
            host = work / 'host'
            subprocess.run([cxx_of[compiler], '-std=c++20', level, source, '-o', host], check=True, timeout=120)
            if compiles(f'{how}: containers compile', level, '-Wall', '-Wextra', source, '-o', 'ours', compiler=compiler):
                theirs, ours = run([host]), run([work / 'ours'], env=environment())
                tap.check(f'{how}: a long walk over them goes as with the host\'s library', ours.returncode == 0 and
                          theirs.stdout == ours.stdout and len(ours.stdout.splitlines()) == 4, f'{theirs.stdout}\n{ours.stdout}\n{ours.stderr}')


def call_once():
    for compiler in compilers:
        if compiles(f'{compiler}: call_once, lock_guard and clocks compile', '-O2', '-Wall', here / 'programs/call_once.cpp', '-o', 'once',
                    compiler=compiler):
            for setting in ({'JANUS_WORKERS': 1}, {'JANUS_WORKERS': 4}, {'JANUS_SEED': 5}):
                done = run([work / 'once'], env=environment(**setting))
                tap.check(f'{compiler}: and hold with {setting}', done.returncode == 0, f'{done.returncode} {done.stderr.decode()}')


# What lock_misuse.cpp says in each case; nothing where it ends well.
MISUSE = {
    'twice': 'std::mutex::lock: a deadlock', 'stranger': 'std::mutex::unlock: ', 'abandoned': 'std::mutex::lock: a task has ended',
    'abandoned-try': 'std::mutex::try_lock: a task has ended', 'healed': '', 'recursive': 'std::recursive_mutex::unlock: ',
    'shared': 'std::shared_mutex::lock_shared: a deadlock', 'shared-stranger': 'std::shared_mutex::unlock_shared: ',
    'condition': 'std::condition_variable::wait: ', 'semaphore': 'std::counting_semaphore::release: ',
    'semaphore-negative': 'std::counting_semaphore::release: ', 'semaphore-first': 'std::counting_semaphore: ',
    'latch': 'std::latch::count_down: ', 'terminated': '', 'barrier': 'std::barrier::arrive: ',
}


def locks():
    for compiler in compilers:
        for level in ('-O0', '-O2'):
            how = f'{compiler} {level}'
            if compiles(f'{how}: locks and waits compile', level, '-Wall', '-Wextra', here / 'programs/locks.cpp', '-o', 'locks',
                        compiler=compiler):
                for setting in [{'JANUS_WORKERS': n} for n in (1, 2, 8)] + [{'JANUS_SEED': n, 'JANUS_WORKERS': 1 + n % 4} for n in range(12)]:
                    done = run([work / 'locks'], env=environment(**setting))
                    tap.check(f'{how}: and hold with {setting}', done.returncode == 0 and not done.stderr,
                              f'{done.returncode} {done.stderr.decode()}')
        if compiles(f'{compiler}: misused locks compile', '-O2', here / 'programs/lock_misuse.cpp', '-o', 'misuse', compiler=compiler):
            for case, said in MISUSE.items():
                done = run([work / 'misuse', case], env=environment())
                tap.check(f'{compiler}: what the lock cannot give in the case "{case}" ends the task, and is said',
                          done.returncode == (-signal.SIGABRT if said else 143 if case == 'terminated' else 0) and said in done.stderr.decode(), f'{done.returncode} {done.stderr.decode()}')


MISSING = (
    ('thread', 'std::thread t;', 'janus::Nursery::spawn'),
    ('thread', 'std::thread t([] {});', 'janus::Nursery::spawn'), ('thread', 'std::jthread t;', 'janus::Nursery::spawn'),
    ('future', 'auto f = std::async([] { return 1; });', 'janus::Nursery::spawn'), ('future', 'std::promise<int> p;', 'janus::Channel'),
    ('thread', 'void f() { int x = 0; std::thread t([&x](int y) { x = y; }, 3); t.join(); }', 'janus::Nursery::spawn'),
    ('thread', 'struct S { std::thread t; S() : t([this] { f(); }) {} void f() {} };', 'janus::Nursery::spawn'),
    ('thread', 'void f() { std::jthread t([] {}); }', 'janus::Nursery::spawn'),
    ('future', 'void f() { auto a = std::async(std::launch::async, [](int x) { return x; }, 3); a.get(); }', 'janus::Nursery::spawn'),
    ('future', 'int f() { std::future<int> a = std::async([] { return 1; }); return a.get(); }', 'janus::Nursery::spawn'),
    ('future', 'void f() { std::packaged_task<int()> t([] { return 1; }); t(); }', 'janus::Nursery::spawn'),
    ('future', 'void f() { std::promise<int> p; p.set_value(1); }', 'janus::Channel'),
    ('semaphore', 'std::counting_semaphore<(1ll << 32)> s(1);', '4,294,967,295'),
)


def what_is_missing():
    for compiler in compilers:
        for header, use, instead in MISSING:
            done = cc('-x', 'c++', '-', '-o', 'out', text=f'#include <{header}>\n{use}\nint main() {{}}\n', compiler=compiler)
            errors = [line for line in done.stderr.splitlines() if ' error: ' in line]
            tap.check(f'{compiler}: {use} is one error that names the counterpart',
                      done.returncode == 1 and len(errors) == 1 and instead in errors[0], done.stderr)
    done = cc('-x', 'c++', '-', '-o', 'out', text='#include <iostream>\nint main() { std::cout << 1; }\n')
    notes = [line for line in done.stderr.splitlines() if line.startswith('janus-cc: note:')]
    tap.check('std::cout is explained in one line', done.returncode == 1 and len(notes) == 1 and 'std::cout' in notes[0], done.stderr)


OLD = 'algorithm bitset cstdio cstdlib cstring deque functional iterator limits list map memory numeric queue set stack string utility vector'
NEWER = f'{OLD} array atomic chrono condition_variable future initializer_list mutex thread tuple type_traits unordered_map unordered_set'
HEADERS = {'c++98': OLD, 'c++11': NEWER, 'c++14': f'{NEWER} shared_mutex', 'c++17': f'{NEWER} shared_mutex any charconv optional string_view variant'}


def standards():
    text = 'int main() { return __cplusplus / 100 - 2000; }\n'
    for compiler in compilers:
        for option, year in ((None, 20), ('-std=c++17', 17), ('-std=gnu++14', 14)):
            if compiles(f'{compiler}: C++ compiles with {option}', '-x', 'c++', '-', '-o', 'standard', *([option] if option else []), text=text,
                        compiler=compiler):
                done = run([work / 'standard'], env=environment())
                tap.check(f'{compiler}: ... which is C++{year}', done.returncode in (year, 2 if year == 20 else -1), done.returncode)
        for standard, names in HEADERS.items():
            compiles(f'{compiler}: headers of the C++ library compile as {standard}', '-x', 'c++', f'-std={standard}', '-c', '-', '-o', 'old.o',
                     text=''.join(f'#include <{name}>\n' for name in names.split()), compiler=compiler)


for part in (the_book, containers, call_once, locks, what_is_missing, standards):
    part()
shutil.rmtree(work, ignore_errors=True)
tap.end()
