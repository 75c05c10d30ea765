#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# build_systems_test.py BUILD — builds one small project (project/) with each build system, with janus-cc as its
# compiler, as a newcomer would. Speaks TAP.
import os
import pathlib
import re
import shutil
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / 'programs'))
from installed import Tap, environment, install, run, work_directory  # noqa: E402

tap = Tap()
work = work_directory()
janus_cc = install(sys.argv[1], work)
prefix = janus_cc.parent.parent
# A separate ccache directory, so that the tested files are compiled anew, with ccache even if it is off otherwise.
plain = environment(PATH=f'{janus_cc.parent}:{os.environ["PATH"]}', CCACHE_DIR=work / 'ccache')
plain.pop('CCACHE_DISABLE', None)
for name in ('CC', 'CXX', 'CFLAGS', 'CXXFLAGS', 'LDFLAGS'):
    plain.pop(name, None)
has_zlib = shutil.which('pkg-config') and run(['pkg-config', '--exists', 'zlib'], env=plain).returncode == 0


def copy(name):
    """A copy of the project in a directory whose name breaks careless quoting."""
    directory = work / f'{name} it\'s'
    shutil.copytree(here / 'project', directory)
    return directory


def missing(*tools):
    absent = [tool for tool in tools if not shutil.which(tool)]
    if absent:
        tap.skip(f'with {" and ".join(tools)}', f'not installed: {" ".join(absent)}')
    return absent


def does(claim, *command, cwd, **settings):
    done = run([str(c) for c in command], cwd=cwd, env=plain | settings, timeout=240)
    said = done.stdout.decode() + done.stderr.decode()
    tap.check(claim, done.returncode == 0, '\n'.join(said.splitlines()[-12:]))
    return said if done.returncode == 0 else ''


def greets(claim, program, whom):
    done = run([str(program)], env=plain) if program.exists() else None
    tap.check(claim, done and done.returncode == 0 and done.stdout.decode() == f'greetings to {whom}\n', done or f'{program} is missing')
    said = subprocess.run(['readelf', '-nlW', program], capture_output=True, text=True, check=False).stdout
    tap.check('... which is janus-rt\'s, and static', 'janus-rt' in said and 'INTERP' not in said, said)


def greets_by_zlib(claim, program):
    if not has_zlib:
        tap.skip(claim, 'zlib1g-dev is not installed')
    else:
        greets(claim, program, 'zlib')


def autotools():
    if missing('autoreconf', 'automake', 'libtoolize', 'make'):
        return
    # Autotools cannot build below a directory with a quote in its name, with any compiler.
    directory = work / 'autotools'
    shutil.copytree(here / 'project', directory)
    (directory / 'Makefile').unlink()
    does('autoreconf makes configure', 'autoreconf', '-i', cwd=directory)
    said = does('./configure CC=janus-cc takes it for a native compiler', './configure', 'CC=janus-cc', 'CXX=janus-cc', '--disable-shared',
                cwd=directory)
    for what, answer in (('whether we are cross compiling', 'no'), ('for strnlen', 'yes'), ('for strlcpy', 'no'), ('for pthread.h', 'no'),
                         ('size of long', '8'), ('whether to build static libraries', 'yes')):
        tap.check(f'... and finds: {what}? {answer}', f'checking {what}... {answer}\n' in said, re.findall(f'{what}.*', said))
    said = does('make check builds by libtool and runs', 'make', 'check', cwd=directory)
    tap.check('... both programs', '# PASS:  2' in said, said)
    greets('the program in C runs', directory / 'demo', 'C')
    greets('the program in C++ runs', directory / 'demoxx', 'C++20')
    said = does('make install puts it where it is told', 'make', 'install', f'DESTDIR={work}/installed', cwd=directory)
    greets('... where it runs', work / 'installed/usr/local/bin/demo', 'C')


def cmake():
    if missing('cmake', 'ctest', 'make'):
        return
    toolchain = prefix / 'share/janus-rt/cmake/janus-rt.cmake'
    for minimum, how, generator in (('2.8', 'CC=janus-cc', 'Ninja'), ('3.25', 'the toolchain file', 'Unix Makefiles')):
        if generator == 'Ninja' and missing('ninja'):
            continue
        claim = f'cmake for {minimum}, {generator}, {how}'
        directory = copy(f'cmake {minimum}')
        (directory / 'Makefile').unlink()
        options = [f'-DMINIMUM={minimum}', f'-G{generator}', '-S.', '-Bbuild', '-Wno-dev']
        if how == 'CC=janus-cc':
            said = does(f'{claim}: it configures', 'cmake', *options, cwd=directory, CC='janus-cc', CXX='janus-cc')
        else:
            said = does(f'{claim}: it configures', 'cmake', *options, f'-DCMAKE_TOOLCHAIN_FILE={toolchain}', cwd=directory)
        tap.check(f'{claim}: it finds what there is', 'found <1> <> <> <1>, crossing: FALSE' in said, re.findall('found <.*', said))
        does(f'{claim}: it builds', 'cmake', '--build', 'build', cwd=directory)
        does(f'{claim}: its tests pass', 'ctest', '--test-dir', 'build', cwd=directory)
        greets(f'{claim}: the program in C runs', directory / 'build/demo', 'C')
        greets(f'{claim}: the program in C++ runs', directory / 'build/demoxx', 'C++20')
        greets_by_zlib(f'{claim}: what find_package has found is linked', directory / 'build/packed')
        does(f'{claim}: it installs', 'cmake', '--install', 'build', '--prefix', 'installed', cwd=directory)
        whole_program(claim, generator, [f'-DCMAKE_TOOLCHAIN_FILE={toolchain}'] if how != 'CC=janus-cc' else [])


def whole_program(claim, generator, options):
    """Link-time optimisation, with the greeting library as an archive."""
    directory = copy(f'whole program {generator}')
    (directory / 'CMakeLists.txt').write_text(
        'cmake_minimum_required(VERSION 3.9)\nproject(demo C CXX)\ninclude(CheckIPOSupported)\ncheck_ipo_supported(RESULT answer)\n'
        'message(STATUS "optimises whole programs: ${answer}")\nset(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)\n'
        'add_library(greet STATIC greet.c)\nadd_executable(demo demo.c)\ntarget_link_libraries(demo greet)\n')
    said = does(f'{claim}: link-time optimisation configures', 'cmake', f'-G{generator}', '-S.', '-Bbuild', *options, cwd=directory, CC='janus-cc', CXX='janus-cc')
    tap.check('... and is found to work', 'optimises whole programs: YES' in said, said)
    said = does('... and it builds', 'cmake', '--build', 'build', '--verbose', cwd=directory)
    tap.check('... with gcc\'s archives', 'bin/janus-gcc-ar' in said and 'bin/janus-gcc-ranlib' in said and '-flto' in said, said)
    greets('... and the program runs', directory / 'build/demo', 'C')


def meson():
    if missing('meson', 'ninja'):
        return
    share = {'XDG_DATA_DIRS': str(prefix / 'share')}
    ways = (('CC=janus-cc', [], {'CC': 'janus-cc', 'CXX': 'janus-cc'}), ('--native-file', ['--native-file', 'janus-rt.ini'], share),
            ('--cross-file', ['--cross-file', 'janus-rt.ini'], share))
    directory = copy('meson')
    for number, (how, options, settings) in enumerate(ways):
        build = f'build {number}'
        said = does(f'meson, {how}: it configures', 'meson', 'setup', build, *options, cwd=directory, **settings)
        tap.check(f'meson, {how}: it finds what there is', 'found gcc ld.bfd true false 8 3' in said, re.findall('Message.*', said))
        does(f'meson, {how}: it builds', 'ninja', '-C', build, cwd=directory)
        does(f'meson, {how}: its tests pass', 'meson', 'test', '-C', build, cwd=directory)
        greets(f'meson, {how}: the program in C++ runs', directory / build / 'demoxx', 'C++20')
        greets_by_zlib(f'meson, {how}: what dependency() has found is linked', directory / build / 'packed')


def make():
    if missing('make'):
        return
    directory = copy('make')
    does('make CC=janus-cc works', 'make', 'CC=janus-cc', 'CFLAGS=-O2 -Wall -Werror', cwd=directory)
    greets('... and what it makes runs', directory / 'demo', 'C')
    if missing('ccache'):
        return

    def counted(pattern):
        said = does('... and ccache tells what it did', 'ccache', '--print-stats', cwd=directory)
        return sum(int(n) for n in re.findall(rf'^{pattern}\t(\d+)', said, re.M))

    miss, hit = 'cache_miss', '(?:direct|preprocessed)_cache_hit'
    does('make CC="ccache janus-cc" works', 'make', '-B', 'CC=ccache janus-cc', cwd=directory)
    misses, hits = counted(miss), counted(hit)
    does('... twice', 'make', '-B', 'CC=ccache janus-cc', cwd=directory)
    greets('... and what it makes runs', directory / 'demo', 'C')
    missed, found = counted(miss) - misses, counted(hit) - hits
    tap.check('... and compiles nothing the second time', missed == 0 and found >= 2, f'{missed} misses, {found} hits')
    does('CC="ccache gcc" janus-cc drives ccache', 'janus-cc', 'demo.c', 'greet.c', '-o', 'other', cwd=directory, CC='ccache gcc')
    greets('... and what it makes runs', directory / 'other', 'C')


def pkg_config():
    if missing('pkg-config'):
        return
    directory = copy('pkg-config')
    (directory / 'Makefile').write_text('demo: demo.c greet.c\n\tjanus-cc $$(pkg-config --cflags zlib) $^ $$(pkg-config --libs zlib) -o $@\n')
    if not has_zlib:
        tap.skip('with zlib.pc', 'zlib1g-dev is not installed')
        return
    (directory / 'greet.c').write_text('#include <stdio.h>\n#include <zlib.h>\nint greet(const char *whom) { return crc32(0, (const Bytef *)whom, 1) != '
                                       '0x3dd7ffa7 || printf("greetings to %s\\n", whom) < 0; }\n')
    does('libraries of the host are found by pkg-config', 'make', cwd=directory)
    greets('... and linked', directory / 'demo', 'C')


def rust():
    if missing('rustc'):
        return
    directory = copy('rust')
    for crate in ('rust_main.rs', 'rust_alloc.rs'):
        for options in ([], ['-O']):
            does(f'a static library of Rust is made, {crate} {options}', 'rustc', '--crate-type', 'staticlib', '--edition', '2021', '-C', 'panic=abort',
                 *options, crate, '-o', 'libdemo.a', cwd=directory)
            does('... whose main janus-cc links', 'janus-cc', 'libdemo.a', 'greet.c', '-o', 'demo', cwd=directory)
            greets('... and it runs', directory / 'demo', 'Rust')


for part in (autotools, cmake, meson, make, pkg_config, rust):
    part()
shutil.rmtree(work, ignore_errors=True)
tap.end()
