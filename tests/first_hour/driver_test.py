#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# driver_test.py BUILD — janus-cc in place of gcc: every way to give it files and options, wrappers around it and below
# it, and errors of compilers, disks and prefixes. Speaks TAP.
import os
import pathlib
import re
import shutil
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / 'programs'))
from installed import Tap, compilers, environment, install, run, work_directory  # noqa: E402

tap = Tap()
work = work_directory()
janus_cc = install(sys.argv[1], work)
prefix = janus_cc.parent.parent
plain = environment(PATH=f'{janus_cc.parent}:{os.environ["PATH"]}', CCACHE_DIR=work / 'ccache')
for variable in ('CC', 'CXX'):
    plain.pop(variable, None)


def cc(*arguments, text='', driver=janus_cc, cwd=work, **settings):
    return subprocess.run([driver, *map(str, arguments)], capture_output=True, text=True, errors='replace', input=text, cwd=cwd,
                          env=plain | {k: str(v) for k, v in settings.items()}, timeout=120)


def source(name, text):
    path = work / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


MAIN = source('main.c', 'int answer(void);\nint main(void) { return answer(); }\n')
ANSWER = source('answer.c', 'int answer(void) { return 42; }\n')
WHOLE = source('whole.c', 'int main(void) { return 7; }\n')


def makes(claim, status, *arguments, program='program', **options):
    """janus-cc must print nothing and make a program that ends with that status."""
    (work / program).unlink(missing_ok=True)
    done = cc(*arguments, '-o', program, **options)
    ended = run([work / program], env=plain).returncode if (work / program).exists() else None
    tap.check(claim, done.returncode == 0 and done.stderr == '' and ended == status, f'{done.returncode}, {ended}\n{done.stderr}')


def refuses(claim, pattern, *arguments, output='out', **options):
    """janus-cc must print one matching line, end with status 1 and leave no files."""
    done = cc(*arguments, **options)
    lines = done.stderr.splitlines()
    tap.check(claim, done.returncode == 1 and len(lines) == 1 and re.search(pattern, lines[0]) and not (work / output).exists(),
              f'{done.returncode}\n{done.stderr}')


# --- Files and options ---------------------------------------------------------------------------------------------------


def inputs():
    makes('several inputs of several kinds', 42, MAIN, source('answer.s', '.globl answer\nanswer: mov $42, %eax\n ret\n.section .note.GNU-stack,""\n'))
    makes('a source from standard input, by -x', 7, '-xc', '-', text=WHOLE.read_text())
    refuses('standard input without -x or -E', '-E or -x required', '-c', '-', '-o', 'out')
    tap.check('-E takes it as C', '#define HERE 1' in cc('-E', '-dM', '-', text='#define HERE 1\n').stdout)
    makes('-x holds for what follows, -x none ends it', 42, '-x', 'c', source('main.txt', MAIN.read_text()), '-x', 'none', ANSWER)
    makes('C++ by -x', 20, '-x', 'c++', source('plus.txt', 'int main() { return __cplusplus >= 202002 ? 20 : 1; }\n'))
    for name in ('prog.f90', 'prog.rs', 'prog.m'):
        refuses(f'{name} is refused with a word on what to do', f'^janus-cc: error: .*{name}: .*link the object', source(name, ''), '-o', 'out')
    refuses('-x of another language', 'error: -x go: ', '-x', 'go', WHOLE, '-o', 'out')
    object_file = work / 'answer.o'
    cc('-c', ANSWER)
    done = cc('-c', WHOLE, object_file, '-o', 'whole.o')
    tap.check('an object beside -c is named as unused, as gcc names it', done.returncode == 0 and
              'answer.o: linker input file unused because linking not done' in done.stderr, done.stderr)
    done = cc('-E', source('first.cpp', 'first\n'), source('second.c', 'second\n'), source('third.cpp', 'third\n'))
    tap.check('-E keeps the order of the files, whatever their languages',
              re.findall('^(first|second|third)$', done.stdout, re.M) == ['first', 'second', 'third'], done.stdout)
    cc(source('header.h', 'int declared;\n'))
    tap.check('a header alone is precompiled', (work / 'header.h.gch').exists())
    names = source('a b/it\'s "quoted", here.c', WHOLE.read_text())
    makes('blanks, quotes and commas in names', 7, names, program='a b/out "put"')
    cc('-c', names, '-o', work / 'a b/o\'b.o')
    makes('... of objects as well', 7, work / 'a b/o\'b.o')
    archive = work / 'libmain.a'
    cc('-c', WHOLE)
    subprocess.run(['ar', 'rcs', archive, work / 'whole.o'], check=True)
    makes('main in an archive', 7, archive)
    for compiler in compilers:
        for name, option in (('whole.i', '-E'), ('whole.s', '-S')):
            cc(option, WHOLE, '-o', name, CC=compiler)
            makes(f'{compiler}: {name}, with nothing left to preprocess, and no warning', 7, '-Werror', name, CC=compiler)
        cc('-E', '-x', 'c++', WHOLE, '-o', 'whole.ii', CC=compiler)
        makes(f'{compiler}: whole.ii as well', 7, '-Werror', 'whole.ii', CC=compiler)
        makes(f'{compiler}: by -x, too', 7, '-Werror', '-x', 'cpp-output', 'whole.i', CC=compiler)


def own_input():
    directory = work / 'own'
    directory.mkdir()
    (directory / 'a.c').write_text(WHOLE.read_text())
    (directory / 'link.c').symlink_to('a.c')
    cc('-c', 'a.c', cwd=directory)
    shutil.copy(directory / 'a.o', directory / 'a.out')
    before = {path.name: path.read_bytes() for path in directory.iterdir()}
    for command in ('a.c -o a.c', 'a.c -o ./a.c', 'a.c -o link.c', 'link.c -o a.c', '-c a.c -o a.c', '-S a.c -o a.c', '-E a.c -o a.c', 'a.o -o a.o',
                    'a.out', '--hosted a.c -o a.c', '--hosted a.o -o ./a.o', '--target=bare a.o -o a.o'):
        refuses(f'janus-cc {command} is refused', r'^janus-cc: error: \S+: input file is the same as output file$', *command.split(), cwd=directory)
        after = {path.name: path.read_bytes() for path in directory.iterdir()}
        tap.check('... and nothing is touched', after == before, after.keys() ^ before.keys())
    done = cc('-E', '-xc', '/dev/null', '-o', '/dev/null')
    tap.check('a device may be both', done.returncode == 0 and done.stderr == '', done.stderr)


def response_files():
    source('words.rsp', '-DSPACED=\\"a\\ b\\" "-DQUOTED=\\"c d\\"" \'-DSINGLE="e"\'\nwords.c @nested.rsp\n')
    source('nested.rsp', 'words2.c\n')
    source('words2.c', 'int two(void) { return 2; }\n')
    source('words.c', '#include <string.h>\nint two(void);\nint main(void) { return strlen(SPACED QUOTED SINGLE) == 7 ? two() : 1; }\n')
    makes('response files, nested, quoted as gcc reads them', 2, '@words.rsp')
    makes('an empty response file is no argument', 7, f'@{source("empty.rsp", "")}', WHOLE)
    source('many.rsp', 'whole.c\n' + '"some directory/libmain.a"\n' * 6000)
    (work / 'some directory').mkdir()
    shutil.copy(work / 'libmain.a', work / 'some directory')
    makes('six thousand inputs', 7, '@many.rsp')
    source('loop.rsp', '@loop.rsp')
    refuses('a response file that names itself', 'response files', '@loop.rsp')


# When a compiler makes dependency files and links in one step, names and rules are its own and differ between
# compilers.
DEPENDENCIES_WHEN_LINKING = (
    'one.c -MMD', 'one.c -MMD -o prog', 'one.c -MMD -o sub/prog.exe', 'one.c -MMD -o .hidden', 'one.c -MMD -o sub.d/prog', 'one.c -MMD -o a.out',
    'sub/one.x.c -MMD', 'main.c answer.c -MMD', 'main.c answer.c -MMD -o prog', 'main.c sub/answer.c -MMD -MP -o prog.v2.x', 'one.c -MMD -MF named.d',
    'one.c -MMD -MFnamed.d -o prog', 'main.c answer.c -MMD -MF named.d -o prog', 'one.c -MMD -MT target', 'one.c -MMD -MQ $target -o prog',
    '-Wp,-MMD,named.d one.c', '-Wp,-MMD,named.d one.c -o prog', '-MMD -x c -', '-MMD -x c - -o prog')


def left_dependencies(driver, arguments, **settings):
    """The dependency rules that a compiler leaves when it does both: {file: rules}, without the system's headers."""
    directory = work / 'rules'
    shutil.rmtree(directory, ignore_errors=True)
    one = '#include "dep.h"\nint main(void) { return DEP; }\n'
    for name, text in (('one.c', one), ('sub/one.x.c', one), ('main.c', MAIN.read_text()), ('answer.c', ANSWER.read_text()),
                       ('sub/answer.c', ANSWER.read_text()), ('sub.d/empty', ''), ('inc/dep.h', '#define DEP 7\n')):
        source(f'rules/{name}', text)
    done = cc('-Iinc', *arguments.split(), driver=driver, cwd=directory, text=one, **settings)
    if done.returncode != 0:
        return None
    return {str(path.relative_to(directory)): path.read_text() for path in directory.rglob('*.d') if path.is_file()}


def dependencies():
    source('inc/dep.h', '#define DEP 7\n')
    uses = source('uses.c', '#include "dep.h"\nint main(void) { return DEP; }\n')
    rule = cc('-MM', '-Iinc', uses).stdout
    tap.check('-MM', re.match(r'uses\.o: \S*uses\.c inc/dep\.h\n', rule), rule)
    cc('-M', '-MF', 'm.d', '-MT', 'one', '-MT', 'two', '-Iinc', uses)
    tap.check('-M -MF -MT', (work / 'm.d').read_text().startswith('one two:'))
    cc('-MMD', '-MP', '-MQ', 'a$b', '-Iinc', '-c', uses)
    text = (work / 'uses.d').read_text()
    tap.check('-MMD -MP -MQ beside -c', text.startswith('a$$b:') and '\ninc/dep.h:\n' in text, text)
    for compiler in compilers:
        for arguments in DEPENDENCIES_WHEN_LINKING:
            theirs, ours = (left_dependencies(driver, arguments, CC=compiler) for driver in (compiler, janus_cc))
            tap.check(f'{compiler}: {arguments} leaves the rules that it leaves by itself', ours == theirs and theirs, f'{ours}\nnot {theirs}')


def options():
    makes('-rdynamic is nothing, as with gcc -static', 7, '-rdynamic', WHOLE)
    makes('-flto', 42, '-flto', '-O2', MAIN, ANSWER)
    for compiler in compilers:
        overflow = source('overflow.c', 'int main(int c, char **v) { (void)v; int x = 2147483647; return x + c > 0; }\n')
        for trap in ('-fsanitize-trap', '-fsanitize-trap=undefined'):
            makes(f'{compiler}: -fsanitize=undefined {trap} ends the task', -6, '-fsanitize=undefined', trap, overflow, CC=compiler)
    library = work / 'libraries'
    library.mkdir()
    cc('-c', ANSWER, '-o', library / 'answer.o')
    run(['ar', 'rcs', library / 'libanswer.a', library / 'answer.o'])
    run(['gcc', '-shared', '-fPIC', ANSWER, '-o', library / 'libanswer.so'])
    for dynamic in ('-Wl,-Bdynamic', '-Wl,-Bstatic,-Bdynamic,-Bdynamic', '-Wl,-O1,-dy,-O1', '-Wl,-call_shared', '-Xlinker -Bdynamic'):
        makes(f'{dynamic} before -l: it is the archive that is found', 42, MAIN, f'-L{library}', *dynamic.split(), '-lanswer')
    for name in ('-l:libanswer.a', '-l:libanswer.so', '-l :libanswer.so'):
        makes(f'{name}: the archive, as -l finds it', 42, MAIN, f'-L{library}', *name.split())
    text = source('text.cpp', '#include <string>\nint main(int c, char **) { return static_cast<int>(std::string(c, \'x\').size() + 6); }\n')
    for name in ('-l:libstdc++.a', '-l:libc.a', '-l:libc.so.6', '-l:libm.a'):
        makes(f'{name} is nothing, as the host\'s library is by its other name', 7, text, name)
    refuses('-fsanitize=undefined alone names the remedy', 'add -fsanitize-trap', '-fsanitize=undefined', WHOLE, '-o', 'out')
    for option, remedy in (('-shared', 'archive'), ('-m32', '64 bits'), ('-pg', 'leave it out'), ('--coverage', 'hosted'), ('-fopenmp', 'nurseries'),
                           ('-fsplit-stack', 'larger'), ('-fsanitize=thread', 'undefined works'), ('--shared', 'archive'), ('-Wl,-shared', 'archive'),
                           ('-Wl,-O1,-shared', 'archive'), ('-Xlinker -shared', 'archive'), ('--hosted -Wl,-shared', 'by the compiler itself'),
                           ('--profile', 'leave it out'), ('-nolibc', 'leave it out'), ('-fuse-ld=gold', 'leave it out'), ('--target=bare -fuse-ld=gold', 'leave it out'),
                           ('--target=bare -fuse-ld=lld', 'leave it out'), ('--target=bare -static-pie', 'leave out'), ('--target=bare --pie', 'leave out')):
        refuses(f'{option} is one line with the remedy', f'error: \\S+( -shared)?: .*{remedy}', *option.split(), WHOLE, '-o', 'out')
    for option in ('-fuse-ld=gold', '--target=bare -fuse-ld=lld', '--target=bare -static-pie'):
        done = cc(*option.split(), '-c', WHOLE, '-o', 'whole.o')
        tap.check(f'... but for {option} with -c, where nothing is linked', done.returncode == 0 and done.stderr == '', done.stderr)
    if shutil.which('ld.lld'):
        makes('-fuse-ld=lld', 7, '-fuse-ld=lld', WHOLE)
    done = cc('-nostdlib', source('calls_puts.c', '#include <stdio.h>\nint main(void) { return puts(""); }\n'), '-o', 'out')
    tap.check('-nostdlib is the linker\'s plain work, without notes', done.returncode == 1 and 'janus-cc:' not in done.stderr, done.stderr)
    refuses('an option without its value', "missing argument to '-o'", WHOLE, '-o')
    refuses('an output in no directory', 'nowhere/out: there is no directory nowhere', WHOLE, '-o', 'nowhere/out')
    makes('-save-temps and -gsplit-dwarf', 7, '-g', '-gsplit-dwarf', '-save-temps', WHOLE)
    left = {path.name for path in work.glob('program-whole.*')}
    tap.check('... leave their files beside the program, as with gcc', {'program-whole.i', 'program-whole.s', 'program-whole.dwo'} <= left, left)
    makes('-nostdinc is obeyed where nothing is included', 7, '-nostdinc', WHOLE)
    done = cc('-nostdinc', source('includes.c', '#include <stdio.h>\n'), '-c', '-o', 'out')
    tap.check('... and where something is', done.returncode == 1 and 'stdio.h' in done.stderr, done.stderr)
    makes('-T, -Xlinker, -Wl and -B reach the linker', 7, WHOLE, '-Xlinker', '-Map', '-Xlinker', work / 'a b/map', '-Wl,-Map=other.map', '-B', work)
    tap.check('... which obeys', (work / 'other.map').exists())
    done = cc('-###', WHOLE, '-o', 'out')
    tap.check('-### shows the steps and takes none', done.returncode == 0 and 'cc1' in done.stderr and 'libjanus_rt.a' in done.stderr and
              not (work / 'out').exists(), done.stderr)


# gcc's long options in two forms, the equivalent short option, and a source file that needs the option.
LONG_OPTIONS = (('--compile', '-c'), ('--assemble', '-S'), ('--preprocess', '-E'), ('--dependencies -Iinc', '-M -Iinc'),
                ('--user-dependencies -Iinc', '-MM -Iinc'), ('--compile --write-user-dependencies', '-c -MMD'),
                ('--preprocess --include-directory inc', '-E -I inc'), ('--preprocess --include-directory=inc', '-E -I inc'),
                ('--preprocess --define-macro X=1=2', '-E -D X=1=2'), ('--preprocess --define-macro=X=1=2', '-E -D X=1=2'),
                ('--preprocess -DX=3 --undefine-macro X', '-E -DX=3 -U X'), ('--preprocess --include inc/dep.h', '-E -include inc/dep.h'),
                ('--preprocess --include=inc/dep.h', '-E -include inc/dep.h'), ('--preprocess --imacros inc/dep.h', '-E -imacros inc/dep.h'),
                ('--language c++ --preprocess', '-x c++ -E'), ('--language=c++ --preprocess', '-x c++ -E'),
                ('--compile --std=c99 --output other.o', '-c -std=c99 -o other.o'), ('--compile --output=other.o', '-c -o other.o'))


def long_options():
    text = '#if __has_include("dep.h")\n#include "dep.h"\n#endif\nint x, standard = __STDC_VERSION__ + __cplusplus + X + DEP;\n'
    for compiler in compilers:
        for long, short in LONG_OPTIONS:
            left = []
            for options in (long, short):
                shutil.rmtree(work / 'long', ignore_errors=True)
                source('long/named.c', text if '-E' in short else '')
                source('long/inc/dep.h', '#define DEP 7\n')
                done = cc('named.c', *options.split(), cwd=work / 'long', CC=compiler)
                files = {path.name: path.read_bytes() for path in (work / 'long').iterdir() if path.is_file()}
                left.append((done.returncode, done.stdout, done.stderr, files))
            tap.check(f'{compiler}: {long} is {short}', left[0] == left[1] and left[0][0] == 0, left[0][:3])
        cc('-c', WHOLE, CC=compiler)
        run(['ar', 'rcs', work / 'some directory/liblong.a', work / 'whole.o'])
        for options in ('--library-directory=some|directory --library long', '--library-directory some|directory --library long --library m',
                        '--for-linker -O1 whole.c', '--for-linker=-O1 whole.c --no-pie --static', '--static-pie whole.c', '--pie whole.c'):
            options = [option.replace('|', ' ') for option in options.split()]
            makes(f'{compiler}: {" ".join(options)}', 7, *options, CC=compiler)
    cc('--static-pie', WHOLE, '--output', 'placed')
    said = subprocess.run(['readelf', '-hW', work / 'placed'], capture_output=True, text=True, check=False).stdout
    tap.check('--static-pie makes what loads anywhere', 'DYN' in said, said)


def questions():
    for question in ('-dumpmachine', '-dumpversion', '-dumpspecs', '-print-search-dirs', '-print-prog-name=ld', '-print-libgcc-file-name',
                     '-print-multi-os-directory', '--help=target'):
        ours, theirs = cc(question), run(['gcc', question], env=plain)
        tap.check(f'{question} is answered as gcc does', ours.returncode == 0 and ours.stdout == theirs.stdout.decode(), ours.stderr)
    said = cc('-Wl,--version').stdout
    tap.check('-Wl,--version names the linker', 'GNU ld' in said, said)
    for compiler in compilers:
        version = cc('--version', CC=compiler).stdout.splitlines()
        tap.check(f'{compiler}: --version begins with the compiler\'s and names janus-rt\'s', compiler.split('-')[0] in version[0] and
                  re.search(r'of janus-rt \d+\.\d+\.\d+$', version[-1]), version)
    number = re.search(r'janus-rt (\S+)$', cc('--version').stdout.strip()).group(1)
    makes('a program', 7, WHOLE)
    for how in ((), ('-s',), ('-static-pie',), ('--target=bare',)):
        cc(WHOLE, *how, '-o', 'noted')
        note = subprocess.run(['readelf', '-nW', '-p', '.note.janus-rt', work / 'noted'], capture_output=True, text=True, check=False).stdout
        tap.check(f'... has that version in a note, with {" ".join(how) or "no option"}', re.search(r'^ +janus-rt\s+0x', note, re.M) and
                  f'  {number}\n' in note, note)
    rt_h = (prefix / 'include/janus/rt/abi.h').read_text()
    tap.check('... which is rt.h\'s', f'#define JANUS_RT_VERSION_TEXT "{number}"' in rt_h)


# --- Compilers -----------------------------------------------------------------------------------------------------------


def script(name, text):
    path = work / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('#!/bin/sh\n' + text)
    path.chmod(0o755)
    return path


def wrappers():
    makes('CC may name janus-cc itself', 7, WHOLE, CC='janus-cc', CXX='janus-cc')
    makes('... by its path', 7, WHOLE, CC=janus_cc)
    if shutil.which('ccache'):
        makes('... behind ccache', 7, WHOLE, CC='ccache janus-cc')
        makes('CC may be two words', 7, WHOLE, CC='ccache gcc')
    else:
        tap.skip('behind ccache', 'not installed: ccache')
    wrapper = script('wrappers/cc', 'exec janus-cc "$@"\n')
    makes('a script in CC that calls janus-cc does not call it for ever', 7, WHOLE, CC=wrapper, CXX=wrapper)
    makes('... nor for C++', 20, '-x', 'c++', work / 'plus.txt', CC=wrapper, CXX=wrapper)
    for name in ('gcc', 'g++'):
        link = work / 'in-place' / name
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(janus_cc)
    path = plain['PATH']
    makes('a link to janus-cc by the name of gcc in PATH drives the next gcc', 7, WHOLE, PATH=f'{link.parent}:{path}')
    makes('... and by that of g++ the next g++', 20, '-x', 'c++', work / 'plus.txt', driver=link, PATH=f'{link.parent}:{path}')
    makes('... also where it is named in CC', 7, WHOLE, CC=link.parent / 'gcc', PATH=f'{link.parent}:{path}')
    wrapper = script('in-place-of-gcc/gcc', 'exec janus-cc "$@"\n')
    for setting in ({}, {'CC': 'gcc'}, {'CC': wrapper}):
        refuses(f'a script by that name in PATH, which calls janus-cc, does not call it for ever: {setting}', 'calls janus-cc; CC and CXX',
                WHOLE, '-o', 'out', PATH=f'{wrapper.parent}:{path}', **setting)
    for blank in (' ', '\t', '\n'):
        makes(f'CC may be blank, {blank!r}', 7, WHOLE, CC=blank, CXX=blank)
    makes('a compiler whose path has blanks', 7, WHOLE, CC=script('my tools/gcc', 'exec gcc "$@"\n'))


def the_compiler_for_cxx():
    """If only CC is given, C++ is compiled by the C++ compiler beside it."""
    def compiler(name, works_as):
        return script(name, f'echo {works_as} >>"{work}/called"\nexec {works_as} "$@"\n')

    at = work / 'gcc-of clang'
    cases = [('gcc', 'g++'), (compiler('gcc-12/bin/gcc', 'gcc'), 'g++'), (compiler('gcc-12/bin/x86_64-linux-gnu-gcc-12', 'gcc'), 'g++'),
             (compiler(f'{at.name}/gcc', 'gcc'), 'g++')]
    compiler('gcc-12/bin/g++', 'g++')
    compiler('gcc-12/bin/x86_64-linux-gnu-g++-12', 'g++')
    compiler(f'{at.name}/g++', 'g++')
    wrapper = script('gcc-tools/wrap', 'exec "$@"\n')
    cases += [(f'{wrapper} {work}/gcc-12/bin/gcc', 'g++'), (f'{work}/gcc-12/bin/gcc -O1 -I{work}/gcc-12', 'g++')]
    if any(c == 'clang' for c in compilers):
        cases.append((compiler('clang-of-gcc/clang', 'clang'), 'clang++'))
        compiler('clang-of-gcc/clang++', 'clang++')
    for c, cxx in cases:
        (work / 'called').unlink(missing_ok=True)
        makes(f'CC="{c}" alone is enough for C++', 20, '-x', 'c++', work / 'plus.txt', CC=c)
        called = (work / 'called').read_text().split() if (work / 'called').exists() else []
        tap.check('... which the compiler beside it compiles', c == 'gcc' or cxx in called, called)


def bad_compilers():
    refuses('no compiler', '/no/gcc: no such compiler is installed; CC chooses', WHOLE, '-o', 'out', CC='/no/gcc')
    refuses('no compiler for C++', '/no/g\\+\\+: no such compiler is installed; CXX chooses', '-x', 'c++', work / 'plus.txt', '-o', 'out', CXX='/no/g++')
    refuses('one that is too old', 'is gcc 4, and janus-cc needs 10 or newer', WHOLE, '-o', 'out',
            CC=script('bad/old', 'exec gcc -U__GNUC__ -D__GNUC__=4 "$@"\n'))
    refuses('what is no compiler', 'neither gcc nor clang', WHOLE, '-o', 'out', CC='true')
    refuses('what does not work', 'does not work \\(status 3\\): out of order$', WHOLE, '-o', 'out', CC=script('bad/broken', 'echo out of order >&2; exit 3\n'))
    half = "echo \"gcc: fatal error: cannot execute 'cc1': No such file or directory\" >&2\necho compilation terminated. >&2\nexit 1\n"
    refuses('one of which only half is there: what is missing is named', "does not work \\(status 1\\): gcc: fatal error: cannot execute 'cc1'", WHOLE,
            '-o', 'out', CC=script('bad/half', half))
    crashing = script('bad/crashing', 'case "$*" in *-dM*) exec gcc "$@";; esac\necho half >out\nkill -SEGV $$\n')
    for arguments in ([WHOLE, '-o', 'out'], ['-dumpmachine']):
        done = cc(*arguments, CC=script('bad/crashes', 'kill -SEGV $$\n'))
        tap.check('one that crashes at once is named with its signal', done.returncode == 139 and
                  re.fullmatch(r'janus-cc: error: \S*crashes was ended by signal 11 \(SEGV\); nothing was made\n', done.stderr), f'{done.returncode} {done.stderr}')
    for how, arguments in (('compiling', ['-c']), ('linking', [])):
        done = cc(*arguments, WHOLE, '-o', 'out', CC=crashing)
        tap.check(f'one that crashes when {how} is named with its signal, and leaves nothing', done.returncode == 139 and
                  re.fullmatch(r'janus-cc: error: \S*crashing was ended by signal 11 \(SEGV\); nothing was made\n', done.stderr) and
                  (not (work / 'out').exists() or how == 'linking'), f'{done.returncode} {done.stderr}')
        (work / 'out').unlink(missing_ok=True)


# --- Places --------------------------------------------------------------------------------------------------------------


def prefixes():
    moved = work / 'moved, it\'s "here"'
    shutil.copytree(prefix, moved)
    makes('a prefix with blanks, commas and quotes', 7, WHOLE, driver=moved / 'bin/janus-cc')
    link = work / 'links/janus-cc'
    link.parent.mkdir()
    link.symlink_to(os.path.relpath(janus_cc, link.parent))
    makes('called by a symbolic link', 7, WHOLE, driver=link)
    (work / 'linked prefix').symlink_to(prefix)
    makes('a prefix that is a symbolic link', 7, WHOLE, driver=work / 'linked prefix/bin/janus-cc')
    alone = work / 'alone/bin/janus-cc'
    alone.parent.mkdir(parents=True)
    shutil.copy(janus_cc, alone)
    refuses('copied out of its prefix', 'alone/lib/janus-rt/cc/arguments.bash is missing: .*prefix', WHOLE, '-o', 'out', driver=alone)


def places():
    refuses('no place for temporary files', '/no/where: cannot make a directory .*TMPDIR', WHOLE, '-o', 'out', TMPDIR='/no/where')
    done = cc(WHOLE, '-o', '/proc/program')
    tap.check('an output that cannot be written', done.returncode == 1 and '/proc/program' in done.stderr, done.stderr)
    (work / 'directory').mkdir()
    done = cc(WHOLE, '-o', 'directory')
    tap.check('an output that is a directory', done.returncode == 1 and 'directory' in done.stderr and (work / 'directory').is_dir(), done.stderr)
    full = work / 'full'
    full.mkdir()
    if run(['mount', '-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', full]).returncode != 0:
        tap.skip('a full disk', 'nothing may be mounted here')
        return
    try:
        done = cc(WHOLE, '-o', full / 'program')
        tap.check('a full disk below the program', done.returncode == 1 and 'No space left on device' in done.stderr and not list(full.iterdir()),
                  f'{done.stderr} {list(full.iterdir())}')
        large = source('large.c', 'char table[100000] = {1};\nint main(void) { return table[1]; }\n')
        done = cc(large, '-o', 'out', TMPDIR=full)
        tap.check('a full disk below temporary files', done.returncode == 1 and 'No space left on device' in done.stderr and
                  not (work / 'out').exists() and not list(full.iterdir()), f'{done.stderr} {list(full.iterdir())}')
    finally:
        run(['umount', full])


def strangers():
    thirty_two = work / 'thirty_two.o'
    if run(['gcc', '-m32', '-c', ANSWER, '-o', thirty_two]).returncode == 0:
        done = cc(MAIN, thirty_two, '-o', 'out')
        tap.check('an object for 32 bits is named', done.returncode == 1 and
                  re.search(r'note: \S*thirty_two\.o is for Intel 80386, and janus-rt is for x86_64', done.stderr), done.stderr)
    clang = [c for c in compilers if 'clang' in c]
    if clang and run([clang[0], '--target=aarch64-linux-gnu', '-c', ANSWER, '-o', work / 'arm.o']).returncode == 0:
        done = cc(MAIN, 'arm.o', '-o', 'out')
        tap.check('an object for ARM is named', done.returncode == 1 and 'note: arm.o is for AArch64' in done.stderr, done.stderr)
    else:
        tap.skip('an object for ARM', 'no compiler for it')


def roots():
    """With another root than /: headers of other libraries are found there, and the small C library's still come first."""
    root = work / 'a root'
    source('a root/usr/include/in_root.h', '#include <string.h>\n#define IN_ROOT 7\n')
    source('a root/usr/include/string.h', '#error of the root\'s C library\n')
    uses = source('in_root.c', '#include <in_root.h>\nint main(void) { return IN_ROOT; }\n')
    for compiler in compilers:
        for options in ([f'--sysroot={root}'], ['--sysroot', root], ['-isysroot', root], [f'-isysroot{root}']):
            if 'clang' in compiler and 'isysroot' in options[0]:
                continue  # clang uses it for macOS only
            how = f'{compiler}: {str(options[0]).split("/")[0]}'
            makes(f'{how}: headers are found below another root', 7, *options, uses, CC=compiler)
            makes('... in C++ as well', 7, *options, '-x', 'c++', uses, CC=compiler)


def what_is_linked():
    text = ('#include <stdio.h>\n#include <string.h>\nint main(void) {\n  static char text[5000];\n'
            '  for (unsigned n = 0; n < sizeof text; n += n < 250 || n > 260 ? 50 : 1) {\n    if (puts(text) < 0) return 1;\n'
            "    memset(text, 'a', n);\n  }\n  return 9;\n}\n")
    makes('puts writes whole lines, short and long', 9, source('puts.c', text))
    host = run(['gcc', work / 'puts.c', '-o', work / 'host']).returncode == 0 and run([work / 'host']).stdout
    tap.check('... the same as the host\'s', host and run([work / 'program'], env=plain).stdout == host)
    names = run(['nm', work / 'program']).stdout.decode()
    tap.check('... and links no formats for it', ' puts' in names and 'printf' not in names and ' strerror' not in names)
    if shutil.which('rustc'):
        source('std.rs', '#[no_mangle] pub extern "C" fn main(_: i32, _: *const *const u8) -> i32 { println!("hi"); 0 }\n')
        run(['rustc', '--crate-type', 'staticlib', '-C', 'panic=abort', '-O', work / 'std.rs', '-o', work / 'libstd_too.a'])
        refuses("Rust's std is refused", r'libstd_too\.a holds Rust.s std, .*no_std', 'libstd_too.a', '-o', 'out')
    else:
        tap.skip("Rust's std is refused", 'no rustc')


for part in (what_is_linked, inputs, own_input, response_files, dependencies, options, long_options, questions, wrappers, the_compiler_for_cxx, bad_compilers, prefixes, places, roots, strangers):
    part()
shutil.rmtree(work, ignore_errors=True)
tap.end()
