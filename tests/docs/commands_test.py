#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# commands_test.py BUILD [PAGE...] — runs every command of the documentation (commands.py says how commands are
# recognised) in an installed prefix, page by page and from top to bottom, and compares its output with the page's.
# Exceptions: a `dev` command that would run this test as well is only checked against the usage text, and the commands
# in ELSEWHERE are not run. A command that is none of these fails. tutorial_test.py has the tutorial. Speaks TAP.
import collections
import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import commands

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
sys.path.insert(0, str(here.parent / 'programs'))
from installed import Tap, environment, install, run, work_directory  # noqa: E402

PATIENCE = 100
PAGES = [root / 'README.md', *(page for page in sorted((root / 'docs').glob('*.md')) if page.name not in ('embedding.md', 'sovereign.md', 'tutorial.md'))]

# Commands that are not run here: the file that runs the command or checks its effect, words that the file must have,
# and why the command is not run here.
BUILDS = 'it builds a project of that build system'
ALONE = 'a Linux that boots in an emulator wants the machine for itself'
ELSEWHERE = {
    'meson setup build && ninja -C build && meson test -C build && meson install -C build':
        ('dev', 'meson install -C', 'the same commands, one by one; all tests would be run by a test'),
    './configure CC=janus-cc CXX=janus-cc --disable-shared': ('tests/first_hour/build_systems_test.py', './configure', BUILDS),
    'cmake -DCMAKE_TOOLCHAIN_FILE=PREFIX/share/janus-rt/cmake/janus-rt.cmake': ('tests/first_hour/build_systems_test.py', 'CMAKE_TOOLCHAIN_FILE', BUILDS),
    'CC=janus-cc CXX=janus-cc meson setup': ('tests/first_hour/build_systems_test.py', "'meson', 'setup'", BUILDS),
    'XDG_DATA_DIRS=PREFIX/share meson setup --native-file janus-rt.ini': ('tests/first_hour/build_systems_test.py', '--native-file', BUILDS),
    'podman run oci:service.oci /run/beat': ('tests/image/image_test.py', 'umoci', 'there is no engine; it runs the image by runc, or in a cage'),
    'docker run --read-only --tmpfs /run:mode=1777 --network none --cap-drop ALL --security-opt no-new-privileges '
    '--security-opt seccomp=deployment-seccomp.json --cpus 2 --memory 256m --stop-timeout 15 service /run/beat':
        ('tests/image/deployment_test.py', 'seccomp', 'there is no engine; it runs the service under what the options mean'),
    './dev qemu --linux hello': ('tests/docs/worlds_test.py', '--linux', ALONE),
    'janus-qemu --linux --smp 2 --initrd /usr/include/linux treehash /netfilter': ('tests/qemu/linux_test.py', '--initrd', ALONE),
    'janus-qemu --linux service ...': ('tests/qemu/linux_test.py', '--linux', ALONE),
    'python3 docs/decisions_index.py . > docs/decisions/README.md':
        ('docs/check.py', 'decisions_index', 'it writes into the sources; what it prints is compared'),
    'python3 both.py < fib.both > fib.ll && janus-cc -O2 fib.ll -o fib && ./fib':
        ('tests/lower/lower_test.py', 'both.py', 'it takes both files from the page, and compares what the program prints'),
    'git tag -a v0.3.0 -m v0.3.0': ('docs/contributing.md', 'git tag', 'it is a maintainer who makes a release'),
    'tests/bench/scaling.py build-install/prefix/bin/janus-cc':
        ('tests/bench/scaling_test.py', 'scaling', 'it takes minutes, and writes into its page'),
}

# The program in each page's directory besides hello.c and prog.c: the complete program that the page shows, or the
# README's.
HOST = '''#include <janus/rt.h>
static int64_t run(void* arg) { (void)arg; return 0; }
int main(void) {
  janus_rt* rt = janus_rt_create(NULL);
  return rt == NULL || janus_rt_run(rt, run, NULL) != 0;
}
'''
SOURCES = ('tests/programs/ends.c', 'tests/programs/treehash.c', 'tests/programs/size.h', 'tests/debugger/standing.c',
           'tests/image/programs/service.c')
TEXTS = {'host.c': HOST, 'a.c': 'int main(void) { return 0; }\n', 'b.cpp': 'int b;\n', 'Makefile': 'prog: prog.c\n',
         'prog.ll': 'define i32 @main() {\n  ret i32 0\n}\n', 'prog.qtjir': 'func @main() -> i64 {\n  return 0\n}\n'}
# Programs that a page presupposes, made when the first command names one.
MADE = {'prog': 'janus-cc prog.c -o prog', 'treehash': 'janus-cc -O2 treehash.c -lbearssl -o treehash',
        'libprog.a': 'janus-cc -c prog.c && ar rc libprog.a prog.o', 'libz.a': 'cp "$(gcc -print-file-name=libz.a)" .'}
# What a command needs of the machine beyond what a build needs.
LIBRARY = 'test -e "$(gcc -print-file-name=lib{}.a)"'
NEEDS = {r'\./dev qemu|janus-qemu ': 'command -v qemu-system-x86_64', r'libz\.a': LIBRARY.format('z'),
         r'\./dev run|cmp - sums|treehash': LIBRARY.format('bearssl'), r'CC=clang': 'command -v clang', r'^man ': 'command -v man',
         r'^valgrind': 'command -v valgrind', r'\bgdb [-s]': 'command -v gdb',
         r'gdb -p': 'test "$(id -u)" = 0 || test "$(cat /proc/sys/kernel/yama/ptrace_scope)" = 0',
         r'JANUS_CORE|gdb standing core': "cd /proc/sys/kernel && test \"$(cat core_pattern core_uses_pid | xargs)\" = 'core 0' && "
                                          'test "$(ulimit -Hc)" = unlimited'}


class Shell:
    """A bash that runs one command after the other and keeps its variables and jobs."""

    def __init__(self, directory, settings):
        self.log, self.count, self.read = directory / '.printed', 0, 0
        with open(self.log, 'wb') as log:
            self.bash = subprocess.Popen(['bash', '--noprofile', '--norc'], cwd=directory, env=settings, text=True, stdin=subprocess.PIPE,
                                         stdout=log, stderr=subprocess.STDOUT, start_new_session=True)

    def printed(self):
        """What was printed since the last command began, up to the mark of its end if that was printed."""
        return self.log.read_bytes()[self.read:].decode(errors='replace')

    def run(self, command):
        """The command's status; 124 if it does not end in time. Its background jobs may print later."""
        self.count, self.read = self.count + 1, self.log.stat().st_size
        self.bash.stdin.write(f'{{ {command}\n}} </dev/null\nprintf "\\n=ended {self.count} %d=\\n" "$?"\n')
        self.bash.stdin.flush()
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self.bash.poll() is None:
            if ended := re.search(rf'^=ended {self.count} (\d+)=$', self.printed(), re.M):
                return int(ended[1])
            time.sleep(0.01)
        return 124

    def end(self):
        try:
            os.killpg(self.bash.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.bash.wait()


# What differs from run to run and from build to build. Of a backtrace only the first function is compared.
MASKS = ((r'0x[0-9a-f]+', '0x'), (r'(janus:   at 0x <\w+).*', r'\1'), (r'\b(task|worker|and) \d+', r'\1 N'), (r'^#\d+ +(0x in )?', '#'),
         (r'(?<=\.c:)\d+', 'N'), (r'/\S*/(?=\w+\.c:)', ''), (r'^==\d+==', '=='), (r'^  \[ *\w+\]', '  []'))


def form(line):
    if line.startswith('treehash: '):
        return re.sub(r'\d[\d.]*', 'N', line)
    return functools.reduce(lambda text, mask: re.sub(*mask, text), MASKS, line.rstrip())


class Page:
    """Follows one page as its reader would."""

    def __init__(self, page, prefix, directory):
        self.prefix, self.said, self.is_first = prefix, {}, True
        self.clone, home = directory / 'clone', directory / 'home'
        for place in (directory, self.clone, home):
            place.mkdir()
        for path in root.iterdir():
            if path.name != 'dev' and not path.name.startswith(('.', 'build')):
                (self.clone / path.name).symlink_to(path)
        (self.clone / 'dev').write_text(dev_of(prefix))
        (self.clone / 'dev').chmod(0o755)
        for source in SOURCES:
            shutil.copy(root / source, self.clone)
        shown = next((text for read in (page, PAGES[0].read_text()) for text in commands.programs(read)))
        for name, text in (TEXTS | {'hello.c': shown, 'prog.c': shown}).items():
            (self.clone / name).write_text(text)
        self.places = {'PREFIX': str(prefix), 'PROGRAM': 'prog', '/opt/janus': str(directory / 'opt'),
                       '/where/my/programs/are': str(directory), 'ADDRESS...': '0x$(nm prog | sed -n "s/ T main$//p")'}
        self.shell = Shell(self.clone, environment(
            HOME=home, PATH=f'{prefix}/bin:{os.environ["PATH"]}', PKG_CONFIG_PATH=prefix / 'lib/pkgconfig',
            CC='gcc', CXX='g++', LC_ALL='C', DEBUGINFOD_URLS=''))

    def here(self, command):
        """The command with this run's addresses and task numbers in place of those that the page shows."""
        for name, place in self.places.items():
            command = command.replace(name, place)
        return re.sub(r'0x[0-9a-f]+|task \d+', lambda found: self.said.get(found[0], found[0]), command)

    def make(self, command):
        for name, how in MADE.items():
            is_named = re.search(rf'(?<![\w-]){re.escape(name)}(?![\w.])', command)
            if is_named and f'-o {name}' not in command and not (self.clone / name).exists():
                self.shell.run(how)

    def is_shown(self, expected, printed):
        """True if the lines are printed, in any order, since several workers print; `...` stands for any other lines."""
        lines = [line for line in printed.splitlines() if line.strip() and not line.startswith('=ended ')]
        wanted = collections.Counter(form(line) for line in expected if line.strip() != '...')
        there = collections.Counter(form(line) for line in lines)
        if wanted - there or '...' not in (line.strip() for line in expected) and there - wanted:
            return False
        for line in expected:
            same = next((other for other in lines if form(other) == form(line)), '')
            self.said |= dict(zip(re.findall(r'0x[0-9a-f]+|task \d+', line), re.findall(r'0x[0-9a-f]+|task \d+', same)))
        return True

    def shows(self, expected):
        until = time.monotonic() + 20
        while not self.is_shown(expected, self.shell.printed()):
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
        return True

    def do(self, command, tap):
        text = self.here(command.text)
        self.make(text)
        status = self.shell.run(text)
        tap.check(f'{command.text}: status 0', status == 0, f'{status}\n{self.shell.printed()[-2000:]}')
        if command.output:
            tap.check(f'{command.text}: prints what the page says', self.shows(command.output),
                      'printed:\n' + self.shell.printed()[:2500] + '\nthe page has:\n' + '\n'.join(command.output))

    def debug(self, start, typed, tap):
        """Runs a session in gdb. Later commands need task numbers that earlier ones print, so each command with output begins
        a new session, in which all commands before it are repeated."""
        for last in range(1, len(typed) + 1):
            if last < len(typed) and not typed[last - 1].output:
                continue
            script = shlex.join(word for each in typed[:last] for word in ('-ex', 'echo \\n=typed=\\n', '-ex', self.here(each.text)))
            status = self.shell.run(self.here(start.text).replace('gdb ', f'gdb -q -batch {script} ', 1))
            said, expected = self.shell.printed().split('=typed=\n')[-1], typed[last - 1].output
            tap.check(f'{start.text}: (gdb) {typed[last - 1].text}', status == 0 and (not expected or self.is_shown(expected, said)),
                      f'{status}\n{self.shell.printed()[-2500:]}\nthe page has:\n' + '\n'.join(expected))


def dev_of(prefix):
    """A `dev` that uses the installation under test, fetches nothing and runs no tests."""
    text = (root / 'dev').read_text()
    for name, body in (('install_to', f'mkdir -p "$(dirname "$1")" && ln -sfn {prefix} "$1"'), ('need', ':'), ('want', ':'),
                       ('want_kernel', ':'), ('do_test', 'exit 2'), ('do_bench', 'exit 2'), ('do_lint', 'exit 2')):
        text, count = re.subn(rf'^{name}\(\) \{{(.*\}}|\n(.*\n)*?\}})$', f'{name}() {{ {body}; }}', text, flags=re.M)
        assert count == 1, name
    return text


@functools.lru_cache(maxsize=None)
def helped(*command):
    done = run([*command, '--help'], env=environment())
    return (done.stdout + done.stderr).decode()


@functools.lru_cache(maxsize=None)
def suites(build):
    told = subprocess.run(['meson', 'introspect', '--tests', build], capture_output=True, text=True, timeout=60)
    return {suite.split(':')[-1] for test in json.loads(told.stdout) for suite in test['suite']}


def is_in_usage(text, build, prefix):
    """True if the usage text of the program knows each option and each word that is no placeholder of a command or synopsis."""
    command = re.sub(r' {2,}\S.*|[\[\]]', '', re.sub(r'(?<=\w)  (?=\[)', ' ', text))
    program, *rest = commands.words(command)
    if program not in commands.OURS:
        return False
    usage = helped(root / 'dev' if program == './dev' else prefix / 'bin' / program)
    known = suites(build) if rest[:1] == ['test'] else set()
    if program == './dev' and not re.search(rf'\./dev {re.escape(rest[0])}\b', usage):
        return False
    if rest[:2] == ['test', 'mutants']:
        usage += helped(root / 'tests/mutants/run.py')
    elif rest[:1] == ['bench']:
        usage += helped(root / 'tests/bench/run.py')
    options = [word.split('=')[0] for word in rest if word.startswith('-')]
    named = [word for word in rest[1:] if program == './dev' and re.fullmatch(r'[a-z][a-z-]+', word)]
    return all(re.search(rf'(?<![\w-]){re.escape(option)}(?![\w-])', usage) for option in options) and all(
        word in known or re.search(rf'\b{word}\b', usage) for word in named)


def lacks(command):
    """Why the machine cannot run the command; None if it can."""
    for pattern, has in NEEDS.items():
        if re.search(pattern, command) and subprocess.run(['bash', '-c', has], capture_output=True, timeout=60).returncode != 0:
            return f'not here: {has}'
    return None


def follow(path, build, prefix, place, tap, counts):
    told = list(commands.of_page(path.read_text()))
    page = Page(path.read_text(), prefix, place)
    while told:
        command, typed = told.pop(0), []
        text = re.sub(r'\s*\\?\n\s*', ' ', command.text)
        while commands.words(text)[:1] == ['gdb'] and told and told[0].kind == 'gdb':
            typed.append(told.pop(0))
        if command.kind in ('bare', 'gdb'):
            tap.check(f'a command in a block has its $, and (gdb) a gdb above it: {text}', False)
        elif text in ELSEWHERE:
            counts[text] += 1
        elif command.kind == 'synopsis' or command.is_of_dev():
            counts['usage'] += 1
            tap.check(f'it is in the usage: {text}', is_in_usage(text, build, prefix))
        elif why := lacks(text):
            tap.skip(text, why)
        elif typed:
            counts['run'] += 1 + len(typed)
            page.debug(command, typed, tap)
        else:
            counts['run'] += 1
            page.do(command, tap)
    page.shell.end()


def main():
    tap, work, counts = Tap(), work_directory(), collections.Counter()
    prefix = install(sys.argv[1], work).parent.parent
    chosen = [path for path in PAGES if not sys.argv[2:] or path.name in sys.argv[2:]]
    for path in chosen:
        tap.about = f'{path.name}: '
        follow(path, sys.argv[1], prefix, work / path.stem, tap, counts)
    tap.about = ''
    elsewhere = sum(counts[text] for text in ELSEWHERE)
    print(f'# {counts["run"]} commands are run, {counts["usage"]} held to a usage, {elsewhere} are in the table')
    tap.none('what is run elsewhere has a test there', [text for text, (where, words, _) in ELSEWHERE.items() if words not in (root / where).read_text()])
    if len(chosen) == len(PAGES):
        tap.none('the table has nothing that is not in the book', [text for text in ELSEWHERE if not counts[text]])
    tap.end()


main()
