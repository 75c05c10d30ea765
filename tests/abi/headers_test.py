#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# headers_test.py HERE INCLUDE VERSION — the public headers: they have the frozen interface of version 1, compile
# without warnings in every language and compiler, and refuse misuse. Speaks TAP. HERE: tests/abi, INCLUDE: the
# directory above janus/.
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'programs'))
from installed import Tap, work_directory  # noqa: E402

here, include, version = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
tap, work = Tap(), work_directory()
warnings = ['-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Werror']
compilers = [c for c in ('gcc', shutil.which('clang') or shutil.which('clang-14')) if c and shutil.which(c)]
parts_of_rt_h = sorted((include / 'janus/rt').glob('*.h'))
rt_h = ''.join(part.read_text() for part in (include / 'janus/rt.h', include / 'janus/sync.h', include / 'janus/supervise.h', *parts_of_rt_h))
llvm_h = (include / 'janus/llvm.h').read_text()


def run(*command, text=None):
    return subprocess.run([str(c) for c in command], input=text, capture_output=True, text=True, timeout=120)


def compile(compiler, standard, source, *options, text=None, output='/dev/null'):
    language = 'c++' if '++' in standard else 'c'
    return run(compiler, '-x', language, f'-std={standard}', *warnings, '-I', include, *options, '-c', source,
               '-o', output, text=text)


def code_without_comments(header):
    return re.sub(r'//[^\n]*', '', header)


def frozen():
    for compiler in compilers:
        for standard in ('c99', 'c11', 'c++11', 'c++20'):
            done = compile(compiler, standard, here / 'frozen.c')
            tap.check(f'{compiler} -std={standard}: values, layouts and prototypes are those of version 1',
                      done.returncode == 0, done.stderr)


def nothing_escapes_the_frozen_list():
    golden = (here / 'frozen.c').read_text()
    listed = set(re.findall(r'\bjanus_\w+(?=\()', golden))
    declared = {name for name in re.findall(r'\b(janus_\w+)\(', code_without_comments(rt_h + llvm_h))}
    tap.check('every function of the headers is in the frozen list', declared <= listed, declared - listed)
    schedulers = re.findall(r'\bjanus_scheduler\w*', rt_h)
    tap.check('rt.h names no scheduler', not schedulers and 'janus_scheduler_create' in llvm_h, schedulers)
    macros = set(re.findall(r'^#define (JANUS_\w+) (?:\(?-?\d|UINT32_MAX)', rt_h, re.M)) - {'JANUS_RT_VERSION'}  # it changes with each release: see versions()
    asserted = set(re.findall(r'HOLDS\((JANUS_\w+) ==', golden))
    tap.check('every constant of rt.h is in the frozen list', macros == asserted, macros ^ asserted)
    for name, body in re.findall(r'typedef struct (janus_\w+) \{(.*?)\} \1;', code_without_comments(rt_h), re.S):
        fields = {re.sub(r'\[.*', '', part.split()[-1].lstrip('*'))
                  for line in body.split(';') if line.strip() for part in line.split(',')}
        held = set(re.findall(rf'FIELD\({name}, (\w+),', golden))
        tap.check(f'every field of {name} is in the frozen list', fields == held, fields ^ held)


def who_may_call_is_tried():
    tests = here.parent
    outside = (tests / 'api/tasks_test.cpp').read_text().split('a_thread_outside_is_no_task)')[1].split('\n}\n')[0]
    inside = (tests / 'programs/hostile/tasks_make_no_runtimes.c').read_text()
    marked = {}
    for notes, name in re.findall(r'((?:^// .*\n)+)^(?!//)[^\n;(]*?\b(janus_\w+)\(', rt_h, re.M):
        for mark in re.findall(r'\[([a-z ]+)\]', notes.replace('\n// ', ' ')):
            marked.setdefault(mark, set()).add(name)
    for mark, where in (('task', outside), ('threads outside tasks', inside)):
        named = set(re.findall(r'\b(janus_\w+)\(', where))
        tap.check(f'every function marked [{mark}] is called elsewhere by a test', marked[mark] and marked[mark] <= named,
                  marked[mark] - named)


def the_page_has_the_sizes():
    sizes = dict(re.findall(r'HOLDS\(sizeof\((janus_\w+)\) == (\d+)\)', (here / 'frozen.c').read_text()))
    rows = re.findall(r'^\| (`janus_.*?) \| (\d+) \|', (here.parent.parent / 'docs/abi.md').read_text(), re.M)
    listed = {name: size for names, size in rows for name in re.findall(r'`(janus_\w+)`', names)}
    tap.check('docs/abi.md has the sizes of the frozen list', len(listed) > 6 and listed.items() <= sizes.items(), listed)


def a_changed_interface_is_refused():
    # The frozen list must not compile with a header that differs.
    changes = {
        'a value': ('#define JANUS_E_CLOSED (-4097)', '#define JANUS_E_CLOSED (-4096)'),
        'a field moved': ('uint32_t was_cancelled;', 'uint64_t was_cancelled;'),
        'a return type': ('long janus_nursery_await_all(void);', 'int janus_nursery_await_all(void);'),
        'a parameter': ('int janus_unpark(janus_task task);', 'int janus_unpark(uint64_t task);'),
        'a task function': ('typedef int64_t (*janus_task_fn)(void* arg);', 'typedef int (*janus_task_fn)(void* arg);'),
    }
    for what, (old, new) in changes.items():
        tree = work / 'changed'
        shutil.copytree(include / 'janus', tree / 'janus', dirs_exist_ok=True)
        for part in parts_of_rt_h:
            (tree / 'janus/rt' / part.name).write_text(part.read_text().replace(old, new))
        for standard in ('c99', 'c++20'):
            done = run('gcc', '-x', 'c++' if '++' in standard else 'c', f'-std={standard}', '-Werror', '-I', tree,
                       '-fsyntax-only', here / 'frozen.c')
            tap.check(f'-std={standard}: {what} that changed is refused', rt_h.count(old) == 1 and done.returncode != 0, done.stderr)


def the_parts_of_rt_h():
    included = re.findall(r'^#include <janus/rt/(\w+\.h)>$', (include / 'janus/rt.h').read_text(), re.M)
    tap.check('rt.h is its parts, all of them', included == [part.name for part in parts_of_rt_h], included)
    backwards = ''.join(f'#include <janus/rt/{part.name}>\n' for part in reversed(parts_of_rt_h))
    for standard in ('c99', 'c++20'):
        done = compile('gcc', standard, '-', text=backwards + (here / 'frozen.c').read_text())
        tap.check(f'-std={standard}: in another order they say the same', done.returncode == 0, done.stderr)
    for part in parts_of_rt_h:
        done = compile('gcc', 'c99', '-', text=f'#include <janus/rt/{part.name}>\n', output=work / 'part.o')
        symbols = run('nm', work / 'part.o').stdout
        tap.check(f'{part.name} ties who includes it alone to the version', done.returncode == 0 and 'janus_abi_1' in symbols, symbols)


def each_header_stands_alone():
    c_standards = ('c99', 'c11', 'c++11', 'c++20')
    for compiler in compilers:
        cpp_standards = ('c++20', 'c++23' if compiler == 'gcc' else 'c++2b')
        parts = {f'rt/{part.name}': c_standards if part.suffix == '.h' else cpp_standards
                 for part in sorted((include / 'janus/rt').iterdir())}
        for header, standards in {'rt.h': c_standards, 'sync.h': c_standards, 'ticker.h': c_standards,
                                  'broadcast.h': c_standards, 'supervise.h': c_standards, 'watch.h': c_standards, 'llvm.h': ('c99', 'c++11'),
                                  'rt.hpp': cpp_standards, **parts}.items():
            for standard in standards:
                text = f'#include <janus/{header}>\n#include <janus/{header}>\n'
                done = compile(compiler, standard, '-', '-Wold-style-cast' if '++' in standard else '-Wall', text=text)
                tap.check(f'{compiler} -std={standard}: {header} is silent, alone and twice', done.returncode == 0,
                          done.stderr)


def usage():
    for compiler in compilers:
        for options in (['-O0'], ['-O2', '-fno-exceptions', '-fno-rtti'], ['-O3', '-ffreestanding', '-fno-exceptions']):
            done = compile(compiler, 'c++20', here / 'usage.cpp', '-Wconversion', '-Wold-style-cast', *options)
            tap.check(f'{compiler} {" ".join(options)}: rt.hpp does what its notes say', done.returncode == 0, done.stderr)


def misuse():
    for source in sorted((here / 'misuse').iterdir()):
        expected = re.search(r'^// REFUSED: (.*)$', source.read_text(), re.M).group(1)
        for compiler in compilers:
            done = compile(compiler, 'c++20' if source.suffix == '.cpp' else 'c99', source)
            tap.check(f'{compiler} refuses {source.name}', done.returncode != 0 and re.search(expected, done.stderr),
                      f'expected {expected!r} in:\n{done.stderr or "(it compiled)"}')


def names():
    plain = '#include <stddef.h>\n#include <stdint.h>\n'
    for header, more in dict.fromkeys(('rt.h', 'sync.h', 'ticker.h', 'broadcast.h', 'supervise.h', 'watch.h', 'llvm.h'), '').items():
        with_header = plain + f'#include <janus/{header}>\n'
        macros = [set(re.findall(r'^#define (\w+)', run('gcc', '-E', '-dM', '-x', 'c', '-I', include, '-', text=t).stdout,
                                 re.M)) for t in (plain, with_header)]
        stray = {m for m in macros[1] - macros[0] if not m.startswith('JANUS_')}
        tap.check(f'{header} defines no macro but JANUS_*', macros[1] > macros[0] and not stray, stray)
        clang = [c for c in compilers if 'clang' in c]
        if clang:
            declared = [ast_names(clang[0], t) for t in (plain, with_header)]
            stray = {n for n in declared[1] - declared[0] if not n.startswith(('janus_', '__builtin_', '__atomic_'))}
            tap.check(f'{header} declares no name but janus_*', declared[1] > declared[0] and not stray, stray)


def ast_names(clang, text):
    dump = run(clang, '-x', 'c', '-std=c99', '-I', include, '-Xclang', '-ast-dump=json', '-fsyntax-only', '-', text=text)
    return {node['name'] for node in json.loads(dump.stdout)['inner'] if 'name' in node}


def abi_symbol():
    for compiler in compilers:
        for options in (['-O0'], ['-O2', '-ffunction-sections', '-fdata-sections']):
            unit, main = work / 'unit.o', work / 'main.o'
            compile(compiler, 'c99', '-', *options, text='#include <janus/rt.h>\n', output=unit)
            compile(compiler, 'c99', '-', *options, text='int main(void) { return 0; }\n', output=main)
            linked = run(compiler, '-Wl,--gc-sections', main, unit, '-o', work / 'program')
            tap.check(f'{compiler} {" ".join(options)}: without a runtime of this version there is a link error',
                      linked.returncode != 0 and 'janus_abi_1' in linked.stderr, linked.stderr or 'it linked')
            linked = run(compiler, '-Wl,--gc-sections', '-Wl,--defsym=janus_abi_1=0', main, unit, '-o', work / 'program')
            tap.check(f'{compiler} {" ".join(options)}: with it there is none', linked.returncode == 0, linked.stderr)


def disassembly(unit):
    return run('objdump', '-d', '-r', '--no-show-raw-insn', unit).stdout


def yield_check():
    text = '#include <janus/rt.h>\nint check(void);\nint check(void) { return janus_yield_check(1); }\n'
    expected = r'<check>:\s+0:\s+subq\s+\$0x1,%gs:0x8\s+\S+\s+jl\b'
    for compiler in compilers:
        for options in (['-O2'], ['-O2', '-masm=intel']):
            done = compile(compiler, 'c99', '-', *options, text=text, output=work / 'check.o')
            code = disassembly(work / 'check.o')
            tap.check(f'{compiler} {" ".join(options)}: the yield check is one sub and one jl',
                      done.returncode == 0 and re.search(expected, code) and 'janus_yield_slow' in code, done.stderr + code)


def yield_check_in_llvm():
    ir = (here / 'yield_check.ll').read_text()
    for line in re.findall(r'^//     (%.*?|br .*?)(?:\s+; .*)?$', llvm_h, re.M):
        tap.check(f'llvm.h and yield_check.ll agree: {line[:40]}...', line in ir, line)
    clang = [c for c in compilers if 'clang' in c]
    if clang:
        done = run(clang[0], '-O2', '-x', 'ir', '-c', here / 'yield_check.ll', '-o', work / 'ir.o')
        code = disassembly(work / 'ir.o')
        tap.check('LLVM makes one sub and one jl of it', done.returncode == 0 and
                  re.search(r'<check_one>:\s+\w+:\s+subq\s+\$0x1,%gs:0x8\s+\S+\s+jl\b', code), done.stderr + code)


def versions():
    major, minor, patch = (int(part) for part in version.split('.'))
    found = re.search(r'#define JANUS_RT_VERSION (\d+)', rt_h).group(1)
    tap.check('JANUS_RT_VERSION is the version of the build', int(found) == major * 10000 + minor * 100 + patch, found)
    text = re.search(r'#define JANUS_RT_VERSION_TEXT "([\d.]+)"', rt_h).group(1)
    tap.check('and JANUS_RT_VERSION_TEXT is that version as text', text == f'{major}.{minor}.{patch}', text)


for group in (frozen, nothing_escapes_the_frozen_list, who_may_call_is_tried, the_page_has_the_sizes, a_changed_interface_is_refused, the_parts_of_rt_h, each_header_stands_alone, usage,
              misuse, names, abi_symbol, yield_check, yield_check_in_llvm, versions):
    group()
tap.end()
